"""Concurrent calls in threads that start at the same time."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier


def run_concurrently[R](count: int, call: Callable[[int], R]) -> list[R]:
    """Call `call(0)` to `call(count - 1)` at the same time; return the results in order."""
    barrier = Barrier(count)

    def worker(number: int) -> R:
        barrier.wait()
        return call(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(worker, range(count)))


def at_once[R](*calls: Callable[[], R]) -> list[R]:
    """Make all calls at the same time; return their results in order."""
    return run_concurrently(len(calls), lambda number: calls[number]())
