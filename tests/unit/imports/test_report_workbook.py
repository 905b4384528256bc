"""The error report: what was sent comes back as it was, marked, and never as a formula."""

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
from shared.integration.imports.kinds.layouts import LAYOUTS
from shared.integration.imports.report.rejected_rows import (
    REPORT_HEADERS,
    RejectedRow,
    RowProblem,
    is_report_header,
)
from shared.integration.imports.report.workbook import write_report
from shared.kernel.spreadsheets.table import InvalidCell, Cell

ADDED = len(REPORT_HEADERS)
HEADER = ["Reference", "Item code", "Quantity"]


def report(*rows: RejectedRow, header: list[str] = HEADER, language: Any = "en") -> bytes:
    target = BytesIO()
    write_report(rows, header, language, target)
    return target.getvalue()


def sheet(book: bytes) -> Worksheet:
    return openpyxl.load_workbook(BytesIO(book)).worksheets[0]


def read_back(book: bytes) -> list[list[Any]]:
    """The rows as the reader of the service sees them."""
    return load_workbook(BytesIO(book)).get_sheet_by_index(0).to_python()


def row(*cells: Cell, number: int = 7, wrong: int = 0) -> RejectedRow:
    return RejectedRow(number, cells, [RowProblem(wrong, "external_ref", "is required")])


def one_cell(value: Cell) -> bytes:
    return report(row("SO-1", value), header=["Reference", "Name"])


# What it says


def test_every_problem_of_a_row_has_its_line_in_the_reason() -> None:
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


def test_a_column_without_header_is_named_by_its_field() -> None:
    problems = [RowProblem(5, "name", "has no header"), RowProblem(1, "qty", "is odd")]
    written = read_back(report(RejectedRow(2, ["A"], problems), header=["Item code", ""]))
    assert written[1][1] == "name\nqty"


def test_its_own_headers_come_in_the_language_of_the_file() -> None:
    assert read_back(report(language="es"))[0][:ADDED] == [
        "Error: fila", "Error: campo", "Error: motivo",
    ]  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: str(layout.kind))
def test_no_layout_takes_its_columns_for_its_own(layout: Any) -> None:
    for words in REPORT_HEADERS:
        assert normalize_header(words.en) not in layout.by_name
        assert normalize_header(words.es) not in layout.by_name


def test_the_columns_of_an_earlier_report_are_not_repeated() -> None:
    header = ["Error: fila", "Error: campo", "Error: motivo", "Item code", "Quantity"]
    corrected = RejectedRow(2, [12, "Cantidad", "?", "X", -1], [RowProblem(4, "qty", "wrong")])
    book = report(corrected, header=header)
    assert read_back(book) == [
        ["Error: row", "Error: field", "Error: reason", "Item code", "Quantity"],
        [2, "Quantity", "wrong", "X", -1],
    ]
    assert marked(sheet(book), 2) == ["E2"]


def test_only_its_own_headers_are_those_of_a_report() -> None:
    assert is_report_header("ERROR / Motivo")
    assert not is_report_header("Reason")


# How it looks


def marked(sheet: Worksheet, row: int) -> list[str]:
    """Cells of a row that are filled and framed."""
    return [
        cell.coordinate
        for cell in sheet[row]
        if cell.fill.fill_type == "solid" and cell.border.left and cell.border.left.style
    ]


def test_bad_cells_are_filled_and_framed_also_where_they_are_empty() -> None:
    problems = [RowProblem(column, "?", "wrong") for column in (0, 2, 4)]
    book = sheet(report(RejectedRow(2, ["SO-1", "X"], problems)))
    assert marked(book, 2) == ["D2", "F2", "H2"]
    assert marked(book, 1) == []
    assert book["D2"].fill.start_color.rgb == "00FFC7CE"


def test_reasons_are_wrapped_and_the_header_stays_in_sight() -> None:
    book = sheet(report(row("SO-1")))
    assert book["C2"].alignment.wrap_text
    assert book.freeze_panes == "D2"
    assert book.auto_filter.ref == "A1:F1048576"
    assert (book.column_dimensions["C"].width or 0) > 50


def test_a_text_stays_text_when_it_is_typed_over() -> None:
    assert sheet(one_cell("007"))["E2"].number_format == "@"


# What comes back

MORNING = datetime.fromisoformat("2026-03-01T09:30:15")
VALUES: list[Cell] = [
    "SO-1", "007", "1E5", "8400000000017", "ñandú €", "two\nlines", "  spaced  ", "a,b;c\td",
    "<b>&amp;</b>", "_x0041_", "_x005F_", "a\rb", "a\r\nb", "#N/A", "#REF!", "TRUE", "😀",
    0, -1, 12, Decimal("12.5"), Decimal("0.000001"), True, False,
    date(2026, 1, 31), date(1900, 3, 1), date(9999, 12, 31), MORNING,
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_cell_comes_back_as_it_was(value: Cell) -> None:
    (_, cells) = read_back(one_cell(value))
    assert cells[ADDED + 1] == (float(value) if isinstance(value, Decimal) else value)
    assert isinstance(value, str) == isinstance(cells[ADDED + 1], str)
    assert isinstance(value, bool) == isinstance(cells[ADDED + 1], bool)


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")))
def test_any_text_comes_back_as_it_was(text: str) -> None:
    (_, cells) = read_back(one_cell(text))
    assert cells[ADDED + 1] == text


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (12345678901234567890, "12345678901234567890"),
        (Decimal("0.12345678901234567890"), "0.12345678901234567890"),
        (date(1875, 5, 1), "1875-05-01"),
        (time(9, 30), "09:30:00"),
        (InvalidCell("#REF!"), "#REF!"),
        (datetime(2026, 3, 1, 9, 30, tzinfo=UTC), "2026-03-01T09:30:00+00:00"),
    ],
)
def test_what_a_spreadsheet_cannot_hold_comes_back_as_text(value: Cell, written: str) -> None:
    assert read_back(one_cell(value))[1][ADDED + 1] == written


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a\x00b\x1fc", "a␀b␟c"),
        ("half \ud83d of a pair", "half \ufffd of a pair"),
        ("no \ufffe character", "no \ufffd character"),
    ],
)
def test_characters_that_xml_does_not_allow_are_shown_as_signs(value: str, shown: str) -> None:
    assert read_back(one_cell(value))[1][ADDED + 1] == shown
    assert read_back(report(header=[value, "Name"]))[0][ADDED] == shown


def test_text_is_cut_where_a_cell_ends() -> None:
    assert read_back(one_cell("x" * 32_768))[1][ADDED + 1] == "x" * 32_767
    assert read_back(one_cell("😀" * 32_767))[1][ADDED + 1] == "😀" * 16_383


def test_a_sheet_has_no_more_columns_than_a_spreadsheet_can_hold() -> None:
    header = [f"Column {number}" for number in range(16_384)]
    book = report(row(*range(16_384)), header=header)
    assert [len(cells) for cells in read_back(book)] == [16_384, 16_384]


# Formulas

FORMULAS = [
    "=1+1", "=CMD|' /C calc'!A0", "+1+1", "-1+1", "@SUM(A1)", "\t=1+1", "\r=1+1", "  =1+1",
    "\u3000=1+1", "\uff1d1+1", "\uff0b1", "\uff0d1", "\uff20SUM(A1)", "\ufe661+1", "=",
    '=HYPERLINK("http://x", "y")', "==", "=1+1\n=2+2", "\n=1",
]  # fmt: skip
HARMLESS = ["'=1+1", "{=1+1}", "%0A-3+3", "CAB-TE-1R0"]


@pytest.mark.parametrize("text", FORMULAS + HARMLESS, ids=ascii)
def test_text_never_comes_back_as_a_formula(text: str) -> None:
    book = report(row("SO-1", text), header=["Reference", text])
    for number in (1, 2):
        cell = sheet(book).cell(number, ADDED + 2)
        assert cell.data_type == "s"
        assert read_back(book)[number - 1][ADDED + 1] == text
    assert b"<f" not in ZipFile(BytesIO(book)).read("xl/worksheets/sheet1.xml")


def test_a_message_that_quotes_a_formula_is_none() -> None:
    problem = RowProblem(None, "=field", "=cmd|x is not known")
    book = sheet(report(RejectedRow(2, ["A"], [problem])))
    assert [book["B2"].data_type, book["C2"].data_type] == ["s", "s"]


@pytest.mark.parametrize("text", FORMULAS, ids=ascii)
def test_what_looks_like_a_formula_is_marked_as_text_for_whoever_edits_it(text: str) -> None:
    assert sheet(one_cell(text))["E2"].quotePrefix


@pytest.mark.parametrize("text", HARMLESS)
def test_other_text_is_not(text: str) -> None:
    assert not sheet(one_cell(text))["E2"].quotePrefix


# How much


def test_it_can_be_written_to_a_file(tmp_path: Path) -> None:
    write_report([row("SO-1")], HEADER, "en", tmp_path / "report.xlsx")
    with (tmp_path / "report.xlsx").open("rb") as file:
        assert len(load_workbook(file).get_sheet_by_index(0).to_python()) == 2


def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    def rows(most: int) -> Iterator[RejectedRow]:
        for number in range(most):
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
    # A hundred bytes a cell or more, if they were all held at once: 6 MB.
    assert peak < 1_000_000
