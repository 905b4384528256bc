"""TOTP codes, compared with the test vectors of RFC 6238 and RFC 4226."""

import base64
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.identity.users import totp
from tests.cases import each_case

_RFC_SECRET = b"12345678901234567890"
_NOW = 1_234_567_890
_STEP = _NOW // 30


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (59, "94287082"),
        (1_111_111_109, "07081804"),
        (1_111_111_111, "14050471"),
        (1_234_567_890, "89005924"),
        (2_000_000_000, "69279037"),
        (20_000_000_000, "65353130"),
    ],
)
def test_codes_match_rfc_6238(seconds: int, code: str) -> None:
    # the vectors have eight digits; a code is the last six
    assert totp.code_at(_RFC_SECRET, seconds // 30) == code[-6:]


def test_codes_match_rfc_4226() -> None:
    codes = [totp.code_at(_RFC_SECRET, counter) for counter in range(10)]
    assert codes == [
        "755224", "287082", "359152", "969429", "338314",
        "254676", "287922", "162583", "399871", "520489",
    ]  # fmt: skip


@each_case(
    ("used", "accepted"),
    [(0, {_STEP - 1, _STEP, _STEP + 1}), (_STEP - 1, {_STEP, _STEP + 1}), (_STEP, {_STEP + 1})],
)
def test_only_unused_codes_of_adjacent_periods_are_accepted(used: int, accepted: set[int]) -> None:
    for step in (_STEP + off for off in (-100, -2, -1, 0, 1, 2, 100)):
        code = totp.code_at(_RFC_SECRET, step)
        found = totp.accepted_step(_RFC_SECRET, code, _NOW, used)
        assert found == (step if step in accepted else None)


@pytest.mark.parametrize(
    "code",
    [
        "",
        "89005",
        "0890059",
        "89005924",
        "\u0660\u0661\u0662\u0663\u0664\u0665",
        "\ud800",
        "x" * 100_000,
    ],
)
def test_malformed_code_is_refused(code: str) -> None:
    assert totp.accepted_step(_RFC_SECRET, code, _NOW, 0) is None


@given(st.binary(min_size=20, max_size=20), st.integers(0, 2**40))
def test_code_has_six_digits(secret: bytes, step: int) -> None:
    code = totp.code_at(secret, step)
    assert len(code) == 6
    assert code.isascii()
    assert code.isdigit()


def test_secrets_are_unique_and_long_enough() -> None:
    assert len({totp.new_secret() for _ in range(100)}) == 100
    assert len(totp.new_secret()) * 8 == 160
    assert base64.b32decode(totp.base32_text(_RFC_SECRET)) == _RFC_SECRET
    assert "=" not in totp.base32_text(_RFC_SECRET)


def test_otpauth_uri_contains_all_parameters() -> None:
    address = urlsplit(totp.otpauth_uri(_RFC_SECRET, "maria.lopez@acme"))

    assert (address.scheme, address.netloc) == ("otpauth", "totp")
    assert address.path == "/Stowage:maria.lopez%40acme"
    assert unquote(address.path) == "/Stowage:maria.lopez@acme"
    assert parse_qs(address.query) == {
        "secret": ["GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"],
        "issuer": ["Stowage"],
        "algorithm": ["SHA1"],
        "digits": ["6"],
        "period": ["30"],
    }
