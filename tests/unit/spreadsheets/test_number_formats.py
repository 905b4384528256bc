"""Numbers with a number format: what their cells show."""

from decimal import Decimal
from typing import Any

import pytest

from shared.kernel.spreadsheets.number_formats import is_date_format, shown_number
from shared.kernel.spreadsheets.table import FormattedNumber, InvalidCell
from tests.cases import each_case
from tests.unit.spreadsheets.xlsx_packages import MAIN, cells, workbook_parts, zip_parts


@each_case(
    ("code", "value", "shown"),
    [
        ("00000", "123", "00123"),
        ("00000", "1234567", "1234567"),
        ("00000", "-123", "-00123"),
        ("0000-00", "12345", "0123-45"),
        ("0000-00", "1234567", "12345-67"),
        ("000\\-00\\-0000", "78051120", "078-05-1120"),
        ('"P-"0000', "7", "P-0007"),
        ('0" kg"', "12", "12 kg"),
        ("\\A0", "12", "A12"),
        ("#", "0", ""),
        ("0", "12", "12"),
        ("0_)", "12", "12"),
        ("[Red]000", "7", "007"),
        ("[$-409]000", "7", "007"),
        ("[$€-407] 0", "7", "€ 7"),
        ("000;(000);-", "-7", "(007)"),
        ("000;(000);-", "0", "-"),
        ("000;;", "0", ""),
        ('"n/a"', "7", "n/a"),
        ('General" m"', "7", "7 m"),
        ("#,##0", "123", "123"),
        ("0.00", "10.25", "10.25"),
        ("0.0#", "10.2", "10.2"),
        ("#,##0.00", "999.99", "999.99"),
    ],
)
def test_digits_and_texts_are_shown(code: str, value: str, shown: str) -> None:
    assert shown_number(Decimal(value), code) == shown


@each_case(
    ("code", "value"),
    [
        ("0", "12.5"),  # rounded
        ("0.0", "12.25"),
        ("0.00", "12"),  # a separator that depends on the language
        ("0.##", "12"),
        ("#,##0", "1234"),
        ("0,000", "12"),
        ("0.00;0.00", "-10.25"),
        ('0.00" kg"', "10.25"),
        ("0,", "12345"),  # divided by a thousand
        ("0%", "0.5"),
        ("0.00E+00", "12"),
        ("# ?/?", "0.5"),
        ("0/0", "5"),
        ("[<100]0;000", "7"),
        ("[DBNum1]0", "7"),
        ("[$-2000401]0", "7"),
        ("* 0", "7"),
        ('General" m"', "0.5"),
        ('General" m"', "123456789012"),
        ("ggge", "7"),
        ("?", "7"),
    ],
)
def test_what_depends_on_the_program_is_not_guessed(code: str, value: str) -> None:
    assert shown_number(Decimal(value), code) is None


_DATES = ["dd/mm/yyyy", "yyyy\\-mm\\-dd;@", "[h]:mm", "[$-C0A]d\\-mmm", "h AM/PM", '"on" d']
_NUMBERS = ['0" d"', "0\\d", "0_d", "[Red]0", "0;d", '0"d', "[DBNum1]0"]


@pytest.mark.parametrize("code", [*_DATES, *_NUMBERS])
def test_dates_are_told_from_numbers_as_the_reader_tells_them(code: str) -> None:
    assert is_date_format(code) == (code in _DATES)
    content = _formatted([code], '<c r="A1" s="1"><v>45000.25</v></c>')
    [cell] = cells(content)[0]
    assert isinstance(cell, FormattedNumber) != is_date_format(code)


def _formatted(codes: list[str], row: str, built_in: int = 0) -> bytes:
    """Return a workbook whose styles from 1 on have the formats, and style 0 a built-in one."""
    escaped = [code.replace("&", "&amp;").replace('"', "&quot;") for code in codes]
    formats = "".join(
        f'<numFmt numFmtId="{number}" formatCode="{code}"/>'
        for number, code in enumerate(escaped, 164)
    )
    styles = "".join(f'<xf numFmtId="{164 + number}"/>' for number in range(len(codes)))
    parts = workbook_parts(f'<row r="1">{row}</row>')
    parts["xl/styles.xml"] = (
        f'<styleSheet xmlns="{MAIN}"><numFmts>{formats}</numFmts>'
        f'<cellXfs><xf numFmtId="{built_in}"/>{styles}</cellXfs></styleSheet>'
    ).encode()
    return zip_parts(parts)


def _shown(cell: Any) -> object:
    return cell.shown if isinstance(cell, FormattedNumber) else cell


def test_numbers_have_their_format_however_their_row_is_written() -> None:
    row = (
        '<c r="A1" s="1"><v>123</v></c><c r="B1" t="n" s="1"><v>45</v></c>'
        '<c r="C1" s="2" t="n"><v>1.2E1</v></c><c r="D1"><v>6</v></c>'
        '<c r="E1" s="1" t="inlineStr"><is><t>7</t></is></c><c r="F1" s="1"><v>1E999</v></c>'
    )
    expected = ["00123", "00045", "12 x", 6, "7", InvalidCell("a number that is too large")]
    for written in (row, row.replace('"', "'"), row.replace("><v>", "><v >")):
        [found] = cells(_formatted(["00000", '0" x"'], written))
        assert list(map(_shown, found)) == expected
        assert [found[0].value, found[1].value, found[2].value] == [123, 45, 12]


def test_built_in_format_of_the_cells_without_style_counts() -> None:
    row = '<c r="A1"><v>12</v></c><c r="B1" s="1"><v>12</v></c>'
    [found] = cells(_formatted(["General"], row, built_in=2))
    assert [(cell, _shown(cell)) for cell in found] == [(12, None), (12, 12)]
    [found] = cells(_formatted(["General"], row, built_in=44))
    assert _shown(found[0]) is None, "money as a country writes it"
    [found] = cells(_formatted(["General"], row, built_in=49))
    assert found == [12, 12]
    assert not any(isinstance(cell, FormattedNumber) for cell in found)


def test_text_that_looks_like_a_marked_number_is_no_error() -> None:
    for text in ("\ufffe1;5", "\ufffe99;5", "\ufffe1;x", "\ufffe"):
        row = f'<c r="A1" t="inlineStr"><is><t>{text}</t></is></c><c r="B1" s="1"><v>1</v></c>'
        assert len(cells(_formatted(["00000"], row))) == 1
