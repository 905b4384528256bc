"""Fault injection: each event is delivered and logged once, whatever fails on its way.

Each case runs with faults at its AWS calls, with and without eventually consistent reads that lag
behind. Then the stream and the queues repeat what was not finished. Requests with faults:
`tests/integration/test_crashes.py`.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import pytest

from shared.integration.webhooks.http_client import AttemptResult
from shared.kernel.config import config
from tests.clock import Clock
from tests.faults import (
    Answer,
    AwsFaults,
    Call,
    Fault,
    Forward,
    Killed,
    conflict,
    kill_after,
    kill_before,
    lose_answer,
    refusal,
    success,
    throttle,
)
from tests.integration.call_faults import at_calls
from tests.integration.webhooks.event_pipeline import (
    CHOSEN_SECRET,
    EventPipeline,
    fail_first_attempts,
    lagging_reads,
    open_pipeline,
)
from tests.sampling import sampled
from tests.webhook_scenario import (
    EndpointStub,
    SentRequest,
    WebhookScenario,
    respond_500,
)

_LAG_SECONDS = 1
_DELAYS = "0,5,1000"
"""Retry delays in seconds; the last one exceeds the maximum delay of SQS."""

type Action = Callable[[], None]


def _gone(_: SentRequest) -> AttemptResult:
    return AttemptResult(milliseconds=12, status=410, error="responded with status 410")


def _fail_slowly(_: SentRequest) -> AttemptResult:
    return AttemptResult(milliseconds=2_500, status=500, error="responded with status 500")


@dataclass(frozen=True, slots=True)
class FaultCase:
    """A repeatable action and its preparation.

    `expected`: status and tries of the delivery, failure count and `is_active` of the
    subscription; None if the case has no delivery.
    """

    name: str
    prepare: Callable[[EventPipeline], Action]
    expected: tuple[str, int, int, bool] | None = None
    delays: str = _DELAYS


def _between_attempts(pipeline: EventPipeline, *, times: int = 1) -> int:
    """Create a subscription with a delivery between its first and second attempt."""
    number = pipeline.subscribe()
    pipeline.scenario.endpoint = fail_first_attempts(pipeline, times, respond_500)
    pipeline.commit_events(1)
    pipeline.run(until=lambda: _tries(pipeline) == 1)
    return number


def _tries(pipeline: EventPipeline) -> int:
    return max((one.tries for one in pipeline.state().open_deliveries()), default=0)


# Cases: the relay


def _relay_batch(pipeline: EventPipeline) -> Action:
    """Prepare events of two tenants with several or no subscriptions, and a redelivery."""
    first = pipeline.subscribe()
    pipeline.scenario.endpoint = fail_first_attempts(pipeline, 1, respond_500)
    [event] = pipeline.commit_events(1)
    pipeline.run()
    pipeline.subscribe("product.created", "product.updated")
    pipeline.subscribe("product.updated", slug="beta")
    pipeline.erp().post(f"/webhooks/{first}/deliveries/{event}/redeliver").ok(202)
    assert pipeline.erp().post(f"/webhooks/{first}/test").status == 202
    pipeline.commit_events(2, 3)
    pipeline.commit_events(4, kind="product.updated")
    pipeline.commit_events(5, kind="product.updated", slug="beta")
    pipeline.commit_events(6, kind="wave.planned", slug="beta")
    return pipeline.run_relay


# Cases: the worker


def _message(pipeline: EventPipeline) -> Action:
    """Return the processing of the only queued message by the worker."""
    [message] = pipeline.queue
    pipeline.clock.advance(max(0, message.visible_at - pipeline.clock.time()))

    def action() -> None:
        [one] = [one for one in pipeline.queue if one.body == message.body]
        pipeline.run_worker([one])

    return action


def _first_attempt(pipeline: EventPipeline) -> Action:
    """Return the processing of an event's first message in the slow queue."""
    pipeline.commit_events(1)
    pipeline.run_relay()
    pipeline.step()
    action = _message(pipeline)
    assert pipeline.queue[0].body["slow"]
    return action


def fail_then_succeed(
    times: int, answer: EndpointStub = respond_500
) -> Callable[[EventPipeline], Action]:
    """Return a case whose endpoint responds with `answer` `times` times before it succeeds."""

    def prepare(pipeline: EventPipeline) -> Action:
        pipeline.subscribe()
        pipeline.scenario.endpoint = fail_first_attempts(pipeline, times, answer)
        return _first_attempt(pipeline)

    return prepare


def _chosen_secret(pipeline: EventPipeline) -> Action:
    pipeline.subscribe(secret=CHOSEN_SECRET)
    return _first_attempt(pipeline)


def _fast_endpoint(pipeline: EventPipeline) -> Action:
    """Prepare a message to a fast endpoint."""
    pipeline.subscribe()
    pipeline.commit_events(2)
    pipeline.run()
    pipeline.commit_events(1)
    pipeline.run_relay()
    return _message(pipeline)


def _moved_to_slow_queue(pipeline: EventPipeline) -> Action:
    pipeline.subscribe()
    pipeline.commit_events(1)
    pipeline.run_relay()
    return _message(pipeline)


def _last_attempt(pipeline: EventPipeline, early_seconds: float = 0) -> Action:
    """Prepare a message that arrives some seconds before its attempt is due."""
    _between_attempts(pipeline, times=3)
    pipeline.run(until=lambda: _tries(pipeline) == 2)
    [message] = pipeline.queue
    message.visible_at = message.body["due"] / 1000 - early_seconds
    return _message(pipeline)


def _tenth_failure(pipeline: EventPipeline) -> Action:
    number = pipeline.subscribe()
    pipeline.scenario.endpoint = fail_first_attempts(pipeline, 3, respond_500)
    pipeline.commit_events(*range(1, 10))
    pipeline.run()
    assert pipeline.state().health[number].failure_count == 9
    pipeline.commit_events(10)
    pipeline.run_relay()
    return _message(pipeline)


def _changed_before_attempt(method: str, body: object = None) -> Callable[[EventPipeline], Action]:
    def prepare(pipeline: EventPipeline) -> Action:
        number = _between_attempts(pipeline)
        pipeline.erp().send(method, f"/webhooks/{number}", body).ok()
        return _message(pipeline)

    return prepare


def _redelivered_before_retry(pipeline: EventPipeline) -> Action:
    """Prepare a redelivery request during the retry delay: both messages are queued."""
    number = _between_attempts(pipeline)
    [event] = [one.id for one in pipeline.state().open_deliveries()]
    [retry] = pipeline.queue
    path = f"/webhooks/{number}/deliveries/{event}/redeliver"
    assert pipeline.erp().post(path).status == 202
    pipeline.run_relay()
    pipeline.clock.advance(max(0, retry.visible_at - pipeline.clock.time()))
    bodies = [one.body for one in pipeline.queue]
    assert [body["round"] for body in bodies] == [1, 2]
    return lambda: pipeline.run_worker([one for one in pipeline.queue if one.body in bodies])


FAULT_CASES = (
    FaultCase("relay a batch", _relay_batch),
    FaultCase("succeed", fail_then_succeed(0), ("succeeded", 1, 0, True)),
    FaultCase("succeed with a chosen secret", _chosen_secret, ("succeeded", 1, 0, True)),
    FaultCase("succeed in the fast queue", _fast_endpoint, ("succeeded", 1, 0, True)),
    FaultCase("fail once", fail_then_succeed(1), ("succeeded", 2, 0, True)),
    FaultCase("fail slowly", fail_then_succeed(2, _fail_slowly), ("succeeded", 3, 0, True)),
    FaultCase("fail all attempts", _last_attempt, ("failed", 3, 1, True)),
    FaultCase("fail for the tenth time", _tenth_failure, ("failed", 1, 10, False), delays="0"),
    FaultCase("respond with 410", fail_then_succeed(9, _gone), ("failed", 1, 1, False)),
    FaultCase("not due yet", partial(_last_attempt, early_seconds=30), ("failed", 3, 1, True)),
    FaultCase("move to the slow queue", _moved_to_slow_queue, ("succeeded", 1, 0, True)),
    FaultCase("deleted before the attempt", _changed_before_attempt("DELETE")),
    FaultCase(
        "deactivated before the attempt",
        _changed_before_attempt("PATCH", {"is_active": False}),
        ("cancelled", 1, 0, False),
    ),
    FaultCase(
        "unsubscribed before the attempt",
        _changed_before_attempt("PATCH", {"events": ["wave.planned"]}),
        ("cancelled", 1, 0, True),
    ),
    FaultCase("redelivered before the retry", _redelivered_before_retry, ("succeeded", 2, 0, True)),
)


@pytest.fixture
def pipeline(
    webhooks: WebhookScenario, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[EventPipeline]:
    # Sequential calls: a call number always means the same call.
    monkeypatch.setattr("shared.kernel.db.parallel._inside", lambda: True)
    with open_pipeline(webhooks, clock) as pipeline:
        yield pipeline


def _finish(pipeline: EventPipeline) -> list[object]:
    """Run the pipeline; return the final state."""
    pipeline.run()
    pipeline.assert_all_delivered()
    pipeline.assert_no_secret_leaked()
    return pipeline.summary()


# Faults


def _reject_batch_entries() -> Fault:
    """SQS rejects all messages of a batch in a successful response."""

    def reject(call: Call) -> Answer:
        (answer, parsed), _ = success()
        entries = call.request["Entries"]
        return (answer, {**parsed, "Failed": [{"Id": one["Id"]} for one in entries]}), None

    return at_calls("SendMessageBatch", [0], answer=reject)


def _conflict_with_transactions(times: int) -> Fault:
    """Single writes conflict with transactions on the same items."""
    left = times

    def fault(call: Call, forward: Forward) -> Answer:
        nonlocal left
        item = call.request.get("Item") or call.request.get("Key") or {}
        shared = item.get("PK", {}).get("S", "").startswith(("webhooks", "delivery#"))
        if call.operation in {"PutItem", "UpdateItem"} and shared and left:
            left -= 1
            return refusal("TransactionConflictException")
        return forward()

    return fault


def _faults(operations: Sequence[str]) -> Iterator[tuple[str, Fault]]:
    """Yield every fault at every call, with its description."""
    for at in range(len(operations)):
        yield f"killed before call {at}", kill_before(at)
        yield f"killed after call {at}", kill_after(at)
        yield f"answer {at} lost", lose_answer(at)
        yield f"call {at} throttled", throttle(at)
        yield f"calls from {at} on throttled", throttle(at, times=6)
    if "TransactWriteItems" in operations:
        yield "transactions in conflict", conflict(times=4)
    if "PutItem" in operations:
        yield "writes in conflict with transactions", _conflict_with_transactions(times=3)
    if "SendMessageBatch" in operations:
        yield "messages rejected", _reject_batch_entries()


def _sampled_faults(case: str, operations: Sequence[str]) -> Iterator[tuple[str, Fault]]:
    """Yield the faults that can hide the end of the last call, and one other fault in a sample.

    The last call commits the action, except where it changes nothing.
    """
    every_fault = list(_faults(operations))
    last = len(operations) - 1
    always = {f"killed before call {last}", f"killed after call {last}", f"answer {last} lost"}
    yield from (one for one in every_fault if one[0] in always)
    others = [one for one in every_fault if one[0] not in always]
    yield from sampled(case, others, every=len(others))


@pytest.mark.parametrize("case", FAULT_CASES, ids=lambda case: case.name)
def test_an_event_is_delivered_and_logged_once_despite_a_fault(
    case: FaultCase, pipeline: EventPipeline, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBHOOK_RETRY_DELAYS", case.delays)
    config.cache_clear()
    action = case.prepare(pipeline)
    pipeline.assert_invariants()
    reset = pipeline.snapshot()
    reset()
    with aws_faults.recorded() as seen:
        action()
    expected = _finish(pipeline)
    if case.expected:
        assert _final_state(pipeline) == case.expected
    for seconds in (0, _LAG_SECONDS):
        for name, fault in _sampled_faults(case.name, seen.operations):
            reset()
            lag = lagging_reads(pipeline.clock, seconds)
            try:
                with aws_faults.faulty(lag.during(fault)), suppress(Killed):
                    action()
                with aws_faults.faulty(lag):
                    assert _finish(pipeline) == expected
            except BaseException as error:
                calls = f"{len(seen.calls)}: {seen.operations}"
                error.add_note(f"{case.name}, reads {seconds} s behind: {name} of {calls}")
                raise


def _final_state(pipeline: EventPipeline) -> tuple[str, int, int, bool]:
    """Return the final state of the newest delivery and of its subscription."""
    state = pipeline.state()
    number, event = max(state.deliveries, key=lambda key: key[1])
    delivery, webhook = state.deliveries[number, event], state.webhooks[number]
    return delivery.status, delivery.tries, state.health[number].failure_count, webhook.is_active
