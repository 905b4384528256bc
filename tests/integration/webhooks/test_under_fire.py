"""Whatever dies or breaks on the way of an event: it arrives, and the log tells of it once.

Each scene runs with faults at its AWS calls. Then AWS does what it does: the stream and the
queues bring again what was not done. Whoever made a request repeats it under its key.
"""

import os
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import pytest

from shared.config import config
from tests.clock import Clock
from tests.faults import (
    Answer,
    Call,
    Fault,
    Forward,
    Killed,
    Wire,
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
from tests.integration.webhooks.line import Line, open_line
from tests.integration.webhooks.scenes import SCENES, Act, Scene, attempt
from tests.webhook_desk import WebhookDesk

_AFTER_A_DEATH = 61
"""Seconds; whatever a dead process had claimed has run out by then."""
_DRAWN = 2
"""Calls at which the process dies in each scene."""
_PATIENCE = 5


@pytest.fixture
def line(desk: WebhookDesk, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Line]:
    # Calls in the order in which they are written: then the same number is the same call.
    monkeypatch.setattr("shared.db.parallel._inside", lambda: True)
    monkeypatch.setattr("shared.db.counters.SHARDS", 2)
    monkeypatch.setattr("shared.db.transaction.SHARDS", 2)
    with open_line(desk, clock) as line:
        yield line


@dataclass(frozen=True, slots=True)
class Stage:
    """A scene, time and again, each time with everything as it was when it was prepared."""

    line: Line
    act: Act
    reset: Callable[[], None]

    def finish(self, *, is_request: bool) -> list[object]:
        """Repeat a request until it is done, as whoever made it would; let AWS go on."""
        if is_request:
            self._insist()
        self.line.settle()
        self.line.ensure_all_arrived()
        self.line.ensure_secret()
        return self.line.summary()

    def _insist(self) -> None:
        for _ in range(_PATIENCE):
            self.line.clock.advance(_AFTER_A_DEATH)
            answer, again = self.act(), self.act()
            assert isinstance(answer, Response)
            assert isinstance(again, Response)
            if answer.status < 300:
                assert (again.status, again.text) == (answer.status, answer.text)
                return
            assert answer.status in {409, 503}, answer.text
        pytest.fail("still refused")


def _set(line: Line, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Stage:
    monkeypatch.setenv("WEBHOOK_RETRY_DELAYS", scene.delays)
    config.cache_clear()
    act = scene.prepare(line)
    line.check()
    return Stage(line, act, line.take_back())


# Faults


def _refuse_messages() -> Fault:
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


def _meet_transactions(times: int) -> Fault:
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
        chosen = draw.sample(chosen, min(calls, _DRAWN))
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
        yield "meeting transactions", _meet_transactions(times=3)
    if "SendMessageBatch" in operations:
        yield "messages not taken", _refuse_messages()


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_an_event_arrives_and_is_logged_once_whatever_happens(
    scene: Scene, line: Line, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = _set(line, scene, monkeypatch)
    stage.reset()
    with wire.recorded() as seen:
        answer = stage.act()
    is_request = isinstance(answer, Response)
    wanted = stage.finish(is_request=is_request)
    if scene.ends:
        assert _end(line) == scene.ends
    for name, fault in _faults(scene.name, seen.operations, is_request=is_request):
        stage.reset()
        try:
            with wire.faulty(fault), suppress(Killed):
                stage.act()
            assert stage.finish(is_request=is_request) == wanted
        except BaseException as error:
            error.add_note(f"{scene.name}: {name} of {len(seen.calls)}: {seen.operations}")
            raise


def _end(line: Line) -> tuple[str, int, int, bool]:
    """The end of the newest delivery and of its subscription."""
    books = line.books()
    number, event = max(books.deliveries, key=lambda place: place[1])
    delivery, head = books.deliveries[number, event], books.heads[number]
    return delivery.status, delivery.tries, books.pulses[number].failure_count, head.is_active


@pytest.mark.parametrize("dies", [False, True])
def test_an_attempt_that_is_in_the_log_is_not_made_again_but_followed(
    *, dies: bool, line: Line, wire: Wire
) -> None:
    """The worker never learns that it has logged the attempt."""
    act = attempt(1)(line)
    with wire.faulty(_after_the_log(dies=dies)), suppress(Killed):
        act()
    line.settle()
    assert _end(line) == ("succeeded", 2, 0, True)
    assert line.posts().total() == 2


def _after_the_log(*, dies: bool) -> Fault:
    strikes = iter([True])

    def fault(call: Call, forward: Forward) -> Answer:
        answer = forward()
        if call.operation != "PutItem" or not next(strikes, False):
            return answer
        if dies:
            raise Killed(call.operation)
        return lost()

    return fault
