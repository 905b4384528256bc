"""Concurrent requests, of which one goes at a time, changing at the calls they make to AWS.

All that chance decides (who goes next, which transaction meets a conflict, when an index
lags behind) comes from one seed, so that a run can be had again. Nobody waits for real:
whoever sleeps goes on when the others have got that far, or when all are asleep.
"""

import json
import os
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from tests import clock as clocks
from tests.clock import Clock
from tests.faults import Answer, AwsFaults, Call, Forward, cancelled_transaction

type Act[R] = Callable[[], R]

_DEADLOCK = 120
"""Seconds without a sign of life from the one that goes."""
USUAL = 6
"""Seeds of most tests."""
_CALL = 0.002
"""Seconds that a call takes by the clock."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A transaction that took effect, and whose it was (the place among the acts)."""

    worker: int
    request: dict[str, object]


@dataclass(slots=True)
class _Worker:
    """One concurrent request."""

    number: int
    may_run: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    wakes_at: float = 0.0
    ended: bool = False
    failure: BaseException | None = None


class _CurrentWorker(threading.local):
    """Which actor this thread is."""

    worker: _Worker | None = None


class _SimulatedClock(Clock):
    """A frozen clock on which actors sleep side by side."""

    def __init__(self, asleep: Callable[[float], bool]) -> None:
        super().__init__()
        self.freeze()
        self._asleep = asleep

    def rewind(self) -> None:
        """Have the time at which the clock was made."""
        self._ahead = 0.0

    def sleep(self, seconds: float) -> None:
        """Let the others go on meanwhile; outside a run, let time pass."""
        if not self._asleep(seconds):
            self.advance(seconds)


class Scheduler:
    """Lets acts run at the same time, in an order that a seed decides.

    `commits` are the transactions of the last run in the order in which they took effect;
    `watch` is called after each of them.
    """

    def __init__(self, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch) -> None:
        self.commits: list[Commit] = []
        self.after_commit: Callable[[], None] = lambda: None
        self._aws_faults = aws_faults
        self._current = _CurrentWorker()
        self._yielded = threading.Semaphore(0)
        self._random = random.Random(0)  # noqa: S311 - order, no secret
        self._clock = _SimulatedClock(self._sleep)
        clocks.install(monkeypatch, self._clock)
        self._index_results: dict[str, Answer] = {}
        self._conflict_rate = self._switch_rate = self._lag_rate = 0.0
        # Reads that are made at once stay in the thread of their request.
        monkeypatch.setattr("shared.kernel.db.parallel._inside", lambda: True)

    def run[R](self, actions: Sequence[Act[R]], seed: int) -> list[R]:
        """Run acts to their ends; their results, in the order of the acts."""
        chance = self._random = random.Random(seed)  # noqa: S311
        random.seed(seed)
        self.commits.clear()
        self._index_results.clear()
        self._clock.rewind()
        self._switch_rate = chance.choice((0.1, 0.3, 0.6, 1.0))
        self._conflict_rate = chance.choice((0.0, 0.1, 0.3))
        self._lag_rate = chance.choice((0.0, 0.3))
        results: dict[int, R] = {}
        actors = [_Worker(number) for number in range(len(actions))]

        def live(actor: _Worker) -> None:
            actor.may_run.acquire()
            self._current.worker = actor
            try:
                results[actor.number] = actions[actor.number]()
            except BaseException as failure:  # noqa: BLE001 - raised again by whoever asked
                actor.failure = failure
            actor.ended = True
            self._yielded.release()

        threads = [threading.Thread(target=live, args=(actor,), daemon=True) for actor in actors]
        for thread in threads:
            thread.start()
        with self._aws_faults.faulty(self._intercept):
            self._alternate(actors)
        for thread in threads:
            thread.join()
        for actor in actors:
            if actor.failure:
                raise actor.failure
        return [results[number] for number in range(len(actions))]

    def _alternate(self, workers: Sequence[_Worker]) -> None:
        last: _Worker | None = None
        watched = 0
        while going := [actor for actor in workers if not actor.ended]:
            now = self._clock.monotonic()
            awake = [actor for actor in going if actor.wakes_at <= now]
            if not awake:
                self._clock.advance(min(actor.wakes_at for actor in going) - now + 0.001)
                continue
            if last not in awake or self._random.random() < self._switch_rate:
                last = self._random.choice(awake)
            last.may_run.release()
            if not self._yielded.acquire(timeout=_DEADLOCK):
                pytest.fail(f"act {last.number} neither ends nor calls AWS")
            if len(self.commits) > watched:
                watched = len(self.commits)
                self.after_commit()

    def _pause(self) -> _Worker | None:
        """Let others go before this thread goes on; None outside a run."""
        actor = self._current.worker
        if actor:
            self._yielded.release()
            actor.may_run.acquire()
        return actor

    def _sleep(self, seconds: float) -> bool:
        if self._current.worker is None:
            return False
        self._current.worker.wakes_at = self._clock.monotonic() + seconds
        self._pause()
        return True

    def _intercept(self, call: Call, forward: Forward) -> Answer:
        """Make one call of an act."""
        actor = self._pause()
        if actor is None:
            return forward()
        self._clock.advance(_CALL)
        if call.operation == "TransactWriteItems":
            if self._random.random() < self._conflict_rate:
                return cancelled_transaction(call, "TransactionConflict")
            answer = forward()
            if answer[0] is not None and answer[0][0].status_code == 200:
                self.commits.append(Commit(actor.number, call.request))
            return answer
        return self._read_index(call, forward) if "IndexName" in call.request else forward()

    def _read_index(self, call: Call, forward: Forward) -> Answer:
        """Answer as things are, or as they were when the same was asked last."""
        question = json.dumps(call.request, sort_keys=True)
        late = question in self._index_results and self._random.random() < self._lag_rate
        if not late:
            self._index_results[question] = forward()
        return self._index_results[question]


def seeds(count: int) -> range:
    """Return the seeds of a test that has `count`, or more or fewer if the environment says so.

    SOAK_SEED is the first, SOAK_INTERLEAVINGS how many there are where `count` is USUAL.
    """
    first = int(os.environ.get("SOAK_SEED", "0"))
    usual = int(os.environ.get("SOAK_INTERLEAVINGS", USUAL))
    return range(first, first + max(1, count * usual // USUAL))


@contextmanager
def replayable(seed: int) -> Iterator[None]:
    """Tell with a failure which seed it has."""
    try:
        yield
    except Exception as failure:
        failure.add_note(f"again: make soak SEED={seed} INTERLEAVINGS=1 ARGS='-k NAME'")
        raise
