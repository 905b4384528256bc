import pytest

from tests.sampling import deadly_calls, sampled

_CASES = range(100)


@pytest.fixture(autouse=True)
def _sampling_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SWEEP", raising=False)


def test_sample_is_every_nth_case_and_equal_in_every_run() -> None:
    assert sampled("crashes", _CASES, every=40) == [31, 71]


def test_families_try_different_cases() -> None:
    samples = {tuple(sampled(f"family {number}", _CASES, every=10)) for number in range(100)}
    assert len(samples) == 10


@pytest.mark.parametrize("every", [1, 3, 50])
def test_small_family_has_at_least_one_case(every: int) -> None:
    assert sampled("crashes", ["only"], every=every) == ["only"]
    assert sampled("crashes", [], every=every) == []


def test_complete_run_has_all_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWEEP", "all")
    assert sampled("crashes", _CASES, every=40) == list(_CASES)


def test_process_dies_before_and_after_its_last_transaction() -> None:
    operations = [*["GetItem"] * 8, "TransactWriteItems", "UpdateItem"]
    assert {7, 8} < {*deadly_calls("crashes", operations, every=5)} < {*range(10)}
    assert deadly_calls("crashes", ["GetItem"] * 10, every=100) == [1]
