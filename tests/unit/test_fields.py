"""Values of requests: what is one, what is none, and what becomes of it."""

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
def test_a_quantity_of_up_to_six_decimals_stays_exact(millionths: int) -> None:
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
def test_what_nobody_can_count_is_no_quantity(text: str) -> None:
    assert not _is(Quantity, loads(text))


@pytest.mark.parametrize("text", ["1e0", "1.50e1", "5E-1", "0.000001", "999999999", "1.000000000"])
def test_a_quantity_may_be_written_in_any_way_of_json(text: str) -> None:
    assert _read(Quantity, loads(text)) == Decimal(text)


@given(_ANYTHING)
def test_only_a_number_is_a_quantity(value: object) -> None:
    if _is(Quantity, value):
        assert isinstance(value, int | Decimal)
        assert not isinstance(value, bool)
        assert 0 < value <= 999_999_999


# Dates and moments


@given(st.dates())
def test_a_day_is_read_in_both_ways_of_writing(day: date) -> None:
    iso = day.isoformat()
    assert _read(Day, iso) == iso
    assert _read(Day, f"{day.day:02}/{day.month:02}/{day.year:04}") == iso


@pytest.mark.parametrize(
    "text",
    ["2026-02-30", "2025-02-29", "31/04/2026", "2026-1-1", "1/1/2026", "2026-13-01", "12/31/2026",
     "0000-01-01", "2026-01-01T00:00:00Z", " 2026-01-01", "2026-01-01\n", "20260101", "",
     "\u0662\u0660\u0662\u0666-01-01"],
)  # fmt: skip
def test_what_is_in_no_calendar_is_no_day(text: str) -> None:
    assert not _is(Day, text)


@given(
    st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)),  # noqa: DTZ001 - offsets come next
    st.integers(-14 * 60, 14 * 60),
)
def test_a_moment_is_kept_in_utc_to_the_millisecond(local: datetime, minutes: int) -> None:
    moment = local.replace(tzinfo=timezone(timedelta(minutes=minutes)))

    kept = _read(Moment, moment.isoformat())

    assert kept == instant_of(moment)
    assert timedelta() <= moment - datetime.fromisoformat(kept) < timedelta(milliseconds=1)


@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_order_of_moments_is_order_of_their_text(one: datetime, other: datetime) -> None:
    if one < other:
        assert instant_of(one) <= instant_of(other)


@pytest.mark.parametrize(
    "text",
    ["2026-03-01T09:30:00", "2026-03-01", "2026-03-01T25:00:00Z", "2026-03-01T09:30:00+25:00",
     "2026-02-30T00:00:00Z", "now", "", "1772357400", "2026-03-01T09:30:00Z ", "T00:00Z",
     "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"],
)  # fmt: skip
def test_a_moment_needs_its_offset_and_must_exist(text: str) -> None:
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
def test_a_moment_is_read_as_iso_8601_writes_it(text: str, kept: str) -> None:
    assert _read(Moment, text) == kept


# Text


@given(st.text(max_size=260))
def test_a_code_is_one_line_without_anything_invisible_to_control_it(text: str) -> None:
    for kind in (Code, Name, Reference, Word):
        if _is(kind, text):
            kept = _read(kind, text)
            assert kept == kept.strip()
            assert kept.isprintable() or not set("\n\r\t\x00\x1b\x7f\x85\u2028") & set(kept)
            assert kept.encode()


@pytest.mark.parametrize("kind", [Code, Name, Reference, Word, Note])
@pytest.mark.parametrize("char", ["\x00", "\x1b", "\x1f", "\x7f", "\x85", "\ud800"])
def test_no_text_holds_control_characters_or_halves_of_pairs(kind: Any, char: str) -> None:
    assert not _is(kind, f"a{char}b")


def test_a_note_may_have_lines_and_a_name_may_not() -> None:
    assert _read(Note, "first\nsecond\tthird") == "first\nsecond\tthird"
    assert not _is(Name, "first\nsecond")


@pytest.mark.parametrize("value", [5, True, None, ["a"], {"a": 1}, b"a", Decimal(5)])
def test_what_is_no_text_is_no_name(value: object) -> None:
    assert not _is(Name, value)


# JSON


@given(st.binary(max_size=40) | st.text(max_size=40))
def test_reading_json_fails_in_one_way_only(text: str | bytes) -> None:
    try:
        loads(text)
    except ValueError:
        return


def test_a_fraction_never_becomes_a_float() -> None:
    assert dumps(loads('{"qty":0.1,"more":[1.10,100000000000000000000.5]}')) == (
        '{"qty":0.1,"more":[1.10,100000000000000000000.5]}'
    )
