"""A deterministic scheduler of concurrent requests that switches threads at AWS calls.

One request runs at a time. Every random decision (which request runs next, which transaction is
cancelled by a conflict, when an index or an eventually consistent read lags behind) comes from one
seed, so that a run can be replayed. Sleeping takes no real time: a sleeping request continues when
the simulated clock has reached its time.
"""

import json
import os
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from tests import clock as clocks
from tests.clock import Clock
from tests.faults import Answer, AwsFaults, Call, Forward, cancelled_transaction
from tests.sampling import is_complete
from tests.stack import Stack

type Act[R] = Callable[[], R]

_DEADLOCK_SECONDS = 120
"""Seconds after which a request that neither ends nor calls AWS fails the test."""
DEFAULT_SEED_COUNT = 6
"""Number of seeds of most tests, of which a sample has those of _SAMPLED_SEEDS."""
_SAMPLED_SEEDS = {0, 5}
"""A switch at every call; conflicts and indexes that lag."""
_CALL_SECONDS = 0.002
"""Duration of a call in seconds of the simulated clock."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A committed transaction; `worker` is the index of the action that sent it."""

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
    """The worker of the current thread."""

    worker: _Worker | None = None


class _SimulatedClock(Clock):
    """A frozen clock on which workers sleep concurrently."""

    def __init__(self, sleep_in_run: Callable[[float], bool]) -> None:
        super().__init__()
        self.freeze()
        self._sleep_in_run = sleep_in_run

    def rewind(self) -> None:
        """Reset the clock to the time at which it was created."""
        self._ahead = 0.0

    def sleep(self, seconds: float) -> None:
        """Let other workers run meanwhile; outside a run, advance the clock."""
        if not self._sleep_in_run(seconds):
            self.advance(seconds)


class Scheduler:
    """Runs actions concurrently, in an order that a seed determines.

    `seed` is that of the last run, and `commits` are its transactions in commit order.
    `after_commit` is called after each of them.
    """

    def __init__(self, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch) -> None:
        self.commits: list[Commit] = []
        self.seed: int | None = None
        self.after_commit: Callable[[], None] = lambda: None
        self._aws_faults = aws_faults
        self._current = _CurrentWorker()
        self._yielded = threading.Semaphore(0)
        self._random = random.Random(0)  # noqa: S311 - replayable, not secret
        self._clock = _SimulatedClock(self._sleep)
        clocks.install(monkeypatch, self._clock)
        self._index_results: dict[str, Answer] = {}
        self._seen_items: dict[tuple[str, str], dict[str, Any]] = {}
        self._conflict_rate = self._switch_rate = self._lag_rate = 0.0
        # Keep parallel reads in the thread of their request.
        monkeypatch.setattr("shared.kernel.db.parallel._run", self._run_in_any_order)

    def run[R](self, actions: Sequence[Act[R]], seed: int) -> list[R]:
        """Run all actions to their end; return their results in the order of `actions`."""
        self.seed = seed
        self._random = random.Random(seed)  # noqa: S311 - replayable, not secret
        random.seed(seed)
        self.commits.clear()
        self._index_results.clear()
        self._seen_items.clear()
        self._clock.rewind()
        self._switch_rate = self._random.choice((0.1, 0.3, 0.6, 1.0))
        self._conflict_rate = self._random.choice((0.0, 0.1, 0.3))
        self._lag_rate = self._random.choice((0.0, 0.3))
        results: dict[int, R] = {}
        workers = [_Worker(number) for number in range(len(actions))]

        def run_worker(worker: _Worker) -> None:
            worker.may_run.acquire()
            self._current.worker = worker
            try:
                results[worker.number] = actions[worker.number]()
            except BaseException as failure:  # noqa: BLE001 - raised again by `run`
                worker.failure = failure
            worker.ended = True
            self._yielded.release()

        threads = [
            threading.Thread(target=run_worker, args=(worker,), daemon=True) for worker in workers
        ]
        for thread in threads:
            thread.start()
        with self._aws_faults.faulty(self._intercept):
            self._alternate(workers)
        for thread in threads:
            thread.join()
        for worker in workers:
            if worker.failure:
                raise worker.failure
        return [results[number] for number in range(len(actions))]

    def _alternate(self, workers: Sequence[_Worker]) -> None:
        last: _Worker | None = None
        seen_commits = 0
        while going := [worker for worker in workers if not worker.ended]:
            now = self._clock.monotonic()
            awake = [worker for worker in going if worker.wakes_at <= now]
            if not awake:
                self._clock.advance(min(worker.wakes_at for worker in going) - now + 0.001)
                continue
            if last not in awake or self._random.random() < self._switch_rate:
                last = self._random.choice(awake)
            last.may_run.release()
            if not self._yielded.acquire(timeout=_DEADLOCK_SECONDS):
                pytest.fail(f"action {last.number} neither ends nor calls AWS")
            if len(self.commits) > seen_commits:
                seen_commits = len(self.commits)
                self.after_commit()

    def _run_in_any_order(self, calls: Sequence[Callable[[], object]]) -> list[object]:
        """Run parallel calls one after the other; raise the first error after all have ended."""
        order = list(range(len(calls)))
        if self._current.worker:
            self._random.shuffle(order)
        results: dict[int, object] = {}
        failures: dict[int, Exception] = {}
        for number in order:
            try:
                results[number] = calls[number]()
            except Exception as failure:  # noqa: BLE001 - raised again below
                failures[number] = failure
        if failures:
            raise failures[min(failures)]
        return [results[number] for number in range(len(calls))]

    def _pause(self) -> _Worker | None:
        """Let other workers run before this thread continues; return None outside a run."""
        worker = self._current.worker
        if worker:
            self._yielded.release()
            worker.may_run.acquire()
        return worker

    def _sleep(self, seconds: float) -> bool:
        if self._current.worker is None:
            return False
        self._current.worker.wakes_at = self._clock.monotonic() + seconds
        self._pause()
        return True

    def _intercept(self, call: Call, forward: Forward) -> Answer:
        """Send one call of an action, possibly with a conflict, or with a read that lags."""
        if call.operation == "AssumeRole":  # under a lock, for which others would wait without end
            return forward()
        worker = self._pause()
        if worker is None:
            return forward()
        self._clock.advance(_CALL_SECONDS)
        if call.operation == "TransactWriteItems":
            if self._random.random() < self._conflict_rate:
                return cancelled_transaction(call, "TransactionConflict")
            answer = forward()
            if answer[0] is not None and answer[0][0].status_code == 200:
                self.commits.append(Commit(worker.number, call.request))
            return answer
        if call.operation == "BatchGetItem":
            return self._read_items(call, forward)
        return self._read_index(call, forward) if "IndexName" in call.request else forward()

    def _read_items(self, call: Call, forward: Forward) -> Answer:
        """Return items as they are, or as an earlier read has seen them, if they may lag."""
        answer = forward()
        if answer[0] is None or answer[0][0].status_code != 200:
            return answer
        for table, items in answer[0][1]["Responses"].items():
            may_lag = not call.request["RequestItems"][table].get("ConsistentRead")
            for at, item in enumerate(items):
                key = item[PARTITION_KEY]["S"], item[SORT_KEY]["S"]
                seen = self._seen_items.setdefault(key, item)
                if may_lag and self._random.random() < self._lag_rate:
                    items[at] = seen
                else:
                    self._seen_items[key] = item
        return answer

    def _read_index(self, call: Call, forward: Forward) -> Answer:
        """Return the current result of an index query, or the previous result of the same query."""
        query = json.dumps(call.request, sort_keys=True)
        stale = query in self._index_results and self._random.random() < self._lag_rate
        if not stale:
            self._index_results[query] = forward()
        return self._index_results[query]


def seeds(count: int) -> list[int]:
    """Return the seeds of a test: two of `count`, or all if the run is complete.

    The variable RANDOM_INTERLEAVINGS replaces DEFAULT_SEED_COUNT, and `count` is scaled with it;
    RANDOM_SEED is then the first seed.
    """
    if usual := os.environ.get("RANDOM_INTERLEAVINGS"):
        first = int(os.environ.get("RANDOM_SEED", "0"))
        return list(range(first, first + max(1, count * int(usual) // DEFAULT_SEED_COUNT)))
    return [seed for seed in range(count) if is_complete() or seed in _SAMPLED_SEEDS]


def each_seed(stack: Stack, count: int = DEFAULT_SEED_COUNT) -> Iterator[int]:
    """Yield the seeds of a test, each time from the present state of the stack."""
    restore = stack.take_snapshot()
    for seed in seeds(count):
        restore()
        yield seed
