"""Requirements for passwords, and their hashes."""

import re
import statistics
import time

import pytest
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from shared.identity.users import passwords
from tests.cases import each_case

_GOOD = "eleven green bottles"


def _problem(password: str) -> str | None:
    return passwords.password_problem(
        password, username="maria.lopez-diaz", tenant="talleres-norte"
    )


@pytest.mark.parametrize(
    "password",
    [
        _GOOD,
        "x1" * 6,
        "x1" * 128,
        "contraseña ñandú",
        "密码密码一二三四五六七八",
        " leading and trailing ",
    ],
)
def test_long_enough_passwords_are_allowed(password: str) -> None:
    assert _problem(password) is None


@each_case(
    ("password", "why"),
    [
        ("", "12 to 256"),
        ("x1x1x1x1x1x", "12 to 256"),
        ("x1" * 128 + "x", "12 to 256"),
        ("ﬃ" * 86, "12 to 256"),
        ("eleven\ngreen bottles", "control"),
        ("eleven\x00green bottles", "control"),
        ("eleven \ud800 bottles", "control"),
        ("maria.lopez-diaz", "name"),
        ("MARIA.Lopez-Diaz", "name"),
        ("Talleres-Norte", "name"),
        ("maria.lopez-diaz@talleres-norte", "name"),
        ("\uff4daria.lopez-diaz", "name"),
        ("password1234", "common"),
        ("QwertyUIOP12", "common"),
        ("aaaaaaaaaaaaaaaa", "common"),
        ("AaAaAaAaAaAaAa", "common"),
    ],
)
def test_bad_passwords_are_refused(password: str, why: str) -> None:
    assert why in str(_problem(password))


def test_common_passwords_pass_the_other_requirements() -> None:
    assert all(
        len(one) >= passwords.MIN_LENGTH and one == one.casefold()
        for one in passwords._COMMON_PASSWORDS
    )


def test_password_is_stored_as_argon2id_with_a_random_salt() -> None:
    first, second = passwords.hash_password(_GOOD), passwords.hash_password(_GOOD)

    assert first != second
    assert _GOOD not in first
    assert re.fullmatch(
        r"\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}", first
    )
    assert passwords.verify(_GOOD, first)
    assert passwords.verify(_GOOD, second)


@pytest.mark.parametrize(
    "password", ["", _GOOD + " ", _GOOD.upper(), _GOOD[:-1], _GOOD + "x" * 5_000_000, "\ud800"]
)
def test_wrong_password_does_not_match(password: str) -> None:
    assert not passwords.verify(password, passwords.hash_password(_GOOD))


def test_passwords_are_normalized() -> None:
    composed, decomposed, wide = (
        "contraseña larga",
        "contrasen\u0303a larga",
        "\uff43ontraseña larga",
    )
    kept = passwords.hash_password(composed)
    assert composed != decomposed
    assert passwords.verify(decomposed, kept)
    assert passwords.verify(wide, kept)
    assert not passwords.verify("contrasena larga", kept)


def test_no_password_matches_a_missing_user() -> None:
    for password in ("", _GOOD, "A" * 22):
        assert not passwords.verify(password, None)


def test_check_of_a_missing_user_takes_as_long() -> None:
    kept = passwords.hash_password(_GOOD)

    def seconds(stored: str | None) -> float:
        began = time.thread_time()
        passwords.verify("wrong", stored)
        return time.thread_time() - began

    known, unknown = (statistics.median(seconds(one) for _ in range(9)) for one in (kept, None))

    assert known / 2 < unknown < known * 2


def test_hash_of_another_form_matches_nothing_and_costs_no_more() -> None:
    kept = passwords.hash_password(_GOOD)
    cheap = Argon2id(salt=b"s" * 16, length=32, iterations=1, lanes=1, memory_cost=8_192)
    short = Argon2id(salt=b"s" * 8, length=16, iterations=2, lanes=1, memory_cost=19_456)
    others = [
        cheap.derive_phc_encoded(_GOOD.encode()),
        short.derive_phc_encoded(_GOOD.encode()),
        kept.replace("m=19456", "m=4194304"),
        kept.replace("t=2", "t=4294967295"),
        kept.replace("p=1", "p=64"),
        kept.replace("argon2id", "argon2i"),
        f"{kept}\n",
        "$2b$31$" + "a" * 53,
        "",
    ]
    assert passwords.is_hash(kept)
    for other in others:
        began = time.thread_time()
        assert not passwords.is_hash(other)
        assert not passwords.verify(_GOOD, other)
        assert time.thread_time() - began < 5


def test_generated_passwords_are_valid_and_unique() -> None:
    made = [passwords.generate_password() for _ in range(200)]

    assert len(set(made)) == 200
    for one in made:
        assert re.fullmatch(r"([0-9a-hjkmnp-tv-z]{4}-){4}[0-9a-hjkmnp-tv-z]{4}", one), one
        assert _problem(one) is None
