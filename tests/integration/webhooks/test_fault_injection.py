"""Fault injection: each event is delivered and logged once, whatever fails on its way.

Each case runs with faults at its AWS calls, with and without eventually consistent reads that lag
behind. Then the stream and the queues repeat what was not finished, and the client repeats its
request with the same Idempotency-Key.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import pytest

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
from tests.gateway import Response
from tests.integration.call_faults import at_calls
from tests.integration.webhooks.event_pipeline import (
    EventPipeline,
    lagging_reads,
    open_pipeline,
)
from tests.integration.webhooks.fault_cases import FAULT_CASES, Action, FaultCase
from tests.sampling import sampled
from tests.webhook_scenario import WebhookScenario

_CLAIM_EXPIRY = 61
"""Seconds after which the claim of a crashed process has expired."""
_LAG_SECONDS = 1
_MAX_REPEATS = 5


@pytest.fixture
def pipeline(
    webhooks: WebhookScenario, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[EventPipeline]:
    # Sequential calls: a call number always means the same call.
    monkeypatch.setattr("shared.kernel.db.parallel._inside", lambda: True)
    # Cheaper hashing of requests with secrets.
    scrypt = hashlib.scrypt
    monkeypatch.setattr(hashlib, "scrypt", lambda *a, **k: scrypt(*a, **{**k, "n": 2}))
    with open_pipeline(webhooks, clock) as pipeline:
        yield pipeline


@dataclass(frozen=True, slots=True)
class CaseRun:
    """A prepared case that can be repeated from the same initial state."""

    pipeline: EventPipeline
    action: Action
    reset: Callable[[], None]

    def finish(self, *, is_request: bool) -> list[object]:
        """Repeat a request until it succeeds, then run the pipeline; return the final state."""
        if is_request:
            self._repeat_request()
            # Deliveries follow a change as soon as their reads show it.
            self.pipeline.clock.advance(_LAG_SECONDS)
        self.pipeline.run()
        self.pipeline.assert_all_delivered()
        self.pipeline.assert_no_secret_leaked()
        return self.pipeline.summary()

    def _repeat_request(self) -> None:
        for _ in range(_MAX_REPEATS):
            self.pipeline.clock.advance(_CLAIM_EXPIRY)
            answer, again = self.action(), self.action()
            assert isinstance(answer, Response)
            assert isinstance(again, Response)
            if answer.status < 300:
                assert (again.status, again.text) == (answer.status, answer.text)
                return
            assert answer.status in {409, 503}, answer.text
        pytest.fail(f"no success after {_MAX_REPEATS} repetitions")


def _prepare(pipeline: EventPipeline, case: FaultCase, monkeypatch: pytest.MonkeyPatch) -> CaseRun:
    monkeypatch.setenv("WEBHOOK_RETRY_DELAYS", case.delays)
    config.cache_clear()
    action = case.prepare(pipeline)
    pipeline.assert_invariants()
    return CaseRun(pipeline, action, pipeline.snapshot())


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


def _faults(operations: Sequence[str], *, is_request: bool) -> Iterator[tuple[str, Fault]]:
    """Yield every fault at every call, with its description."""
    for at in range(len(operations)):
        yield f"killed before call {at}", kill_before(at)
        yield f"killed after call {at}", kill_after(at)
        yield f"answer {at} lost", lose_answer(at)
        yield f"call {at} throttled", throttle(at)
        if not is_request:  # a request would return an error
            yield f"calls from {at} on throttled", throttle(at, times=6)
    if "TransactWriteItems" in operations:
        yield "transactions in conflict", conflict(times=4)
    if "PutItem" in operations:
        yield "writes in conflict with transactions", _conflict_with_transactions(times=3)
    if "SendMessageBatch" in operations:
        yield "messages rejected", _reject_batch_entries()


def _sampled_faults(
    case: str, operations: Sequence[str], *, is_request: bool
) -> Iterator[tuple[str, Fault]]:
    """Yield the crashes before and after the last call, and one other fault in a sample.

    The last call commits the action, except where it changes nothing.
    """
    every_fault = list(_faults(operations, is_request=is_request))
    crashes = {f"killed {when} call {len(operations) - 1}" for when in ("before", "after")}
    yield from (one for one in every_fault if one[0] in crashes)
    others = [one for one in every_fault if one[0] not in crashes]
    yield from sampled(case, others, every=len(others))


@pytest.mark.parametrize("case", FAULT_CASES, ids=lambda case: case.name)
def test_an_event_is_delivered_and_logged_once_despite_a_fault(
    case: FaultCase, pipeline: EventPipeline, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    case_run = _prepare(pipeline, case, monkeypatch)
    case_run.reset()
    with aws_faults.recorded() as seen:
        answer = case_run.action()
    is_request = isinstance(answer, Response)
    expected = case_run.finish(is_request=is_request)
    if case.expected:
        assert _final_state(pipeline) == case.expected
    for seconds in (0, _LAG_SECONDS):
        for name, fault in _sampled_faults(case.name, seen.operations, is_request=is_request):
            case_run.reset()
            lag = lagging_reads(pipeline.clock, seconds)
            try:
                with aws_faults.faulty(lag.during(fault)), suppress(Killed):
                    case_run.action()
                with aws_faults.faulty(lag):
                    assert case_run.finish(is_request=is_request) == expected
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
