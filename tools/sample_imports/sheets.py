"""A sheet of an import file, which is written as .xlsx, as .csv, or as .csv in Windows-1252."""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from io import StringIO

from openpyxl import Workbook
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter

from shared.integration.imports.files.columns import metadata_name
from shared.integration.imports.kinds.registry import importer_of
from shared.integration.imports.languages import Language
from shared.integration.imports.models import ImportKind
from shared.integration.imports.template import workbook_bytes

type CellValue = str | int | Decimal | date | None
type RowValues = dict[str, CellValue]
"""The values of one row by field."""

_WIDTH = 16


@dataclass(frozen=True, slots=True)
class ImportSheet:
    """The rows of a file, its header first."""

    kind: ImportKind
    rows: Sequence[Sequence[CellValue]]


def sheet(
    kind: ImportKind, language: Language, fields: Sequence[str], rows: Sequence[RowValues]
) -> ImportSheet:
    """Return a sheet with the columns of `fields`; those of metadata have their names."""
    columns = importer_of(kind).layout.by_field
    header = [
        field if metadata_name(field) else columns[field].header.in_(language) for field in fields
    ]
    return ImportSheet(
        kind, [header, *([row_values.get(field) for field in fields] for row_values in rows)]
    )


def xlsx(sheet: ImportSheet) -> bytes:
    """Return a sheet as .xlsx, with date and number cells, and codes as text."""
    book = Workbook()
    worksheet = book.worksheets[0]
    worksheet.title = importer_of(sheet.kind).layout.title.en
    worksheet.freeze_panes = "A2"
    for number, row in enumerate(sheet.rows, 1):
        for column, value in enumerate(row, 1):
            if value is not None:
                cell = worksheet.cell(number, column, value)
                cell.data_type = "s" if isinstance(value, str) else cell.data_type
    for title in worksheet[1]:
        title.font = Font("Calibri", 11, bold=True)
        worksheet.column_dimensions[get_column_letter(title.column or 1)].width = _WIDTH
    return workbook_bytes(book)


def plain_csv(sheet: ImportSheet) -> bytes:
    """Return a sheet as .csv in UTF-8, with commas, decimal points and ISO dates."""
    return _csv(sheet, _plain_text, separator=",", line_end="\n").encode()


def windows_csv(sheet: ImportSheet) -> bytes:
    """Return a sheet as a Spanish Excel saves it: Windows-1252, semicolons, decimal commas."""
    return _csv(sheet, _spanish_text, separator=";", line_end="\r\n").encode("cp1252")


def _csv(
    sheet: ImportSheet, format_value: Callable[[CellValue], str], *, separator: str, line_end: str
) -> str:
    lines = StringIO(newline="")
    writer = csv.writer(lines, delimiter=separator, lineterminator=line_end)
    for row in sheet.rows:
        writer.writerow([format_value(value) for value in row])
    return lines.getvalue()


def _plain_text(value: CellValue) -> str:
    return "" if value is None else str(value)


def _spanish_text(value: CellValue) -> str:
    match value:
        case date():
            return f"{value:%d/%m/%Y}"
        case int() | Decimal():
            return f"{value:,}".translate(str.maketrans(",.", ".,"))
        case _:
            return value or ""
