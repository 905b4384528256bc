"""Calls that do not depend on each other, made at the same time: one round trip's wait."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from threading import current_thread
from typing import Any

_WORKERS = 8
_NAME = "aws"


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_WORKERS, thread_name_prefix=_NAME)


def _inside() -> bool:
    # A worker that waited for other workers could wait for ever.
    return current_thread().name.startswith(_NAME)


def run_both[A, B](first: Callable[[], A], second: Callable[[], B]) -> tuple[A, B]:
    """Run two calls at once; the first error is raised after both have ended.

    Only `first` may itself use this module to good effect: inside `second` everything
    runs in turn.
    """
    if _inside():
        return first(), second()
    other = _pool().submit(second)
    try:
        result = first()
    except BaseException:
        other.cancel() or other.exception()
        raise
    return result, other.result()


def map_concurrently[A, B](call: Callable[[A], B], arguments: list[A]) -> list[B]:
    """Call once per argument, at once; results in the order of the arguments."""
    if len(arguments) <= 1 or _inside():
        return [call(argument) for argument in arguments]
    futures: list[Future[Any]] = [_pool().submit(call, argument) for argument in arguments[1:]]
    first = call(arguments[0])
    return [first, *(future.result() for future in futures)]
