"""The error report contains rejected rows unchanged, marks bad cells, and has no formulas."""

import tracemalloc
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.worksheet.worksheet import Worksheet
from python_calamine import load_workbook

from shared.integration.imports.files.columns import normalize_header
from shared.integration.imports.models import ImportKind
from shared.integration.imports.report.rejected_rows import (
    REPORT_HEADERS,
    RejectedRow,
    RowProblem,
    is_report_header,
)
from shared.integration.imports.report.workbook import write_report
from shared.kernel.spreadsheets.table import Cell, InvalidCell
from tests.cases import each_case
from tests.unit.imports.layouts import EACH_KIND, LAYOUTS

REPORT_COLUMNS = len(REPORT_HEADERS)
HEADER = ["Reference", "Item code", "Quantity"]


def report(*rows: RejectedRow, header: list[str] = HEADER) -> bytes:
    target = BytesIO()
    write_report(rows, header, "en", target)
    return target.getvalue()


def sheet(book: bytes) -> Worksheet:
    return openpyxl.load_workbook(BytesIO(book)).worksheets[0]


def read_back(book: bytes) -> list[list[Any]]:
    """Return the rows as the service reads them."""
    return load_workbook(BytesIO(book)).get_sheet_by_index(0).to_python()


def row(*cells: Cell, number: int = 7, problem_column: int = 0) -> RejectedRow:
    return RejectedRow(number, cells, [RowProblem(problem_column, "external_ref", "is required")])


def one_cell(value: Cell) -> bytes:
    return report(row("SO-1", value), header=["Reference", "Name"])


def shown(value: Cell) -> Any:
    """Return the value of a cell as it is read back."""
    (_, cells) = read_back(one_cell(value))
    return cells[REPORT_COLUMNS + 1]


def test_every_problem_of_a_row_has_a_line_in_field_and_reason() -> None:
    problems = [
        RowProblem(2, "qty", "must be more than 0"),
        RowProblem(1, "item_code", "no product has the code X"),
        RowProblem(None, "lines", "another row of the document is wrong"),
    ]
    written = read_back(report(RejectedRow(12, ["SO-1", "X", 0], problems)))
    assert written == [
        ["Error: row", "Error: field", "Error: reason", *HEADER],
        [
            12,
            "Quantity\nItem code\nlines",
            "must be more than 0\nno product has the code X\nanother row of the document is wrong",
            "SO-1", "X", 0,
        ],
    ]  # fmt: skip


def test_a_column_without_header_is_named_by_the_field() -> None:
    problems = [RowProblem(5, "name", "has no header"), RowProblem(1, "qty", "is odd")]
    written = read_back(report(RejectedRow(2, ["A"], problems), header=["Item code", ""]))
    assert written[1][1] == "name\nqty"


@EACH_KIND
def test_no_layout_recognizes_report_headers(kind: ImportKind) -> None:
    for header in REPORT_HEADERS:
        assert normalize_header(header.en) not in LAYOUTS[kind].by_header
        assert normalize_header(header.es) not in LAYOUTS[kind].by_header


def test_the_columns_of_an_earlier_report_are_not_repeated() -> None:
    header = ["Error: fila", "Error: campo", "Error: motivo", "Item code", "Quantity"]
    corrected = RejectedRow(2, [12, "Cantidad", "?", "X", -1], [RowProblem(4, "qty", "wrong")])
    book = report(corrected, header=header)
    assert read_back(book) == [
        ["Error: row", "Error: field", "Error: reason", "Item code", "Quantity"],
        [2, "Quantity", "wrong", "X", -1],
    ]
    assert marked(sheet(book), 2) == ["E2"]


def test_only_report_headers_are_recognized_as_such() -> None:
    assert is_report_header("ERROR / Motivo")
    assert not is_report_header("Reason")


def marked(sheet: Worksheet, row: int) -> list[str]:
    """Return the cells of a row that are filled and framed."""
    return [
        cell.coordinate
        for cell in sheet[row]
        if cell.fill.fill_type == "solid" and cell.border.left and cell.border.left.style
    ]


def test_cells_with_problems_are_filled_and_framed_even_if_empty() -> None:
    problems = [RowProblem(column, "?", "wrong") for column in (0, 2, 4)]
    book = sheet(report(RejectedRow(2, ["SO-1", "X"], problems)))
    assert marked(book, 2) == ["D2", "F2", "H2"]
    assert marked(book, 1) == []
    assert book["D2"].fill.start_color.rgb == "00FFC7CE"


def test_reasons_are_wrapped_and_the_header_is_frozen() -> None:
    book = sheet(report(row("SO-1")))
    assert book["C2"].alignment.wrap_text
    assert book.freeze_panes == "D2"
    assert book.auto_filter.ref == "A1:F1048576"
    assert (book.column_dimensions["C"].width or 0) > 50


def test_text_cells_have_the_text_format() -> None:
    assert sheet(one_cell("007"))["E2"].number_format == "@"


MORNING = datetime.fromisoformat("2026-03-01T09:30:15")
VALUES: list[Cell] = [
    "SO-1", "007", "1E5", "8400000000017", "ñandú €", "two\nlines", "  spaced  ", "a,b;c\td",
    "a\x00b\x1fc",
    "<b>&amp;</b>", "_x0041_", "_x005F_", "a\rb", "a\r\nb", "#N/A", "#REF!", "TRUE", "😀",
    0, -1, 12, Decimal("12.5"), Decimal("0.000001"), True, False,
    date(2026, 1, 31), date(1900, 3, 1), date(9999, 12, 31), MORNING,
]  # fmt: skip


@each_case("value", VALUES, named=repr)
def test_a_cell_is_read_back_unchanged(value: Cell) -> None:
    found = shown(value)
    assert found == (float(value) if isinstance(value, Decimal) else value)
    assert isinstance(value, str) == isinstance(found, str)
    assert isinstance(value, bool) == isinstance(found, bool)


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ufffe\uffff")))
def test_any_text_is_read_back_unchanged(text: str) -> None:
    assert shown(text) == text


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (12345678901234567890, "12345678901234567890"),
        (Decimal("0.12345678901234567890"), "0.12345678901234567890"),
        (date(1875, 5, 1), "1875-05-01"),
        (time(9, 30), "09:30:00"),
        (InvalidCell("#REF!"), "#REF!"),
        (datetime(2026, 3, 1, 9, 30, tzinfo=UTC), "2026-03-01T09:30:00+00:00"),
        # a cell has 32,767 characters
        ("x" * 32_768, "x" * 32_767),
        ("😀" * 32_767, "😀" * 16_383),
    ],
)
def test_values_that_spreadsheets_cannot_represent_are_written_as_text(
    value: Cell, written: str
) -> None:
    assert shown(value) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("half \ud83d of a pair", "half \ufffd of a pair"),
        ("no \ufffe character", "no \ufffd character"),
    ],
)
def test_characters_that_are_none_are_replaced_by_symbols(value: str, written: str) -> None:
    assert shown(value) == written
    assert read_back(report(header=[value, "Name"]))[0][REPORT_COLUMNS] == written


def test_columns_are_truncated_to_the_width_of_a_sheet() -> None:
    header = [f"Column {number}" for number in range(16_384)]
    book = report(row(*range(16_384)), header=header)
    assert [len(cells) for cells in read_back(book)] == [16_384, 16_384]


FORMULAS = [
    "=1+1", "=CMD|' /C calc'!A0", "+1+1", "-1+1", "@SUM(A1)", "\t=1+1", "\r=1+1", "  =1+1",
    "\u3000=1+1", "\uff1d1+1", "\uff0b1", "\uff0d1", "\uff20SUM(A1)", "\ufe661+1", "=",
    '=HYPERLINK("http://x", "y")', "==", "=1+1\n=2+2", "\n=1",
]  # fmt: skip
HARMLESS = ["'=1+1", "{=1+1}", "%0A-3+3", "CAB-TE-1R0"]


@each_case("text", FORMULAS + HARMLESS, named=ascii)
def test_text_is_never_written_as_a_formula(text: str) -> None:
    book = report(row("SO-1", text), header=["Reference", text])
    for number in (1, 2):
        cell = sheet(book).cell(number, REPORT_COLUMNS + 2)
        assert cell.data_type == "s"
        assert read_back(book)[number - 1][REPORT_COLUMNS + 1] == text
    assert b"<f" not in ZipFile(BytesIO(book)).read("xl/worksheets/sheet1.xml")


def test_a_message_is_never_written_as_a_formula() -> None:
    problem = RowProblem(None, "=field", "=cmd|x is not known")
    book = sheet(report(RejectedRow(2, ["A"], [problem])))
    assert [book["B2"].data_type, book["C2"].data_type] == ["s", "s"]


@each_case("text", FORMULAS + HARMLESS, named=ascii)
def test_only_formula_like_text_has_the_quote_prefix(text: str) -> None:
    assert bool(sheet(one_cell(text))["E2"].quotePrefix) == (text in FORMULAS)


def test_memory_use_does_not_depend_on_the_number_of_rows(tmp_path: Path) -> None:
    def rows(count: int) -> Iterator[RejectedRow]:
        for number in range(count):
            problems = [RowProblem(3, "qty", f"must be more than {number}")]
            yield RejectedRow(number, [f"{number}-{cell}" for cell in range(12)], problems)

    header = [f"Column {cell}" for cell in range(12)]
    write_report(rows(100), header, "en", tmp_path / "small.xlsx")
    tracemalloc.start()
    try:
        write_report(rows(5000), header, "en", tmp_path / "large.xlsx")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Holding all cells at once would take 6 MB: at least 100 bytes for each.
    assert peak < 1_000_000
