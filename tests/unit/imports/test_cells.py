"""Cells are converted to JSON values, whatever the program or language of the spreadsheet."""

from datetime import date, datetime, time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.integration.imports.files.cells import cell_text, converters
from shared.integration.imports.files.columns import CellType
from shared.kernel.spreadsheets.table import Cell, InvalidCell
from tests.cases import each_case

POINT = converters(decimal_comma=False, timezone="Europe/Madrid")
COMMA = converters(decimal_comma=True, timezone="Europe/Madrid")
UNKNOWN = converters(decimal_comma=None, timezone="Europe/Madrid")


@each_case(
    ("cell", "text"),
    [
        (None, ""),
        ("007", "007"),
        ("1E5", "1E5"),
        ("  padded\u00a0", "padded"),
        (7, "7"),
        (Decimal("100000.50"), "100000.50"),
        (Decimal("1E+5"), "100000"),
        (Decimal("0.0000001"), "0.0000001"),
        (True, "TRUE"),
        (False, "FALSE"),
        (date(2026, 3, 1), "2026-03-01"),
        (datetime(2026, 3, 1), "2026-03-01"),  # noqa: DTZ001 - as in spreadsheets
        (datetime(2026, 3, 1, 9, 30), "2026-03-01 09:30:00"),  # noqa: DTZ001
        (time(9, 30), "09:30:00"),
    ],
)
def test_a_text_is_what_a_user_would_type(cell: Cell, text: str) -> None:
    assert UNKNOWN["text"](cell) == text


@pytest.mark.parametrize("cell_type", ["text", "list"])
def test_a_code_that_is_no_exact_number_is_refused(cell_type: CellType) -> None:
    assert UNKNOWN[cell_type](2**53 - 1) in ("9007199254740991", ["9007199254740991"])
    for number in (2**53, 123456789012345700, -(10**20)):
        with pytest.raises(ValueError, match="has more digits than a number keeps"):
            UNKNOWN[cell_type](number)
    assert UNKNOWN[cell_type]("123456789012345678") in (
        "123456789012345678",
        ["123456789012345678"],
    )


@pytest.mark.parametrize(
    "cell_type", ["text", "list", "decimal", "integer", "date", "datetime", "boolean"]
)
def test_an_invalid_cell_is_refused(cell_type: CellType) -> None:
    with pytest.raises(ValueError, match="is not a valid value: #N/A"):
        UNKNOWN[cell_type](InvalidCell("#N/A"))


@each_case(
    ("text", "with_point", "with_comma", "unknown"),
    [
        ("12", "12", "12", "12"),
        ("-3", "-3", "-3", "-3"),
        ("1.5", "1.5", None, "1.5"),
        ("1,5", None, "1.5", "1.5"),
        ("0,125", None, "0.125", "0.125"),
        ("0.125", "0.125", None, "0.125"),
        ("1.234", "1.234", "1234", None),
        ("1,234", "1234", "1.234", None),
        ("12.345,67", None, "12345.67", "12345.67"),
        ("12,345.67", "12345.67", None, "12345.67"),
        ("1.234.567", None, "1234567", "1234567"),
        ("1,234,567", "1234567", None, "1234567"),
        (" 1 234,5 ", None, "1234.5", "1234.5"),
        ("1\u202f234\u00a0567", "1234567", "1234567", "1234567"),
        ("1,23,4", None, None, None),
        ("1e3", None, None, None),
        ("0x1F", None, None, None),
        ("\u0663", None, None, None),
        ("NaN", None, None, None),
        ("Infinity", None, None, None),
        ("--1", None, None, None),
        ("12 UN", None, None, None),
        ("", None, None, None),
    ],
)
def test_numbers_are_read_with_the_decimal_separator_of_the_file(
    text: str, with_point: str | None, with_comma: str | None, unknown: str | None
) -> None:
    for convert, expected in ((POINT, with_point), (COMMA, with_comma), (UNKNOWN, unknown)):
        if expected is None:
            with pytest.raises(ValueError, match=r"must be a number|is ambiguous"):
                convert["decimal"](text)
        else:
            assert convert["decimal"](text) == Decimal(expected)


@each_case("text", ["5-", "1.250,5-", "1 250-"])
def test_a_minus_at_the_end_is_named(text: str) -> None:
    bare = text.replace(" ", "")
    with pytest.raises(ValueError, match=f"must be a number; {bare} has its minus at the end"):
        UNKNOWN["decimal"](text)


def test_the_message_of_an_ambiguous_number_says_how_to_write_it() -> None:
    with pytest.raises(ValueError, match="write 1,2340 or 1234") as raised:
        UNKNOWN["decimal"]("1,234")
    assert str(raised.value).startswith("is ambiguous: 1,234 may have decimals or thousands")
    assert UNKNOWN["decimal"]("1,2340") == Decimal("1.234")
    assert UNKNOWN["decimal"]("1234") == 1234


def test_numeric_cells_have_the_value_that_is_shown() -> None:
    assert UNKNOWN["decimal"](12) == 12
    assert UNKNOWN["decimal"](Decimal("1.234")) == Decimal("1.234")
    assert UNKNOWN["decimal"](Decimal("0.30000000000000004")) == Decimal("0.3")
    assert UNKNOWN["decimal"](Decimal("0.12345678")) == Decimal("0.12345678")
    assert UNKNOWN["integer"](Decimal("2.9999999999999996")) == 3
    for cell in (True, date(2026, 3, 1)):
        with pytest.raises(ValueError, match="must be a number"):
            UNKNOWN["decimal"](cell)


@given(
    st.decimals(min_value=-999_999, max_value=999_999, places=3),
    st.sampled_from(("grouped", "plain")),
)
def test_every_formatted_number_is_read_back(number: Decimal, style: str) -> None:
    plain = f"{number:,.3f}".replace(",", "," if style == "grouped" else "")
    assert POINT["decimal"](plain) == number
    swapped = plain.replace(",", "G").replace(".", ",").replace("G", ".")
    assert COMMA["decimal"](swapped) == number


def test_integers() -> None:
    assert UNKNOWN["integer"]("3") == 3
    assert UNKNOWN["integer"](Decimal("3.0")) == 3
    assert COMMA["integer"]("1.000") == 1000
    with pytest.raises(ValueError, match="must be a whole number"):
        UNKNOWN["integer"]("3,5")


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (date(2026, 3, 1), "2026-03-01"),
        (datetime(2026, 3, 1), "2026-03-01"),  # noqa: DTZ001
        (datetime(2026, 3, 1, 14, 30, 59, 999), "2026-03-01"),  # noqa: DTZ001
        ("2026-03-01 14:30:59.000999", "2026-03-01"),  # the same cell in an error report
        ("2026-03-01", "2026-03-01"),
        ("2026-03-01 00:00:00", "2026-03-01"),
        ("2026-03-01T00:00", "2026-03-01"),
        ("1/3/2026", "2026-03-01"),
        (" 01/03/2026 ", "2026-03-01"),
        ("1.3.2026", "2026-03-01"),
        ("01.03.2026 00:00:00", "2026-03-01"),
        ("2026/3/1", "2026-03-01"),
        ("2026/03/01 14:30:59", "2026-03-01"),
        ("1/3.2026", "1/3.2026"),
        ("soon", "soon"),  # the request model refuses it later
        ("2026-03-01 09:30", "2026-03-01 09:30"),
    ],
)
def test_dates(cell: Cell, expected: str) -> None:
    assert UNKNOWN["date"](cell) == expected


@each_case(
    ("cell", "expected"),
    [
        (datetime(2026, 3, 1, 9, 30), "2026-03-01T08:30:00.000Z"),  # noqa: DTZ001
        (datetime(2026, 7, 1, 9, 30), "2026-07-01T07:30:00.000Z"),  # noqa: DTZ001
        ("2026-03-01 09:30", "2026-03-01T08:30:00.000Z"),
        ("2026-03-01", "2026-02-28T23:00:00.000Z"),
        ("20260301T0930", "2026-03-01T08:30:00.000Z"),
        ("2026-W09-7T09:30", "2026-03-01T08:30:00.000Z"),
        ("2026-060T09:30", "2026-03-01T08:30:00.000Z"),
        ("2026-03-01T09:30:00Z", "2026-03-01T09:30:00.000Z"),
        ("2026-03-01T10:30:00+01:00", "2026-03-01T09:30:00.000Z"),
    ],
)
def test_datetimes_without_offset_are_in_the_time_zone_of_the_company(
    cell: Cell, expected: str
) -> None:
    assert UNKNOWN["datetime"](cell) == expected


@each_case("cell", ["9999-12-31T23:30:00-01:00", "2026-02-30 09:30", "soon"])
def test_other_texts_are_no_date_and_time(cell: Cell) -> None:
    with pytest.raises(ValueError, match=r"must be a date and time such as .*, or a day as "):
        UNKNOWN["datetime"](cell)


@each_case(
    ("cell", "expected"),
    [
        (True, True),
        (False, False),
        (1, True),
        (0, False),
        ("Yes", True),
        ("sí", True),
        ("SI", True),
        ("x", True),
        ("VERDADERO", True),
        (" no ", False),
        ("Falso", False),
    ],
)
def test_booleans(cell: Cell, expected: object) -> None:
    assert UNKNOWN["boolean"](cell) is expected


@pytest.mark.parametrize("cell", ["maybe", 2, "", "oui"])
def test_other_values_are_not_booleans(cell: Cell) -> None:
    with pytest.raises(ValueError, match="must be yes or no"):
        UNKNOWN["boolean"](cell)


def test_a_cell_can_contain_a_list() -> None:
    assert UNKNOWN["list"]("S-1, S-2;S-3|S-4\nS-5,,") == ["S-1", "S-2", "S-3", "S-4", "S-5"]
    assert UNKNOWN["list"](12) == ["12"]
    assert UNKNOWN["list"](" ") == []


@given(st.text())
def test_the_text_of_a_text_cell_is_unchanged(text: str) -> None:
    assert cell_text(text) == text
