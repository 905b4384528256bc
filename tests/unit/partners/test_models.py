"""Validation of the fields of partners."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.kernel.validation import check, ensure_valid, problems_of
from shared.warehouse.partners.models import ClientCreate, ProviderCreate
from tests.cases import each_case


def problems_by_field(**fields: Any) -> dict[str, str]:
    """Return the problems of an otherwise valid client, by field."""
    problems = problems_of(check(ClientCreate, {"name": "Brindley", "document_id": 1, **fields}))
    return {problem.field: problem.message for problem in problems}


@pytest.mark.parametrize(
    "email",
    [
        "orders@brindley.example",
        "a@b.co",
        "first.last+stock@mail.brindley.co.uk",
        "o'neill_42@liffey-electrical.example",
        "#!$%&'*/=?^`{|}~-@x1.xn--p1ai",
        "A" * 64 + "@EXAMPLE.COM",
        f"a@{'b' * 63}.{'c' * 63}.{'d' * 63}.{'e' * 60}",
    ],
)
def test_valid_email_is_not_changed(email: str) -> None:
    client = ensure_valid(
        check(ClientCreate, {"name": "B", "document_id": 1, "email": f" {email} "})
    )

    assert client.email == email


@each_case(
    "email",
    [
        "",
        "   ",
        "orders",
        "@brindley.example",
        "orders@",
        "orders@@brindley.example",
        "orders@brindley@example.com",
        "orders@localhost",
        "orders@brindley.",
        "orders@.example",
        "orders@brindley..example",
        "orders@-brindley.example",
        "orders@brindley-.example",
        "orders@brindley.example-",
        "orders@10.0.0.1",
        "orders@[10.0.0.1]",
        "orders@brindley_electrical.example",
        ".orders@brindley.example",
        "orders.@brindley.example",
        "or..ders@brindley.example",
        "or ders@brindley.example",
        '"or ders"@brindley.example',
        "Brindley <orders@brindley.example>",
        "a@b.example, c@d.example",
        "orders@brindley.example\nBcc: all@brindley.example",
        "orders\x00@brindley.example",
        "órdenes@brindley.example",
        "orders@brindleÿ.example",
        "orders@\u212aable.example",
        "o" * 65 + "@brindley.example",
        f"a@{'b' * 64}.example",
    ],
)
def test_invalid_email_is_refused(email: str) -> None:
    assert problems_by_field(email=email) == {"email": "must be an e-mail address"}


def test_email_has_at_most_254_characters() -> None:
    email = f"ab@{'b' * 63}.{'c' * 63}.{'d' * 63}.{'e' * 59}"

    assert problems_by_field(email=email) == {}
    assert problems_by_field(email=f"{email}e") == {"email": "must have at most 254 characters"}
    assert problems_by_field(email="x" * 100_000) == {"email": "must have at most 254 characters"}


@given(st.emails())
def test_plain_address_is_a_valid_email(email: str) -> None:
    assert problems_by_field(email=email) == {}


@each_case(
    ("field", "valid", "invalid"),
    [
        (
            "document_type",
            ["V", "j", " E "],
            [
                (text, "must be one letter, A to Z")
                for text in ("", " ", "VV", "1", "-", "\x00", "Ñ", "É", "Ω")
            ],
        ),
        (
            "document_id",
            [1, 999_000_100, 2**53 - 1],
            [
                (0, "must be at least 1"),
                (-1, "must be at least 1"),
                (2**53, "must be at most 9007199254740991"),
                (10**30, "must be at most 9007199254740991"),
                *(
                    (other, "must be a whole number")
                    for other in ("999000100", 1.5, True, None, [1])
                ),
            ],
        ),
        (
            "phone",
            ["+44 121 496 0111", "(0121) 496-0111 ext. 7", "9" * 50],
            [
                ("", "must not be empty"),
                ("0121\n496", "must not contain control characters"),
                ("9" * 51, "must have at most 50 characters"),
                (4961110, "must be a text"),
            ],
        ),
    ],
)
def test_other_fields_accept_what_they_are_for(
    field: str, valid: list[object], invalid: list[tuple[object, str]]
) -> None:
    for value in valid:
        assert problems_by_field(**{field: value}) == {}
    for value, message in invalid:
        assert problems_by_field(**{field: value}) == {field: message}, value


@pytest.mark.parametrize("field", ["description", "paymentinfo"])
def test_notes_of_a_provider_keep_line_breaks(field: str) -> None:
    def refused(text: object) -> list[str]:
        problems = problems_of(check(ProviderCreate, {"name": "Midland", field: text}))
        assert {problem.field for problem in problems} <= {field}
        return [problem.message for problem in problems]

    assert refused("30 days\n2 % within 14 days") == []
    assert refused("x" * 2000) == []
    assert refused("x" * 2001) == ["must have at most 2000 characters"]
    assert refused("\x07") == ["must not contain control characters"]
    assert refused(30) == ["must be a text"]
