"""Concurrent calls of AWS that do not depend on each other."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import cache, partial
from threading import Lock, current_thread
from typing import overload

_WORKERS = 8
_NAME = "aws"


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_WORKERS, thread_name_prefix=_NAME)


def start[A](call: Callable[[], A]) -> Future[A]:
    """Run the call in a thread, in the context of the caller: its trace has the same parent."""
    return _pool().submit(copy_context().run, call)


def _inside() -> bool:
    # A worker that waits for other workers could cause a deadlock.
    return current_thread().name.startswith(_NAME)


@overload
def run_all[A, B](first: Callable[[], A], second: Callable[[], B], /) -> tuple[A, B]: ...
@overload
def run_all[A, B, C](
    first: Callable[[], A], second: Callable[[], B], third: Callable[[], C], /
) -> tuple[A, B, C]: ...
@overload
def run_all[A, B, C, D](
    first: Callable[[], A],
    second: Callable[[], B],
    third: Callable[[], C],
    fourth: Callable[[], D],
    /,
) -> tuple[A, B, C, D]: ...
@overload
def run_all[A, B, C, D, E](
    first: Callable[[], A],
    second: Callable[[], B],
    third: Callable[[], C],
    fourth: Callable[[], D],
    fifth: Callable[[], E],
    /,
) -> tuple[A, B, C, D, E]: ...
@overload
def run_all[A](
    first: Callable[[], A], /, *others: Callable[[], object]
) -> tuple[A, *tuple[object, ...]]: ...
def run_all(first: Callable[[], object], /, *others: Callable[[], object]) -> tuple[object, ...]:
    """Run calls concurrently and return their results; raise the first error after all have ended.

    Calls of this module inside `first` run concurrently; inside `others` they run one after the
    other.
    """
    return tuple(_run([first, *others]))


def map_concurrently[A, B](call: Callable[[A], B], arguments: list[A]) -> list[B]:
    """Call `call` for each argument concurrently; return results in the order of `arguments`.

    The first error is raised after all calls have ended.
    """
    return _run([partial(call, argument) for argument in arguments])


def _run[A](calls: Sequence[Callable[[], A]]) -> list[A]:
    if len(calls) <= 1 or _inside():
        return [call() for call in calls]
    futures = [start(call) for call in calls[1:]]
    try:
        return [calls[0](), *(future.result() for future in futures)]
    except BaseException:
        for future in futures:
            future.cancel() or future.exception()
        raise


def once[A](call: Callable[[], A]) -> Callable[[], A]:
    """Return a function that runs `call` the first time; concurrent callers wait for its result."""
    lock, result = Lock(), cache(call)

    def locked() -> A:
        with lock:
            return result()

    return locked
