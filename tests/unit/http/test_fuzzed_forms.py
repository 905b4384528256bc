"""A short run of the fuzzing of form parsers; see `tests/fuzz_parsers.py`."""

from tests.fuzz_parsers import run_round


def test_no_form_makes_a_parser_fail() -> None:
    run_round(20_261_122, examples=150)
