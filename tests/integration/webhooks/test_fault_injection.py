"""Whatever dies or breaks on the way of an event: it arrives, and the log tells of it once.

Each scene runs with faults at its AWS calls. Then AWS does what it does: the stream and the
queues bring again what was not done. Whoever made a request repeats it under its key.
"""

import hashlib
import os
import random
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
    lost,
    refusal,
    success,
    throttle,
)
from tests.gateway import Response
from tests.integration.webhooks.event_pipeline import EventPipeline, open_pipeline
from tests.integration.webhooks.fault_cases import FAULT_CASES, Action, FaultCase, fail_then_succeed
from tests.webhook_scenario import WebhookDesk

_CLAIM_EXPIRY = 61
"""Seconds; whatever a dead process had claimed has run out by then."""
_SAMPLED_CALLS = 2
"""Calls at which the process dies in each scene."""
_MAX_REPEATS = 5


@pytest.fixture
def line(
    desk: WebhookDesk, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[EventPipeline]:
    # Calls in the order in which they are written: then the same number is the same call.
    monkeypatch.setattr("shared.kernel.db.parallel._inside", lambda: True)
    monkeypatch.setattr("shared.kernel.db.counters.SHARDS", 2)
    monkeypatch.setattr("shared.kernel.db.transaction.SHARDS", 2)
    # What makes guesses dear costs every request that bears a secret.
    scrypt = hashlib.scrypt
    monkeypatch.setattr(hashlib, "scrypt", lambda *a, **k: scrypt(*a, **{**k, "n": 2}))
    with open_pipeline(desk, clock) as line:
        yield line


@dataclass(frozen=True, slots=True)
class CaseRun:
    """A scene, time and again, each time with everything as it was when it was prepared."""

    pipeline: EventPipeline
    action: Action
    reset: Callable[[], None]

    def finish(self, *, is_request: bool) -> list[object]:
        """Repeat a request until it is done, as whoever made it would; let AWS go on."""
        if is_request:
            self._repeat_request()
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
        pytest.fail("still refused")


def _prepare(line: EventPipeline, scene: FaultCase, monkeypatch: pytest.MonkeyPatch) -> CaseRun:
    monkeypatch.setenv("WEBHOOK_RETRY_DELAYS", scene.delays)
    config.cache_clear()
    act = scene.prepare(line)
    line.assert_invariants()
    return CaseRun(line, act, line.snapshot())


# Faults


def _reject_batch_entries() -> Fault:
    """SQS takes no message of a batch, without an error."""
    left = 1

    def fault(call: Call, forward: Forward) -> Answer:
        nonlocal left
        if call.operation != "SendMessageBatch" or not left:
            return forward()
        left -= 1
        (answer, parsed), _ = success()
        entries = call.request["Entries"]
        return (answer, {**parsed, "Failed": [{"Id": one["Id"]} for one in entries]}), None

    return fault


def _conflict_with_transactions(times: int) -> Fault:
    """Single writes to items that transactions write, too, meet one of those."""
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


def _faults(
    scene: str, operations: Sequence[str], *, is_request: bool
) -> Iterator[tuple[str, Fault]]:
    """Every fault at every call when SWEEP=all (`make sweep`).

    Otherwise some calls that SWEEP_SEED draws (1 unless given), and the last.
    """
    calls = len(operations)
    chosen: Sequence[int] = range(calls)
    if os.environ.get("SWEEP") != "all":
        draw = random.Random(f"{os.environ.get('SWEEP_SEED', '1')} {scene}")  # noqa: S311
        chosen = draw.sample(chosen, min(calls, _SAMPLED_CALLS))
    for number, at in enumerate(chosen):
        yield f"killed before call {at}", kill_before(at)
        if len(chosen) == calls or number == 0:
            yield f"killed after call {at}", kill_after(at)
            yield f"answer {at} lost", lose_answer(at)
            yield f"call {at} throttled", throttle(at)
            if not is_request:  # whose caller is told
                yield f"calls from {at} on throttled", throttle(at, times=6)
    yield "killed after the last call", kill_after(calls - 1)
    if "TransactWriteItems" in operations:
        yield "in conflict", conflict(times=4)
    if "PutItem" in operations:
        yield "meeting transactions", _conflict_with_transactions(times=3)
    if "SendMessageBatch" in operations:
        yield "messages not taken", _reject_batch_entries()


@pytest.mark.parametrize("scene", FAULT_CASES, ids=lambda scene: scene.name)
def test_an_event_arrives_and_is_logged_once_whatever_happens(
    scene: FaultCase, line: EventPipeline, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = _prepare(line, scene, monkeypatch)
    stage.reset()
    with aws_faults.recorded() as seen:
        answer = stage.action()
    is_request = isinstance(answer, Response)
    wanted = stage.finish(is_request=is_request)
    if scene.expected:
        assert _final_state(line) == scene.expected
    for name, fault in _faults(scene.name, seen.operations, is_request=is_request):
        stage.reset()
        try:
            with aws_faults.faulty(fault), suppress(Killed):
                stage.action()
            assert stage.finish(is_request=is_request) == wanted
        except BaseException as error:
            error.add_note(f"{scene.name}: {name} of {len(seen.calls)}: {seen.operations}")
            raise


def _final_state(line: EventPipeline) -> tuple[str, int, int, bool]:
    """The end of the newest delivery and of its subscription."""
    books = line.state()
    number, event = max(books.deliveries, key=lambda place: place[1])
    delivery, head = books.deliveries[number, event], books.webhooks[number]
    return delivery.status, delivery.tries, books.health[number].failure_count, head.is_active


@pytest.mark.parametrize("dies", [False, True])
def test_an_attempt_that_is_in_the_log_is_not_made_again_but_followed(
    *, dies: bool, line: EventPipeline, aws_faults: AwsFaults
) -> None:
    """The worker never learns that it has logged the attempt."""
    act = fail_then_succeed(1)(line)
    with aws_faults.faulty(_fault_after_the_log(dies=dies)), suppress(Killed):
        act()
    line.run()
    assert _final_state(line) == ("succeeded", 2, 0, True)
    assert line.requests_per_event().total() == 2


def _fault_after_the_log(*, dies: bool) -> Fault:
    strikes = iter([True])

    def fault(call: Call, forward: Forward) -> Answer:
        answer = forward()
        if call.operation != "PutItem" or not next(strikes, False):
            return answer
        if dies:
            raise Killed(call.operation)
        return lost()

    return fault
