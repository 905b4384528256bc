"""What cells hold becomes what a body has, whoever typed it and in whichever spreadsheet."""

from datetime import date, datetime, time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.integration.imports.files.cells import converters, text
from shared.integration.imports.files.columns import Form
from shared.kernel.spreadsheets.table import InvalidCell, Cell

BY_POINT = converters(decimal_comma=False, timezone="Europe/Madrid")
BY_COMMA = converters(decimal_comma=True, timezone="Europe/Madrid")
UNKNOWN = converters(decimal_comma=None, timezone="Europe/Madrid")


@pytest.mark.parametrize(
    ("cell", "written"),
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
        (datetime(2026, 3, 1), "2026-03-01"),  # noqa: DTZ001 - as spreadsheets have them
        (datetime(2026, 3, 1, 9, 30), "2026-03-01 09:30:00"),  # noqa: DTZ001
        (time(9, 30), "09:30:00"),
    ],
)
def test_texts_are_what_a_person_would_type(cell: Cell, written: str) -> None:
    assert UNKNOWN["text"](cell) == written


@pytest.mark.parametrize("form", ["text", "texts", "number", "whole", "day", "moment", "flag"])
def test_an_error_is_no_value(form: Form) -> None:
    with pytest.raises(ValueError, match="is the error #N/A"):
        UNKNOWN[form](InvalidCell("#N/A"))


@pytest.mark.parametrize(
    ("written", "by_point", "by_comma", "unknown"),
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
def test_numbers_are_read_as_the_file_writes_them(
    written: str, by_point: str | None, by_comma: str | None, unknown: str | None
) -> None:
    for convert, expected in ((BY_POINT, by_point), (BY_COMMA, by_comma), (UNKNOWN, unknown)):
        if expected is None:
            with pytest.raises(ValueError, match=r"must be a number|two ways"):
                convert["number"](written)
        else:
            assert convert["number"](written) == Decimal(expected)


def test_numbers_of_spreadsheets_are_numbers() -> None:
    assert UNKNOWN["number"](12) == 12
    assert UNKNOWN["number"](Decimal("1.234")) == Decimal("1.234")
    with pytest.raises(ValueError, match="must be a number"):
        UNKNOWN["number"](True)
    with pytest.raises(ValueError, match="must be a number"):
        UNKNOWN["number"](date(2026, 3, 1))


@given(
    st.decimals(min_value=-999_999, max_value=999_999, places=3),
    st.sampled_from(("grouped", "plain")),
)
def test_every_number_is_read_back(number: Decimal, way: str) -> None:
    plain = f"{number:,.3f}".replace(",", "," if way == "grouped" else "")
    assert BY_POINT["number"](plain) == number
    swapped = plain.replace(",", "G").replace(".", ",").replace("G", ".")
    assert BY_COMMA["number"](swapped) == number


def test_whole_numbers() -> None:
    assert UNKNOWN["whole"]("3") == 3
    assert UNKNOWN["whole"](Decimal("3.0")) == 3
    assert BY_COMMA["whole"]("1.000") == 1000
    with pytest.raises(ValueError, match="must be a whole number"):
        UNKNOWN["whole"]("3,5")


@pytest.mark.parametrize(
    ("cell", "day"),
    [
        (date(2026, 3, 1), "2026-03-01"),
        (datetime(2026, 3, 1), "2026-03-01"),  # noqa: DTZ001
        ("2026-03-01", "2026-03-01"),
        ("2026-03-01 00:00:00", "2026-03-01"),
        ("2026-03-01T00:00", "2026-03-01"),
        ("1/3/2026", "2026-03-01"),
        (" 01/03/2026 ", "2026-03-01"),
        ("soon", "soon"),  # what is no day is told by the rules of the body
        ("2026-03-01 09:30", "2026-03-01 09:30"),
    ],
)
def test_days(cell: Cell, day: str) -> None:
    assert UNKNOWN["day"](cell) == day


@pytest.mark.parametrize(
    ("cell", "moment"),
    [
        (datetime(2026, 3, 1, 9, 30), "2026-03-01T09:30:00+01:00"),  # noqa: DTZ001
        (datetime(2026, 7, 1, 9, 30), "2026-07-01T09:30:00+02:00"),  # noqa: DTZ001
        ("2026-03-01 09:30", "2026-03-01T09:30:00+01:00"),
        ("2026-03-01", "2026-03-01T00:00:00+01:00"),
        ("2026-03-01T09:30:00Z", "2026-03-01T09:30:00Z"),
        ("2026-02-30 09:30", "2026-02-30 09:30"),
        ("soon", "soon"),
    ],
)
def test_moments_are_in_the_companys_time_zone(cell: Cell, moment: str) -> None:
    assert UNKNOWN["moment"](cell) == moment


@pytest.mark.parametrize(
    ("cell", "flag"),
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
def test_flags(cell: Cell, flag: object) -> None:
    assert UNKNOWN["flag"](cell) is flag


@pytest.mark.parametrize("cell", ["maybe", 2, "", "oui"])
def test_what_is_no_flag(cell: Cell) -> None:
    with pytest.raises(ValueError, match="must be yes or no"):
        UNKNOWN["flag"](cell)


def test_lists_in_one_cell() -> None:
    assert UNKNOWN["texts"]("S-1, S-2;S-3|S-4\nS-5,,") == ["S-1", "S-2", "S-3", "S-4", "S-5"]
    assert UNKNOWN["texts"](12) == ["12"]
    assert UNKNOWN["texts"](" ") == []


@given(st.text())
def test_a_text_stays_as_it_is(written: str) -> None:
    assert text(written) == written
