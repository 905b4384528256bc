"""Concurrent calls: results in order, errors after all have ended, no worker that waits."""

from threading import Event, current_thread

import pytest

from shared.kernel.db.parallel import run_all


def test_results_have_the_order_of_the_calls() -> None:
    results = run_all(lambda: 1, lambda: "b", lambda: None, lambda: 4.0, lambda: 5)
    assert results == (1, "b", None, 4.0, 5)


def test_the_first_error_is_raised_after_all_calls_have_ended() -> None:
    may_end, ended = Event(), list[str]()

    def end_late() -> None:
        may_end.wait(10)
        ended.append("late")

    def fail() -> None:
        may_end.set()
        raise KeyError

    with pytest.raises(KeyError):
        run_all(lambda: ended.append("first"), fail, end_late)
    assert sorted(ended) == ["first", "late"]


def test_calls_within_another_run_in_its_thread() -> None:
    def two_threads() -> set[str]:
        return set(run_all(lambda: current_thread().name, lambda: current_thread().name))

    _, within = run_all(lambda: None, two_threads)
    assert len(within) == 1
