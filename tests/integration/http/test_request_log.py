"""The log lines of requests: who, what, how it ended, and what it consumed of DynamoDB."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from tests.clock import Clock
from tests.faults import Answer, AwsFaults, Call, Forward, cancelled_transaction, throttle
from tests.gateway import Erp, Response
from tests.integration.webhooks.event_pipeline import EventPipeline, open_pipeline
from tests.log_lines import Written, captured
from tests.stack import HOST, NAME, Stack
from tests.webhook_scenario import open_webhook_scenario

_CAPACITY: Mapping[str, Any] = {
    "BatchGetItem": [
        {"TableName": f"{NAME}-tenant-acme", "CapacityUnits": 3.0},
        {"TableName": f"{NAME}-ControlTable", "CapacityUnits": 1.0},
    ],
    "GetItem": {"TableName": f"{NAME}-tenant-acme", "CapacityUnits": 1.0},
    "PutItem": {"TableName": f"{NAME}-tenant-acme", "CapacityUnits": 2.0},
    "Query": {"TableName": f"{NAME}-tenant-acme", "CapacityUnits": 0.5},
    "UpdateItem": {"TableName": f"{NAME}-tenant-acme", "CapacityUnits": 1.0},
    "TransactWriteItems": [
        {
            "TableName": f"{NAME}-tenant-acme",
            "CapacityUnits": 14.0,
            "WriteCapacityUnits": 14.0,
        },
        {"TableName": f"{NAME}-OutboxTable", "CapacityUnits": 2.0, "WriteCapacityUnits": 2.0},
    ],
}
"""What DynamoDB reports with ReturnConsumedCapacity=TOTAL; moto reports other numbers or none."""
_READS = {"BatchGetItem": 4.0, "GetItem": 1.0, "Query": 0.5}
_WRITES = {"PutItem": 2.0, "UpdateItem": 1.0, "TransactWriteItems": 16.0}


def report_capacity(call: Call, forward: Forward) -> Answer:
    """Answer as moto does, with the capacity that DynamoDB would report."""
    answer = forward()
    if call.request.get("ReturnConsumedCapacity") == "TOTAL" and answer[0] is not None:
        answer[0][1]["ConsumedCapacity"] = _CAPACITY[call.operation]
    return answer


@pytest.fixture
def written() -> Iterator[Written]:
    """What the functions write."""
    with captured() as written:
        yield written


def answered(written: Written) -> dict[str, Any]:
    """Return the line of the last request."""
    return written.lines("answered")[-1]


def create_product(erp: Erp, code: str = "BRICK") -> Response:
    return erp.post("/products", {"item_code": code, "name": code, "unit": "pcs"})


def test_line_of_a_request_names_caller_route_and_result(erp: Erp, written: Written) -> None:
    response = erp.get("/products?per_page=5")
    line = answered(written)
    assert line["request_id"] == response.headers["X-Request-Id"]
    assert (line["tenant"], line["kind"], line["subject"]) == ("acme", "client", "erp")
    assert (line["method"], line["route"]) == ("GET", "GET /products")
    assert (line["path"], line["status"]) == ("/products", 200)
    assert line["milliseconds"] >= 0
    assert "code" not in line


def test_line_of_a_refused_request_has_its_error_code(erp: Erp, written: Written) -> None:
    erp.get("/products/999")
    assert (answered(written)["status"], answered(written)["code"]) == (404, "not_found")
    refused = {"Idempotency-Key": "k1"}
    for _ in range(2):  # the second response is the stored one
        erp.post("/products", {}, headers=refused)
        assert (answered(written)["status"], answered(written)["code"]) == (
            422,
            "validation_failed",
        )


def test_line_has_the_units_that_dynamodb_reports(
    erp: Erp, aws_faults: AwsFaults, written: Written
) -> None:
    create_product(erp)
    requests: list[Callable[[], Response]] = [
        lambda: erp.get("/products"),
        lambda: create_product(erp, "TILE"),
    ]
    for send in requests:
        with aws_faults.recorded() as calls, aws_faults.faulty(report_capacity):
            assert send().status < 300
        line = answered(written)
        assert line["read_units"] == sum(_READS.get(name, 0) for name in calls.operations)
        assert line["write_units"] == sum(_WRITES.get(name, 0) for name in calls.operations)
        assert line["read_units"] + line["write_units"] > 0


def test_every_call_of_a_table_asks_for_its_units(erp: Erp, aws_faults: AwsFaults) -> None:
    with aws_faults.recorded() as recording:
        create_product(erp)
        erp.get("/products")
    calls = [call for call in recording.calls if call.operation in _CAPACITY]
    assert {call.operation for call in calls} >= {"Query", "TransactWriteItems"}
    assert {call.request.get("ReturnConsumedCapacity") for call in calls} == {"TOTAL"}


def test_functions_of_several_tenants_write_a_line_for_each(
    stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        open_webhook_scenario(stack, monkeypatch) as webhooks,
        open_pipeline(webhooks, clock) as pipeline,
        captured() as written,
    ):
        _deliver_one_event_of_each_tenant(pipeline)
    lines = written.lines("consumed")
    assert {line.get("tenant") for line in lines} >= {"acme", "beta"}
    assert all(line["read_units"] + line["write_units"] > 0 for line in lines)


def _deliver_one_event_of_each_tenant(pipeline: EventPipeline) -> None:
    for slug in ("acme", "beta"):
        pipeline.subscribe(slug=slug)
        pipeline.commit_events(1, slug=slug)
    pipeline.run_relay()
    pipeline.run_worker(pipeline.queue)


def test_line_of_a_token_request(stack: Stack, written: Written) -> None:
    stack.gateway.request(
        "POST",
        "/v1/oauth/token",
        headers={"Content-Type": "application/x-www-form-urlencoded"},
        body=f"grant_type=client_credentials&client_id=stw_acme_{'0' * 24}&client_secret=x",
    )
    line = answered(written)
    assert (line["route"], line["method"], line["status"]) == ("/oauth/token", "POST", 401)
    assert (line["tenant"], line["code"]) == ("acme", "invalid_client")
    stack.gateway.request("GET", "/v1/oauth/token")
    assert (answered(written)["status"], answered(written)["code"]) == (405, "method_not_allowed")
    assert "tenant" not in answered(written)


def test_line_of_a_token_that_is_refused_has_the_request_id(stack: Stack, written: Written) -> None:
    response = stack.gateway.request(
        "GET", "/v1/products", headers={"Authorization": "Bearer x", "Host": HOST}
    )
    (line,) = written.lines("token rejected")
    assert line["request_id"] == response.headers["X-Request-Id"]


@pytest.mark.parametrize("times", [1, 2])
def test_throttled_calls_are_counted_although_botocore_repeats_them(
    times: int, erp: Erp, aws_faults: AwsFaults, written: Written, clock: Clock
) -> None:
    assert clock  # botocore waits between its attempts
    erp.get("/products")  # the keys of tokens, which are in KMS, are cached
    with aws_faults.faulty(throttle(0, times)):
        assert erp.get("/products").status == 200
    assert written.values("throttled_calls") == [times]
    erp.get("/products")
    assert written.values("throttled_calls") == [times]


def test_throttled_action_of_a_transaction_is_counted(
    erp: Erp, aws_faults: AwsFaults, written: Written
) -> None:
    turns = iter(["ProvisionedThroughputExceeded", "TransactionConflict"])

    def refuse(call: Call, forward: Forward) -> Answer:
        reason = next(turns, None) if call.operation == "TransactWriteItems" else None
        return cancelled_transaction(call, reason) if reason else forward()

    with aws_faults.faulty(refuse):
        assert create_product(erp).status == 201
    assert written.values("throttled_calls") == [1]


def test_requests_write_no_metric_of_their_own(erp: Erp, written: Written) -> None:
    """Custom metrics are billed; log queries count requests."""
    erp.get("/products")
    erp.get("/products/999")
    assert written.metrics() == []
