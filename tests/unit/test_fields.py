"""The field types of requests: accepted and refused values."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from shared.kernel.clock import instant_of
from shared.kernel.fields import Code, Day, Moment, Name, Note, Number, Quantity, Reference, Word
from shared.kernel.json_text import dumps, loads

_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.decimals() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def _is(kind: Any, value: object) -> bool:
    try:
        TypeAdapter(kind).validate_python(value, strict=True)
    except ValidationError:
        return False
    return True


def _read(kind: Any, value: object) -> Any:
    return TypeAdapter(kind).validate_python(value, strict=True)


# Quantities


@given(st.integers(1, 999_999_999 * 10**6))
@example(1)
@example(999_999_999 * 10**6)
def test_quantity_with_six_decimals_is_exact(millionths: int) -> None:
    quantity = Decimal(millionths).scaleb(-6)

    kept = _read(Quantity, loads(dumps({"qty": quantity}))["qty"])
    shown = TypeAdapter(Number).dump_python(kept)

    assert kept == quantity
    assert loads(dumps(shown)) == quantity
    assert isinstance(shown, int) == (quantity == quantity.to_integral_value())


@pytest.mark.parametrize(
    "text",
    ["0", "-1", "0.0000001", "1.0000001", "999999999.000001", "1e9", "1e99", "1e-7", "1e999999",
     "-0.0", "1e-999999", "9" * 4000, "1e9999999999999999999", "-1e9999999999999999999"],
)  # fmt: skip
def test_quantity_out_of_range_is_refused(text: str) -> None:
    assert not _is(Quantity, loads(text))


@pytest.mark.parametrize("text", ["1e0", "1.50e1", "5E-1", "0.000001", "999999999", "1.000000000"])
def test_quantity_accepts_every_json_number_notation(text: str) -> None:
    assert _read(Quantity, loads(text)) == Decimal(text)


@given(_ANYTHING)
def test_quantity_must_be_a_number(value: object) -> None:
    if _is(Quantity, value):
        assert isinstance(value, int | Decimal)
        assert not isinstance(value, bool)
        assert 0 < value <= 999_999_999


# Dates and instants


@given(st.dates())
def test_date_is_accepted_in_both_formats(day: date) -> None:
    iso = day.isoformat()
    assert _read(Day, iso) == iso
    assert _read(Day, f"{day.day:02}/{day.month:02}/{day.year:04}") == iso


@pytest.mark.parametrize(
    "text",
    ["2026-02-30", "2025-02-29", "31/04/2026", "2026-1-1", "1/1/2026", "2026-13-01", "12/31/2026",
     "0000-01-01", "2026-01-01T00:00:00Z", " 2026-01-01", "2026-01-01\n", "20260101", "",
     "\u0662\u0660\u0662\u0666-01-01"],
)  # fmt: skip
def test_invalid_date_is_refused(text: str) -> None:
    assert not _is(Day, text)


@given(
    st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)),  # noqa: DTZ001 - offsets come next
    st.integers(-14 * 60, 14 * 60),
)
def test_instant_is_stored_in_utc_with_milliseconds(local: datetime, minutes: int) -> None:
    moment = local.replace(tzinfo=timezone(timedelta(minutes=minutes)))

    kept = _read(Moment, moment.isoformat())

    assert kept == instant_of(moment)
    assert timedelta() <= moment - datetime.fromisoformat(kept) < timedelta(milliseconds=1)


@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_text_order_of_instants_is_their_time_order(one: datetime, other: datetime) -> None:
    if one < other:
        assert instant_of(one) <= instant_of(other)


@pytest.mark.parametrize(
    "text",
    ["2026-03-01T09:30:00", "2026-03-01", "2026-03-01T25:00:00Z", "2026-03-01T09:30:00+25:00",
     "2026-02-30T00:00:00Z", "now", "", "1772357400", "2026-03-01T09:30:00Z ", "T00:00Z",
     "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"],
)  # fmt: skip
def test_instant_without_offset_or_out_of_range_is_refused(text: str) -> None:
    assert not _is(Moment, text)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("2026-03-01T09:30:00+02:00", "2026-03-01T07:30:00.000Z"),
        ("2026-03-01T09:30:00 02:00", "2026-03-01T07:30:00.000Z"),  # "+" unescaped in a query
        ("2026-03-01t09:30:00.1239999z", "2026-03-01T09:30:00.123Z"),
        ("2026-03-01 09:30Z", "2026-03-01T09:30:00.000Z"),
    ],
)
def test_instant_accepts_iso_8601_notations(text: str, kept: str) -> None:
    assert _read(Moment, text) == kept


# Text


@given(st.text(max_size=260))
def test_code_has_one_line_without_control_characters(text: str) -> None:
    for kind in (Code, Name, Reference, Word):
        if _is(kind, text):
            kept = _read(kind, text)
            assert kept == kept.strip()
            assert kept.isprintable() or not set("\n\r\t\x00\x1b\x7f\x85\u2028") & set(kept)
            assert kept.encode()


@pytest.mark.parametrize("kind", [Code, Name, Reference, Word, Note])
@pytest.mark.parametrize("char", ["\x00", "\x1b", "\x1f", "\x7f", "\x85", "\ud800"])
def test_text_with_control_characters_or_surrogates_is_refused(kind: Any, char: str) -> None:
    assert not _is(kind, f"a{char}b")


def test_note_may_have_line_breaks_but_a_name_may_not() -> None:
    assert _read(Note, "first\nsecond\tthird") == "first\nsecond\tthird"
    assert not _is(Name, "first\nsecond")


@pytest.mark.parametrize("value", [5, True, None, ["a"], {"a": 1}, b"a", Decimal(5)])
def test_name_must_be_a_text(value: object) -> None:
    assert not _is(Name, value)


# JSON


@given(st.binary(max_size=40) | st.text(max_size=40))
def test_invalid_json_raises_one_kind_of_error(text: str | bytes) -> None:
    try:
        loads(text)
    except ValueError:
        return


def test_fraction_is_read_as_decimal() -> None:
    assert dumps(loads('{"qty":0.1,"more":[1.10,100000000000000000000.5]}')) == (
        '{"qty":0.1,"more":[1.10,100000000000000000000.5]}'
    )
