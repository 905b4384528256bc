"""Recovery codes and their hashes."""

import re

import pytest

from shared.identity.users import recovery_codes

_SALT = b"s" * 16


def test_enrolment_has_ten_different_codes() -> None:
    codes = recovery_codes.new_codes()

    assert len(set(codes)) == 10
    assert all(
        re.fullmatch(r"([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}", one) for one in codes
    )


@pytest.mark.parametrize(
    "typed",
    [
        "k7m2-9xq0-b4f1-w0nz", "K7M2-9XQ0-B4F1-W0NZ", "k7m29xq0b4f1w0nz",
        " k7m2 9xq0 b4f1 w0nz\n", "k7m2-9xqo-b4fl-wOnz", "k7m2-9xq0-b4fI-w0nz",
    ],
)  # fmt: skip
def test_spelling_of_a_code_is_ignored(typed: str) -> None:
    made = recovery_codes.code_hash("k7m2-9xq0-b4f1-w0nz", _SALT)
    assert recovery_codes.code_hash(typed, _SALT) == made


@pytest.mark.parametrize("other", ["", "k7m2-9xq0-b4f1-w0ny", "k7m2", "\ud800", "x" * 100_000])
def test_wrong_code_has_another_hash(other: str) -> None:
    made = recovery_codes.code_hash("k7m2-9xq0-b4f1-w0nz", _SALT)
    assert recovery_codes.code_hash(other, _SALT) != made


def test_hashes_differ_between_salts() -> None:
    code = recovery_codes.new_codes()[0]
    salts = {recovery_codes.new_salt() for _ in range(100)}
    assert len({recovery_codes.code_hash(code, salt) for salt in salts}) == 100
