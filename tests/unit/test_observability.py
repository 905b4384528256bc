"""Log lines and metrics; log lines never contain a secret."""

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest

from shared.identity.auth.client_secrets import SECRET_PREFIX
from shared.identity.users.sessions import new_refresh_token
from shared.kernel import observability, precompiled
from shared.kernel.clock import instant, now_ms
from shared.kernel.observability import add_units, bind, count, flush, log_consumed, logger
from tests.log_lines import captured

TOKEN = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJzdHdfMSJ9." + "A" * 86


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    with captured() as written:
        yield written.log
    bind(request_id="none")


def line(log: io.StringIO) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(log.getvalue().splitlines()[-1])
    return content


def test_log_line_has_the_request_context(log: io.StringIO) -> None:
    bind(request_id="r1", route="GET /products", tenant="acme")
    logger.info("listed", extra={"rows": 25})
    seen = line(log)
    assert (seen["request_id"], seen["route"], seen["tenant"]) == ("r1", "GET /products", "acme")
    assert (seen["message"], seen["rows"]) == ("listed", 25)


def test_log_context_is_cleared_between_invocations(log: io.StringIO) -> None:
    bind(request_id="r1", route="GET /products", tenant="acme")
    logger.append_keys(document=7)
    bind(request_id="r2")
    logger.info("next")
    seen = line(log)
    assert seen["request_id"] == "r2"
    assert not {"tenant", "route", "document"} & seen.keys()


@pytest.mark.parametrize(
    "secret",
    [
        TOKEN,
        f"Bearer {TOKEN}",
        SECRET_PREFIX + "-Zx_9" * 9,
        "whsec_" + "a+/B" * 11,
        new_refresh_token("acme-north", 7).text,
        "Basic c3R3XzE6c3dzX3g=",
    ],
)
def test_secrets_are_masked_in_log_lines(secret: str, log: io.StringIO) -> None:
    core = secret.rpartition(" ")[2]
    logger.info("got %s here", secret)
    logger.info("field", extra={"headers": {"authorization": secret}})
    try:
        int(secret)
    except ValueError:
        logger.exception("failed")
    assert core not in log.getvalue()
    assert log.getvalue().count("[secret]") >= 3
    for each in log.getvalue().splitlines():
        json.loads(each)


def test_text_without_secrets_is_logged_unchanged(log: io.StringIO) -> None:
    logger.info("basic rules for stw_0123456789abcdef01234567, order PO-2026-000017")
    assert "[secret]" not in log.getvalue()


def test_metrics_are_written_once_with_their_function(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The route is no dimension: each combination costs as much as another metric."""
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "stowage-OauthFunction-1a2b")
    bind(request_id="r1", route="POST /oauth/token", tenant="acme")
    count("refused")
    count("refused")
    flush()
    (written,) = capsys.readouterr().out.splitlines()
    content = json.loads(written)
    assert content["refused"] == [1.0, 1.0]
    (directive,) = content["_aws"]["CloudWatchMetrics"]
    (dimensions,) = directive["Dimensions"]
    assert {name: content[name] for name in dimensions} == {
        "service": "stowage",
        "function": "stowage-OauthFunction-1a2b",
    }
    assert "route" not in content
    flush()
    assert capsys.readouterr().out == ""


def test_a_new_environment_in_lambda_that_compiles_at_its_start_is_counted_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def written(*, effective: bool, in_lambda: bool) -> list[str]:
        monkeypatch.setattr(observability, "_is_started", False)
        monkeypatch.setattr(precompiled, "is_effective", lambda: effective)
        monkeypatch.delenv("AWS_EXECUTION_ENV", raising=False)
        if in_lambda:
            monkeypatch.setenv("AWS_EXECUTION_ENV", "AWS_Lambda_python3.13")
        for _ in range(2):
            bind(request_id="r-1")
            flush()
        return [line for line in capsys.readouterr().out.splitlines() if "starts_compiling" in line]

    assert len(written(effective=False, in_lambda=True)) == 1
    assert written(effective=True, in_lambda=True) == []
    assert written(effective=False, in_lambda=False) == []


def test_a_line_of_metrics_has_at_most_100_values(capsys: pytest.CaptureFixture[str]) -> None:
    """CloudWatch reads no more."""
    bind(request_id="r1")
    for _ in range(150):
        count("delivered")
    flush()
    written = [json.loads(text) for text in capsys.readouterr().out.splitlines()]
    assert [len(one["delivered"]) for one in written] == [100, 50]


def test_the_time_of_a_log_line_has_the_format_of_the_interface(log: io.StringIO) -> None:
    began = instant(now_ms())
    logger.info("now")
    assert began <= line(log)["timestamp"] <= instant(now_ms())


def test_next_invocation_drops_unflushed_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    bind(request_id="r1", route="a")
    count("lost")
    bind(request_id="r2", route="b")
    flush()
    assert capsys.readouterr().out == ""


def test_units_of_a_restored_table_are_those_of_its_tenant(
    log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STACK_NAME", "wms")
    bind(request_id="r1")
    add_units("wms-tenant-acme.r20260301T093000", 2, is_read=True)
    log_consumed()
    assert (line(log)["tenant"], line(log)["read_units"]) == ("acme", 2)
