"""Log lines, metrics and traces; log lines never contain a secret."""

import io
import json
import logging
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from shared.identity.auth.client_secrets import SECRET_PREFIX
from shared.identity.users.sessions import new_refresh_token
from shared.kernel.clock import instant, now_ms
from shared.kernel.observability import bind, count, flush, logger, span

TOKEN = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJzdHdfMSJ9." + "A" * 86


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    handler, lines = logger.registered_handler, io.StringIO()
    assert isinstance(handler, logging.StreamHandler)
    before = handler.setStream(lines)
    yield lines
    handler.setStream(before)
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


TRACE = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"


@pytest.fixture
def daemon(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """The X-Ray daemon: a UDP port on this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.settimeout(0.2)
        monkeypatch.setenv("AWS_XRAY_DAEMON_ADDRESS", f"127.0.0.1:{listening.getsockname()[1]}")
        monkeypatch.setenv("_X_AMZN_TRACE_ID", TRACE)
        yield listening


def received_segment(daemon: socket.socket) -> dict[str, Any]:
    header, _, body = daemon.recv(65_000).decode().partition("\n")
    assert json.loads(header) == {"format": "json", "version": 1}
    content: dict[str, Any] = json.loads(body)
    return content


def test_step_is_sent_as_a_subsegment(daemon: socket.socket) -> None:
    with span("allocate", tenant="acme"):
        time.sleep(0.01)
    segment = received_segment(daemon)
    assert segment["type"] == "subsegment"
    assert segment["trace_id"] == "1-5759e988-bd862e3fe1be46a994272793"
    assert segment["parent_id"] == "53995c3f42cd8ad8"
    assert segment["name"] == "allocate"
    assert segment["annotations"] == {"tenant": "acme"}
    assert segment["end_time"] - segment["start_time"] >= 0.01
    assert "fault" not in segment


def test_failed_step_is_marked_and_raises(daemon: socket.socket) -> None:
    with pytest.raises(KeyError), span("allocate"):
        raise KeyError
    assert received_segment(daemon)["fault"] is True


@pytest.mark.parametrize("trace", ["", "Root=1-0-0;Sampled=0", "Root=1-0-0", "nonsense"])
def test_unsampled_trace_sends_nothing(
    trace: str, daemon: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_X_AMZN_TRACE_ID", trace)
    with span("allocate"):
        pass
    with pytest.raises(TimeoutError):
        daemon.recv(1)


@pytest.mark.parametrize("address", ["", "nowhere", "127.0.0.1:x", "127.0.0.1:1"])
def test_missing_daemon_is_ignored(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_X_AMZN_TRACE_ID", TRACE)
    monkeypatch.setenv("AWS_XRAY_DAEMON_ADDRESS", address)
    done = False
    with span("allocate"):
        done = True
    assert done
