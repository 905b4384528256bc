"""Concurrent calls of AWS that do not depend on each other."""

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import cache, partial
from threading import current_thread

_WORKERS = 8
_NAME = "aws"


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_WORKERS, thread_name_prefix=_NAME)


def _submit[A](call: Callable[[], A]) -> Future[A]:
    """Run the call in a thread, in the context of the caller: its trace has the same parent."""
    return _pool().submit(copy_context().run, call)


def _inside() -> bool:
    # A worker that waits for other workers could cause a deadlock.
    return current_thread().name.startswith(_NAME)


def run_both[A, B](first: Callable[[], A], second: Callable[[], B]) -> tuple[A, B]:
    """Run two calls concurrently; raise the first error after both have ended.

    Calls of this module inside `second` run one after the other; inside `first` they run
    concurrently.
    """
    if _inside():
        return first(), second()
    other = _submit(second)
    try:
        result = first()
    except BaseException:
        other.cancel() or other.exception()
        raise
    return result, other.result()


def run_beside[A](first: Callable[[], A], others: Iterable[Callable[[], object]]) -> A:
    """Run `first` and all of `others` concurrently, as `run_both` does; return what `first` does.

    Calls of this module inside `first` run concurrently.
    """
    call = first
    for other in others:
        call = partial(_result_of_first, call, other)
    return call()


def _result_of_first[A](first: Callable[[], A], second: Callable[[], object]) -> A:
    return run_both(first, second)[0]


def map_concurrently[A, B](call: Callable[[A], B], arguments: list[A]) -> list[B]:
    """Call `call` for each argument concurrently; return results in the order of `arguments`."""
    if len(arguments) <= 1 or _inside():
        return [call(argument) for argument in arguments]
    futures = [_submit(partial(call, argument)) for argument in arguments[1:]]
    first = call(arguments[0])
    return [first, *(future.result() for future in futures)]
