"""An error report can be corrected and uploaded as it is."""

from pathlib import Path

import openpyxl
import pytest

from shared.integration.imports.files.columns import LANGUAGES, ImportKind, Language
from shared.integration.imports.files.reader import FileRows, read_file
from shared.integration.imports.report.rejected_rows import RejectedRow, RowProblem
from shared.integration.imports.report.workbook import write_report
from tools.sample_imports.__main__ import FOLDER

ORDERS: ImportKind = "exit_documents"


def read(path: Path) -> FileRows:
    file = read_file(path, path.name, ORDERS, most_rows=2000)
    assert list(file.flaws) == []
    return file


def reported(file: FileRows, language: Language, path: Path) -> FileRows:
    """The rows of a file, read from a report that rejects all of them."""
    rejected = [
        RejectedRow(row.number, row.cells, [RowProblem(11, "qty", "must be more than 0")])
        for row in file.rows
    ]
    write_report(rejected, file.header, language, path)
    return read(path)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["orders.xlsx", "orders.csv", "orders-with-errors.csv"])
def test_what_is_uploaded_again_is_what_was_sent(
    name: str, language: Language, tmp_path: Path
) -> None:
    sent = read(FOLDER / name)
    again = reported(sent, language, tmp_path / "report.xlsx")
    own = len(again.header) - len(sent.header)
    assert again.header[own:] == sent.header
    assert [(place - own, column) for place, column in again.columns] == list(sent.columns)
    shown = [[*row.cells[own:]] for row in again.rows]
    # the signs for what a workbook cannot hold stand for that
    assert shown == [
        [
            cell.replace("\x07", "\u2407").replace("\x1b", "\u241b")
            if isinstance(cell, str)
            else cell
            for cell in row.cells
        ]
        for row in sent.rows
    ]


def test_a_report_of_a_corrected_report_has_one_set_of_reasons(tmp_path: Path) -> None:
    first = reported(read(FOLDER / "orders.csv"), "en", tmp_path / "first.xlsx")
    second = reported(first, "es", tmp_path / "second.xlsx")
    assert second.header[:3] == ["Error: fila", "Error: campo", "Error: motivo"]
    assert second.header[3:] == first.header[3:]


def test_a_cell_that_was_corrected_by_hand_is_read_as_it_was_typed(tmp_path: Path) -> None:
    path = tmp_path / "report.xlsx"
    reported(read(FOLDER / "orders.csv"), "en", path)
    book = openpyxl.load_workbook(path)
    book.worksheets[0]["O2"] = 12
    book.worksheets[0]["N2"] = "0012"
    book.save(path)
    places = {column.field: place for place, column in read(path).columns}
    cells = read(path).rows[0].cells
    assert (cells[places["item_code"]], cells[places["qty"]]) == ("0012", 12)
