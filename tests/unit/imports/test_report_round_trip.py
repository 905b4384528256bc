"""An error report can be corrected and uploaded."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import openpyxl
import pytest

from shared.integration.imports.files.reader import ParsedFile, read_file
from shared.integration.imports.languages import LANGUAGES, Language
from shared.integration.imports.models import ImportKind
from shared.integration.imports.report.rejected_rows import RejectedRow, RowProblem
from shared.integration.imports.report.workbook import write_report
from shared.kernel.spreadsheets.table import UnreadableFile

FOLDER = Path(__file__).parents[3] / "sample" / "imports"
ORDERS: ImportKind = "exit_documents"


def read(path: Path) -> ParsedFile:
    file = read_file(path, path.name, ORDERS, max_rows=2000)
    assert list(file.structure_errors) == []
    return file


def reported(file: ParsedFile, language: Language, path: Path) -> ParsedFile:
    """Return the rows of a file as read from a report that rejects all of them."""
    rejected = [
        RejectedRow(row.number, row.cells, [RowProblem(11, "qty", "must be more than 0")])
        for row in file.rows
    ]
    write_report(rejected, file.header, language, path)
    return read(path)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["orders.csv", "orders-with-errors.csv"])
def test_an_uploaded_report_has_the_rows_of_the_file(
    name: str, language: Language, tmp_path: Path
) -> None:
    sent = read(FOLDER / name)
    report = reported(sent, language, tmp_path / "report.xlsx")
    added = len(report.header) - len(sent.header)
    assert report.header[added:] == sent.header
    assert [(index - added, column) for index, column in report.columns] == list(sent.columns)
    shown = [[*row.cells[added:]] for row in report.rows]
    assert shown == [[*row.cells] for row in sent.rows]


def test_cells_of_a_workbook_are_typed_after_its_report(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.append(
        ["Reference", "Type", "Document date", "Client code", "Warehouse", "Item code", "Quantity"]
    )
    sheet.append(["SO-1", "Sales order", date(2026, 11, 2), "C", "CEN", "0012", 2.5])
    book.save(tmp_path / "orders.xlsx")
    sent = read(tmp_path / "orders.xlsx")
    report = reported(sent, "es", tmp_path / "report.xlsx")
    assert report.rows[0].cells[3:] == sent.rows[0].cells
    assert sent.rows[0].cells[-1] == Decimal("2.5")


def test_the_report_of_a_file_with_the_most_columns_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    header, row = (FOLDER / "orders.csv").read_text().splitlines()[:2]
    more = 256 - header.count(",") - 1
    path.write_text(f"{header}{',x' * more}\n{row}{',1' * more}\n")
    sent = read(path)
    assert [sent.width, len(sent.rows[0].cells)] == [256, 256]
    first = reported(sent, "en", tmp_path / "first.xlsx")
    second = reported(first, "en", tmp_path / "second.xlsx")
    assert second.rows[0].cells[3:] == first.rows[0].cells[3:] == sent.rows[0].cells


@pytest.mark.parametrize("wide", [0, 1])
def test_a_file_that_is_no_report_has_at_most_256_columns(wide: int, tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    lines = (FOLDER / "orders.csv").read_text().splitlines()[:2]
    lines[wide] += ",x" * (257 - lines[0].count(",") - 1)
    path.write_text("\n".join(lines))
    with pytest.raises(UnreadableFile, match=f"Row {wide + 1} has 257 cells, at most 256"):
        read(path)


@pytest.mark.parametrize(("other", "qty"), [("2,5", "1.25"), ("2.5", "1250")])
def test_a_number_of_a_report_is_that_of_the_file_without_its_other_rows(
    other: str, qty: str, tmp_path: Path
) -> None:
    path = tmp_path / "orders.csv"
    header = "Reference;Type;Document date;Client code;Warehouse;Item code;Quantity"
    rows = [f"{number};sale_order;2026-03-01;C;W;GHOST;{number}" for number in ("1,250", other)]
    path.write_text("\n".join([header, *rows]))
    sent = read(path)
    report = reported(replace(sent, rows=sent.rows[:1]), "en", tmp_path / "report.xlsx")
    assert report.rows[0].cells[3:] == sent.rows[0].cells
    assert report.rows[0].cells[3] == "1,250"
    assert report.rows[0].cells[-1] == Decimal(qty)


def test_a_report_of_a_report_has_the_report_columns_once(tmp_path: Path) -> None:
    first = reported(read(FOLDER / "orders.csv"), "en", tmp_path / "first.xlsx")
    second = reported(first, "es", tmp_path / "second.xlsx")
    assert second.header[:3] == ["Error: fila", "Error: campo", "Error: motivo"]
    assert second.header[3:] == first.header[3:]


def test_a_corrected_cell_is_read_as_typed(tmp_path: Path) -> None:
    path = tmp_path / "report.xlsx"
    reported(read(FOLDER / "orders.csv"), "en", path)
    book = openpyxl.load_workbook(path)
    sheet = book.worksheets[0]
    places = {str(cell.value): at for at, cell in enumerate(sheet[1], 1)}
    sheet.cell(2, places["Quantity"], 12)
    sheet.cell(2, places["Item code"], "0012")
    book.save(path)
    indexes = {column.field: index for index, column in read(path).columns}
    cells = read(path).rows[0].cells
    assert (cells[indexes["item_code"]], cells[indexes["qty"]]) == ("0012", 12)
