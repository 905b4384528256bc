"""Traces of requests: a subsegment for the route and one for each call of AWS, without secrets."""

import json
from collections.abc import Iterator

import pytest
from botocore.hooks import HierarchicalEmitter

from shared.kernel import aws
from shared.kernel.aws_calls import record_calls
from tests.clock import Clock
from tests.faults import AwsFaults, lost, throttle
from tests.gateway import Erp
from tests.stack import NAME, clear_all_caches
from tests.trace_daemon import FUNCTION_SEGMENT, ROOT, TraceDaemon, listening

TABLE = f"{NAME}-tenant-acme"


@pytest.fixture
def daemon(monkeypatch: pytest.MonkeyPatch) -> Iterator[TraceDaemon]:
    """The X-Ray daemon of a sampled invocation."""
    with listening(monkeypatch) as daemon:
        yield daemon


def test_request_is_traced_from_its_route_to_dynamodb(
    erp: Erp, daemon: TraceDaemon, aws_faults: AwsFaults
) -> None:
    with aws_faults.recorded() as recording:
        response = erp.post("/products", {"item_code": "BRICK", "name": "B", "unit": "pcs"})
    segments = daemon.receive_all()
    (route,) = [one for one in segments if one["name"] == "POST /products"]
    assert route["parent_id"] == FUNCTION_SEGMENT
    assert route["annotations"] == {
        "tenant": "acme",
        "route": "POST /products",
        "request_id": response.headers["X-Request-Id"],
    }
    calls = [one for one in segments if one is not route]
    assert sorted(one["aws"]["operation"] for one in calls) == sorted(recording.operations)
    (commit,) = [one for one in calls if one["aws"]["operation"] == "TransactWriteItems"]
    assert commit["name"] == "DynamoDB"
    assert commit["namespace"] == "aws"
    assert commit["parent_id"] == route["id"]
    assert TABLE in commit["aws"]["table_name"]
    for one in segments:
        assert one["type"] == "subsegment"
        assert one["trace_id"] == ROOT
        assert one["start_time"] <= one["end_time"]
        assert not {"fault", "error", "throttle"} & one.keys()


def test_traces_have_neither_content_nor_secrets(erp: Erp, daemon: TraceDaemon) -> None:
    body = {"item_code": "SECRET-ITEM", "name": "secret-name", "unit": "pcs"}
    erp.post("/products", body, headers={"Idempotency-Key": "secret-key"})
    hook = {"url": "https://hooks.example.com/secret-path", "events": ["product.created"]}
    erp.post("/webhooks", hook)
    text = json.dumps(daemon.receive_all())
    assert "POST /products" in text
    assert "secret" not in text.lower()
    assert str(erp.token) not in text
    assert "whsec_" not in text


def test_failures_of_calls_are_marked(
    erp: Erp, daemon: TraceDaemon, aws_faults: AwsFaults, clock: Clock
) -> None:
    assert clock  # botocore waits between its attempts
    with aws_faults.faulty(throttle(0, 9)):
        erp.get("/products")
    (refused,) = [one for one in daemon.receive_all() if one.get("throttle")][:1]
    assert refused["error"] is True
    with aws_faults.faulty(lambda _call, _forward: lost()):
        erp.get("/products")
    assert [one for one in daemon.receive_all() if one.get("fault") and "aws" in one]


def test_nothing_is_sent_while_traces_are_off(
    erp: Erp, daemon: TraceDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by clients that were created while they were on, nor by new ones."""
    monkeypatch.setenv("TRACING", "off")
    assert erp.get("/products").status == 200
    clear_all_caches()
    aws.session.cache_clear()
    assert erp.get("/products").status == 200
    assert daemon.receive_all() == []


def test_without_traces_no_call_is_observed_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACING", "off")
    events = HierarchicalEmitter()
    record_calls(events)
    seen: list[object] = events.emit("before-parameter-build.sqs.SendMessage", params={})
    assert seen == []
