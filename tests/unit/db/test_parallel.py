"""Concurrent calls: results in order, errors after all have ended, no worker that waits."""

from collections.abc import Callable
from threading import Event, current_thread

import pytest

from shared.kernel.db.parallel import map_concurrently, once, run_all


def test_results_have_the_order_of_the_calls() -> None:
    results = run_all(lambda: 1, lambda: "b", lambda: None, lambda: 4.0, lambda: 5)
    assert results == (1, "b", None, 4.0, 5)


def call_all(*calls: Callable[[], object]) -> object:
    return map_concurrently(lambda call: call(), list(calls))


@pytest.mark.parametrize("run", [run_all, call_all])
def test_the_first_error_is_raised_after_all_calls_have_ended(run: Callable[..., object]) -> None:
    begun, may_end, ended = Event(), Event(), list[str]()

    def end_late() -> None:
        begun.set()
        may_end.wait(10)
        ended.append("late")

    def fail() -> None:
        begun.wait(10)  # a call that has not begun is not made
        may_end.set()
        raise KeyError

    with pytest.raises(KeyError):
        run(lambda: ended.append("first"), fail, end_late)
    assert sorted(ended) == ["first", "late"]


def test_calls_within_another_run_in_its_thread() -> None:
    def two_threads() -> set[str]:
        return set(run_all(lambda: current_thread().name, lambda: current_thread().name))

    _, within = run_all(lambda: None, two_threads)
    assert len(within) == 1


def test_concurrent_callers_get_the_result_of_one_call() -> None:
    calls, is_called, may_end = list[int](), Event(), Event()

    def call() -> int:
        calls.append(len(calls))
        is_called.set()
        may_end.wait(0.2)
        return len(calls)

    def call_second() -> int:
        is_called.wait(10)
        return result()

    result = once(call)
    assert run_all(call_second, result) == (1, 1)
    assert len(calls) == 1
