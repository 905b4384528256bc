"""Traces: subsegments that are sent to the X-Ray daemon."""

from collections.abc import Iterator

import pytest

from shared.kernel import tracing
from shared.kernel.db.parallel import map_concurrently, run_all
from shared.kernel.tracing import Segment, span
from tests.clock import Clock
from tests.trace_daemon import FUNCTION_SEGMENT, ROOT, TRACE, TraceDaemon, listening


@pytest.fixture
def daemon(monkeypatch: pytest.MonkeyPatch) -> Iterator[TraceDaemon]:
    """The X-Ray daemon of a sampled invocation."""
    with listening(monkeypatch) as daemon:
        yield daemon


def test_step_is_sent_as_a_subsegment(daemon: TraceDaemon, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    clock.freeze()
    monkeypatch.setattr(tracing, "time", clock)
    with span("allocate", tenant="acme"):
        clock.advance(0.25)
    segment = daemon.receive()
    assert segment["type"] == "subsegment"
    assert segment["trace_id"] == ROOT
    assert segment["parent_id"] == FUNCTION_SEGMENT
    assert segment["name"] == "allocate"
    assert segment["annotations"] == {"tenant": "acme"}
    assert segment["end_time"] - segment["start_time"] == pytest.approx(0.25, abs=1e-6)
    assert "fault" not in segment


def test_failed_step_is_marked_and_raises(daemon: TraceDaemon) -> None:
    with pytest.raises(KeyError), span("allocate"):
        raise KeyError
    assert daemon.receive()["fault"] is True


@pytest.mark.parametrize("trace", ["", "Root=1-0-0;Sampled=0", "Root=1-0-0", "nonsense"])
def test_unsampled_trace_sends_nothing(
    trace: str, daemon: TraceDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_X_AMZN_TRACE_ID", trace)
    with span("allocate"):
        pass
    with pytest.raises(TimeoutError):
        daemon.receive()


@pytest.mark.parametrize("address", ["", "nowhere", "127.0.0.1:x", "127.0.0.1:1"])
def test_missing_daemon_is_ignored(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACING", "on")
    monkeypatch.setenv("_X_AMZN_TRACE_ID", TRACE)
    monkeypatch.setenv("AWS_XRAY_DAEMON_ADDRESS", address)
    done = False
    with span("allocate"):
        done = True
    assert done


def test_sampled_trace_sends_nothing_while_traces_are_off(
    daemon: TraceDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caller can ask for a sample in the header; the parameter of the stack decides."""
    monkeypatch.setenv("TRACING", "off")
    with span("allocate"):
        assert Segment.of_call("DynamoDB", "GetItem", {}) is None
    with pytest.raises(TimeoutError):
        daemon.receive()


def test_step_inside_a_step_is_its_child(daemon: TraceDaemon) -> None:
    with span("receive"), span("allocate"):
        pass
    with span("dispatch"):
        pass
    inner, outer, later = daemon.receive_all()
    assert [one["name"] for one in (inner, outer, later)] == ["allocate", "receive", "dispatch"]
    assert inner["parent_id"] == outer["id"]
    assert outer["parent_id"] == later["parent_id"] == FUNCTION_SEGMENT


def test_names_have_no_character_that_xray_refuses(daemon: TraceDaemon) -> None:
    with span("GET /products/{id}"):
        pass
    assert daemon.receive()["name"] == "GET /products/:id"


def test_annotations_without_a_value_are_left_out(daemon: TraceDaemon) -> None:
    with span("allocate", tenant="acme", request_id=None):
        pass
    assert daemon.receive()["annotations"] == {"tenant": "acme"}


def test_concurrent_calls_belong_to_the_step_that_makes_them(daemon: TraceDaemon) -> None:
    def call(number: int) -> None:
        segment = Segment.of_call("DynamoDB", f"GetItem{number}", {})
        assert segment
        segment.end()

    with span("allocate"):
        map_concurrently(call, [1, 2, 3])
        run_all(lambda: call(4), lambda: call(5))
    *calls, step = daemon.receive_all()
    assert {one["aws"]["operation"] for one in calls} == {f"GetItem{at}" for at in range(1, 6)}
    assert {one["parent_id"] for one in calls} == {step["id"]}
