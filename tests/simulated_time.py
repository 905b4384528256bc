"""A clock that counts the waits of concurrent requests, and not the time of computing.

In Lambda every request computes in an environment of its own; in a benchmark all of them share one
interpreter, and the machine with other programs. So that figures do not depend on either, the
clock stands still while a thread runs, and moves to the next wake-up when all of them wait.
"""

import heapq
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from shared.kernel.db import parallel
from tests import clock as clocks
from tests.clock import Clock

_BLOCKED_SECONDS = 2.0
"""Real seconds without any progress, after which running threads count as blocked by a lock."""


class SimulatedTime(Clock):
    """A clock whose sleepers wake up in turn; see `simulated_time`."""

    def __init__(self) -> None:
        super().__init__()
        self._now = super().monotonic()
        self._running = 1
        self._wake_ups: list[float] = []
        self._awaited: set[Future[Any]] = set()
        self._changed = threading.Condition()

    def monotonic(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        """Wait until the clock has moved by `seconds`."""
        with self._changed:
            until = self._now + max(0.0, seconds)
            heapq.heappush(self._wake_ups, until)
            self._stop()
            while self._now < until:
                if not self._changed.wait(_BLOCKED_SECONDS):
                    self._move()

    def started(self) -> None:
        """Count a thread that begins a task."""
        with self._changed:
            self._running += 1

    def ended(self, task: Future[Any]) -> None:
        """Count a task that has ended; the thread that awaits it runs in its place."""
        with self._changed:
            if task in self._awaited:
                self._awaited.remove(task)
            else:
                self._stop()

    def awaits(self, task: Future[Any]) -> None:
        """Count the present thread as waiting, unless the task has ended."""
        with self._changed:
            if not task.done():
                self._awaited.add(task)
                self._stop()

    def _stop(self) -> None:
        self._running -= 1
        if self._running == 0:
            self._move()

    def _move(self) -> None:
        if not self._wake_ups:
            return
        self._now = max(self._now, self._wake_ups[0])
        while self._wake_ups and self._wake_ups[0] <= self._now:
            heapq.heappop(self._wake_ups)
            self._running += 1
        self._changed.notify_all()


@contextmanager
def simulated_time(requests: int) -> Iterator[SimulatedTime]:
    """Let the waits of the service and of `tests.faults` take simulated time only.

    The calling thread and the tasks of its thread pools take part. `requests` is the number of
    concurrent requests.
    """
    clock, submit = SimulatedTime(), ThreadPoolExecutor.submit

    def counted_submit(
        pool: ThreadPoolExecutor, call: Callable[..., Any], /, *args: Any, **names: Any
    ) -> Future[Any]:
        clock.started()
        task = submit(pool, call, *args, **names)
        task.add_done_callback(clock.ended)
        return task

    def waiting(method: Callable[..., Any]) -> Callable[..., Any]:
        def counted(task: Future[Any], timeout: float | None = None) -> Any:
            clock.awaits(task)
            return method(task, timeout)

        return counted

    with pytest.MonkeyPatch.context() as patch:
        clocks.install(patch, clock)
        patch.setattr("tests.faults.time", clock)
        patch.setattr(ThreadPoolExecutor, "submit", counted_submit)
        patch.setattr(Future, "result", waiting(Future.result))
        patch.setattr(Future, "exception", waiting(Future.exception))
        # Each request has the threads of an environment of its own.
        patch.setattr(parallel, "_WORKERS", parallel._WORKERS * requests)
        parallel._pool.cache_clear()
        yield clock
    parallel._pool.cache_clear()
