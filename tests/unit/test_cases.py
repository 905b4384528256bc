"""Tables of cases: every case runs, and every one that fails is named with its message."""

from collections.abc import Callable

import pytest

from tests.cases import each_case


def _run(test: Callable[..., None], request: pytest.FixtureRequest, **fixtures: object) -> str:
    """Run a test; return its failure, or an empty text."""
    try:
        test(request, **fixtures)
    except pytest.fail.Exception as failure:
        return str(failure)
    return ""


def test_every_case_runs_and_all_failures_are_reported(request: pytest.FixtureRequest) -> None:
    ran: list[int] = []

    @each_case("number", range(30))
    def test(number: int) -> None:
        ran.append(number)
        assert number % 2, f"{number} is even"

    text = _run(test, request)

    assert ran == list(range(30))
    assert text.startswith("15 of 30 cases failed:")
    for number in range(0, 30, 2):
        assert f"number={number}\n" in text
        assert f"AssertionError: {number} is even" in text
    assert "test_cases.py:" in text, "the place of the first failures"


def test_every_kind_of_failure_is_a_failed_case(request: pytest.FixtureRequest) -> None:
    def no_error() -> None:
        with pytest.raises(ValueError, match="never"):
            pass

    def error() -> None:
        raise KeyError("lost")

    @each_case("body", [no_error, error, lambda: None])
    def test(body: Callable[[], None]) -> None:
        body()

    text = _run(test, request)

    assert text.startswith("2 of 3 cases failed:")
    assert "body=no_error\n" in text
    assert "DID NOT RAISE" in text
    assert "body=error\n" in text
    assert "KeyError: 'lost'" in text


def test_skipped_case_skips_the_test(request: pytest.FixtureRequest) -> None:
    """A case that cannot run must not count as passed."""

    @each_case("number", [1, 2])
    def test(number: int) -> None:
        pytest.skip(f"no {number}")

    with pytest.raises(pytest.skip.Exception, match="no 1"):
        test(request)


def test_tables_of_one_test_are_combined(request: pytest.FixtureRequest) -> None:
    ran: list[tuple[str, int, int]] = []

    @each_case("name", ["a", "b"])
    @each_case(("one", "other"), [(1, 2), (3, 4)], named=lambda one, _: f"from {one}")
    def test(given: list[tuple[str, int, int]], name: str, one: int, other: int) -> None:
        given.append((name, one, other))
        assert one == 1 or name == "a"

    text = _run(test, request, given=ran)

    assert ran == [("a", 1, 2), ("a", 3, 4), ("b", 1, 2), ("b", 3, 4)]
    assert text.startswith("1 of 4 cases failed:\n\nname='b', from 3\n")
