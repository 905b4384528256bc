"""Writes import files, and reads error reports."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO, StringIO
from typing import Any

from openpyxl import Workbook, load_workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.worksheet.worksheet import Worksheet

from shared.integration.imports.files.columns import metadata_column, metadata_name
from shared.integration.imports.kinds.registry import importer_of
from shared.integration.imports.languages import Language
from shared.integration.imports.models import ImportKind

type RowValues = Mapping[str, object]
"""The cells of a row by field."""

_ENTRY: RowValues = {
    "type": "purchase_order", "doc_date": "2026-03-01", "partner_code": "V-1",
    "warehouse_code": "YARD", "item_code": "BRICK", "qty": "1",
}  # fmt: skip


def entry_row(reference: str, **cells: object) -> RowValues:
    """Return a row of an entry document, valid except for the given cells."""
    return {"external_ref": reference, **_ENTRY, **cells}


def table(
    kind: ImportKind,
    rows: Sequence[RowValues],
    *,
    language: Language = "en",
    reverse_columns: bool = False,
    extra_header: str | None = None,
) -> list[list[object]]:
    """Return a header and rows, with the columns that any row fills.

    Args:
        kind: The import kind.
        rows: The cells of each row by field.
        language: The language of the header.
        reverse_columns: Whether the columns are in reverse order.
        extra_header: The header of an additional column that no layout has.
    """
    columns = [
        column
        for column in importer_of(kind).layout.columns
        if any(column.field in row for row in rows)
    ]
    names = dict.fromkeys(name for row in rows for name in row if metadata_name(name) is not None)
    columns += map(metadata_column, names)
    if reverse_columns:
        columns.reverse()
    header: list[object] = [column.header.in_(language) for column in columns]
    cells = [[row.get(column.field) for column in columns] for row in rows]
    if extra_header:
        header.insert(1, extra_header)
        for number, row_cells in enumerate(cells):
            row_cells.insert(1, f"note {number}")
    return [header, *cells]


def as_csv(rows: Iterable[Sequence[object]], *, separator: str = ",") -> bytes:
    """Return rows as .csv in UTF-8."""
    out = StringIO()
    csv.writer(out, delimiter=separator).writerows(rows)
    return out.getvalue().encode()


def as_xlsx(rows: Iterable[Sequence[object]]) -> bytes:
    """Return rows as a workbook with one sheet."""
    book = Workbook()
    sheet = book.worksheets[0]
    for row in rows:
        sheet.append([_text_or_value(sheet, value) for value in row])
    return workbook_bytes(book)


def _text_or_value(sheet: Worksheet, value: object) -> object:
    """Return a text cell for text that openpyxl would write as a formula."""
    if not (isinstance(value, str) and value.startswith("=")):
        return value
    cell = WriteOnlyCell(sheet, value)
    cell.data_type = "s"
    return cell


def workbook_bytes(book: Workbook) -> bytes:
    """Return a workbook as .xlsx."""
    out = BytesIO()
    book.save(out)
    return out.getvalue()


def document_rows(body: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    """Yield a row for each line of a document or transfer order."""
    head = dict(_head_cells(body))
    for line in body["lines"]:
        yield {**head, **cells(line, of_line=True)}


def cells(body: Mapping[str, Any], *, of_line: bool = False) -> dict[str, object]:
    """Return a body or line as cells, by field; metadata has a cell for each name."""
    prefix = "lines.metadata." if of_line else "metadata."
    texts = {prefix + name: text for name, text in body.get("metadata", {}).items()}
    others = {name: cell_value(value) for name, value in body.items() if name != "metadata"}
    if of_line and "external_ref" in others:
        others["line_external_ref"] = others.pop("external_ref")
    return {**others, **texts}


def _head_cells(body: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for name, value in body.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{part}", inner) for part, inner in value.items())
        elif name != "lines":
            yield name, value


def cell_value(value: object) -> object:
    """Return a value of a body as one cell: lists separated by commas, booleans as words."""
    if isinstance(value, list):
        return ", ".join(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value


type ReportedProblem = tuple[int, str, str]
"""Row, header of the column, reason."""


def report_rows(report: bytes, sheet: int = 0) -> list[list[Any]]:
    """Return the rows of a sheet of an error report, the header first."""
    sheets = load_workbook(BytesIO(report)).worksheets
    return [list(row) for row in sheets[sheet].iter_rows(values_only=True)]


def reported_problems(report: bytes, sheet: int = 0) -> set[ReportedProblem]:
    """Return all problems in a sheet of an error report."""
    problems: set[ReportedProblem] = set()
    for row, fields, reasons, *_ in report_rows(report, sheet)[1:]:
        names = (fields or "").split("\n")
        messages = reasons.split("\n")
        assert len(names) == len(messages)
        problems |= {(row, name, message) for name, message in zip(names, messages, strict=True)}
    return problems
