"""The field types of requests: accepted and refused values."""

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, TypedDict

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from shared.kernel.clock import instant_of
from shared.kernel.fields import (
    Barcode,
    Code,
    Day,
    Identifier,
    Line,
    Moment,
    Name,
    Note,
    Number,
    Quantity,
    Reference,
    SmallInteger,
    Stored,
    Term,
    Word,
    dict_of,
)
from shared.kernel.json_text import dumps, loads
from shared.warehouse.layout.models import Label
from shared.warehouse.partners.models import DocumentId
from shared.warehouse.transfers.models import DocEntry
from tests.cases import each_case

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


# Whole numbers


@each_case("text", ["7", "7.0", "7.000", "70e-1", "0.7e1"])
def test_whole_number_may_be_written_with_a_fraction(text: str) -> None:
    for kind in (Identifier, SmallInteger, DocumentId, Label, DocEntry):
        number = _read(kind, loads(text))
        assert (number, type(number)) == (7, int)


@each_case("text", ["7.5", "0.5", "7e-1", "1e13", "1e999999", "-1.0", "true", '"7.0"'])
def test_other_numbers_are_no_whole_numbers(text: str) -> None:
    assert not _is(Identifier, loads(text))
    assert not _is(SmallInteger, loads(text))


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


@each_case(
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


@each_case(
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


_FROM_THE_STANDARD = {
    "1985-04-12T10:15:30Z": "1985-04-12T10:15:30.000Z",
    "19850412T101530Z": "1985-04-12T10:15:30.000Z",
    "19850412T101530+0400": "1985-04-12T06:15:30.000Z",
    "19850412T101530+04": "1985-04-12T06:15:30.000Z",
    "1985-04-12T10:15:30+04:00": "1985-04-12T06:15:30.000Z",
    "1985-04-12T10:15:30+04": "1985-04-12T06:15:30.000Z",
    "1985-04-12T10:15Z": "1985-04-12T10:15:00.000Z",
    "1985102T1015Z": "1985-04-12T10:15:00.000Z",
    "1985-102T10:15Z": "1985-04-12T10:15:00.000Z",
    "1985W155T1015+0400": "1985-04-12T06:15:00.000Z",
    "1985-W15-5T10:15+04": "1985-04-12T06:15:00.000Z",
    "1985-04-12T23Z": "1985-04-12T23:00:00.000Z",
    "1985-04-12T23:20:50,5Z": "1985-04-12T23:20:50.500Z",
    "1985-04-12T23:20,8Z": "1985-04-12T23:20:48.000Z",
    "19850412T2320.8Z": "1985-04-12T23:20:48.000Z",
    "1985-04-12T23,3Z": "1985-04-12T23:18:00.000Z",
    "1985-04-12T24:00:00Z": "1985-04-13T00:00:00.000Z",
    "19850412T2400Z": "1985-04-13T00:00:00.000Z",
}
"""Examples of ISO 8601:2004 (4.2.2 to 4.3.3) → the instant, by hand: 12 April 1985 is day 102 and
the Friday of week 15."""

_AT_THE_EDGES = {
    "2024-366T00:00Z": "2024-12-31T00:00:00.000Z",
    "2020-W53-7T23:00-02": "2021-01-04T01:00:00.000Z",
    "2026-W01-1T12:00:00Z": "2025-12-29T12:00:00.000Z",
    "2026-w01-1t12:00:00z": "2025-12-29T12:00:00.000Z",
    "2026W011 120000 02": "2025-12-29T10:00:00.000Z",  # "+" unescaped in a query
    "2025-12-31T24:00Z": "2026-01-01T00:00:00.000Z",
    "2026-03-01T09:30:00+02:00": "2026-03-01T07:30:00.000Z",
    "2026-03-01T09:30:00 02:00": "2026-03-01T07:30:00.000Z",
    "2026-03-01t09:30:00.1239999z": "2026-03-01T09:30:00.123Z",
    "2026-03-01 09:30Z": "2026-03-01T09:30:00.000Z",
    "2026-03-01T12:00:00.000999999999999Z": "2026-03-01T12:00:00.000Z",
}


@each_case(("text", "kept"), (_FROM_THE_STANDARD | _AT_THE_EDGES).items())
def test_instant_accepts_every_format_of_iso_8601(text: str, kept: str) -> None:
    assert _read(Moment, text) == kept


@each_case(
    "text",
    ["20260301T093000", "2026-060T09:30", "2026-W09-7T09:30", "20260301", "2026-W09-7", "2026-060Z",
     "2026T09:30Z", "2026-03T09:30Z", "2026-W09T09:30Z", "2026-000T00:00Z", "2026-366T00:00Z",
     "2026-W54-1T00:00Z", "2026-W09-8T00:00Z", "2026-W09-0T00:00Z", "2026-0301T09:30Z",
     "2026-03-01T24:01Z", "2026-03-01T24:00:00.5Z", "2026-03-01T09:60Z", "2026-03-01T9:30Z",
     "2026-03-01T09:30:Z", "2026-03-01T09:30.Z", "2026-03-01T09:30:00+2", "2026-03-01T09:30:00+02:",
     "2026-03-01T09:30:00+02:60", "2026-03-01T09:30:00+02:00:00", "2026-03-01x09:30Z",
     "2026-03-01T09:30:00Z\n", "+002026-03-01T09:30Z", "--03-01T09:30Z", "2026-03-01TZ",
     "2026-03-01T09:30:00 +02:00", "2026-03-01 09:30", "9999-12-31T24:00Z", "2026-03-01T0930:00Z",
     "\u0662026-03-01T09:30Z", "2026-03-01T09:30\u221202:00", "2026-03-01T09:30:00", "2026-03-01",
     "2026-03-01T25:00:00Z", "2026-03-01T09:30:00+25:00", "2026-02-30T00:00:00Z", "now", "",
     "1772357400", "2026-03-01T09:30:00Z ", "T00:00Z", "0001-01-01T00:00:00+14:00",
     "9999-12-31T23:59:59-14:00"],
)  # fmt: skip
def test_text_that_is_no_date_time_with_offset_is_refused(text: str) -> None:
    assert not _is(Moment, text)


# Text


@given(st.text(max_size=260))
def test_code_has_one_line_without_control_characters(text: str) -> None:
    for kind in (Code, Name, Reference, Word):
        if _is(kind, text):
            kept = _read(kind, text)
            assert kept == kept.strip()
            assert kept.isprintable() or not set("\n\r\t\x00\x1b\x7f\x85\u2028") & set(kept)
            assert kept.encode()


@each_case("kind", [Code, Name, Reference, Word, Note])
@each_case("char", ["\x00", "\x1b", "\x1f", "\x7f", "\x85", "\ud800"])
def test_text_with_control_characters_or_surrogates_is_refused(kind: Any, char: str) -> None:
    assert not _is(kind, f"a{char}b")


HIDDEN = ["\u200b", "\u200d", "\u200f", "\u2060", "\u2066", "\u202e", "\ufeff", "\u00ad", "\u061c",
          "\u034f", "\u115f", "\u3164", "\ufe0f", "\U000e0041", "\U000e0101"]  # fmt: skip


@each_case("char", HIDDEN)
def test_hidden_characters_are_refused_in_codes(char: str) -> None:
    for kind in (Code, Reference, Barcode):
        assert not any(_is(kind, text) for text in (f"a{char}b", f"{char}ab", f"ab{char}"))


@each_case("char", HIDDEN)
def test_names_and_texts_refuse_what_changes_the_direction(char: str) -> None:
    for kind in (Name, Word, Note, Term):
        assert _is(kind, f"a{char}b") == (char not in "\u2066\u202e")


@each_case("kind", [Code, Reference, Barcode, Name, Word, Line, Note, Term])
def test_text_is_normalized(kind: Any) -> None:
    assert _read(kind, "Cafe\u0301") == "Caf\u00e9"
    assert _read(kind, "\u212b") == "\u00c5"


def test_length_is_that_of_the_normalized_text() -> None:
    assert _read(Word, "e\u0301" * 32) == "\u00e9" * 32
    assert not _is(Word, "e\u0301" * 33)


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


# Responses


class _Kept(Stored):
    id: int
    note: str | None
    secret: str


class _Shown(Stored):
    id: int
    code: str
    note: str | None


def test_response_shows_the_fields_that_it_shares_with_an_entity() -> None:
    kept = _Kept(id=1, note="a", secret="b")
    assert dict(_Shown.from_stored(kept, code="X-1")) == {"id": 1, "code": "X-1", "note": "a"}
    assert _Shown.from_stored(kept, code="X-1", note=None).note is None


# Stored entities


class _Sums(Stored):
    lines: int = 0


class _Work(Stored):
    id: int
    note: str | None
    status: str = "open"
    batches: tuple[str, ...] = ()
    sums: _Sums = _Sums()


def test_stored_json_leaves_out_what_has_its_default() -> None:
    work = _Work(id=1, note=None)
    assert loads(work.to_json()) == {"id": 1, "note": None}
    assert _Work.from_json(work.to_json()) == work


def test_part_that_is_left_out_does_not_lose_unknown_fields() -> None:
    work = _Work.from_json('{"id": 1, "note": null, "new": 7}')
    assert loads(work.to_json()) == {"id": 1, "note": None, "new": 7}
    part = _Work.from_json('{"id": 1, "note": null, "sums": {"new": 7}}')
    assert loads(part.to_json()) == {"id": 1, "note": None, "sums": {"new": 7}}


class _Part(Stored):
    qty: int
    done: int = 0

    @property
    def left(self) -> int:
        return self.qty - self.done


class _PartView(TypedDict):
    left: int
    qty: int
    code: str


def test_a_view_has_fields_properties_and_other_values_in_its_order() -> None:
    part = _Part(qty=5, done=2)
    shown = dict_of(_PartView, part, code="A", unused=1)
    assert list(shown.items()) == [("left", 3), ("qty", 5), ("code", "A")]
    assert dict_of(_PartView, part, code="A", qty=7, left=0) == {"left": 0, "qty": 7, "code": "A"}
    assert part == _Part(qty=5, done=2)
