"""A sheet of an import, and how it is written: .xlsx, .csv, .csv as Windows writes it."""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from io import StringIO

from openpyxl import Workbook
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter
from shared.integration.imports.templates.reproducible_workbook import workbook_bytes

from shared.integration.imports.files.columns import ImportKind, Language
from shared.integration.imports.kinds.layouts import LAYOUTS

type Value = str | int | Decimal | date | None
type Record = dict[str, Value]
"""Field → value of one row."""

_WIDTH = 16


@dataclass(frozen=True, slots=True)
class Sheet:
    """The rows of a file, its header first."""

    kind: ImportKind
    rows: Sequence[Sequence[Value]]


def sheet(
    kind: ImportKind, language: Language, fields: Sequence[str], records: Sequence[Record]
) -> Sheet:
    """Make a sheet with the columns of some fields."""
    columns = LAYOUTS[kind].by_field
    header = [columns[field].header.in_(language) for field in fields]
    return Sheet(kind, [header, *([record.get(field) for field in fields] for record in records)])


def xlsx(sheet: Sheet) -> bytes:
    """Write a sheet as .xlsx: dates and numbers as such, codes as text."""
    book = Workbook()
    page = book.worksheets[0]
    page.title = LAYOUTS[sheet.kind].title.en
    page.freeze_panes = "A2"
    for at, row in enumerate(sheet.rows, 1):
        for column, value in enumerate(row, 1):
            if value is not None:
                cell = page.cell(at, column, value)
                cell.data_type = "s" if isinstance(value, str) else cell.data_type
    for title in page[1]:
        title.font = Font("Calibri", 11, bold=True)
        page.column_dimensions[get_column_letter(title.column or 1)].width = _WIDTH
    return workbook_bytes(book)


def plain_csv(sheet: Sheet) -> bytes:
    """Write a sheet as .csv in UTF-8, with commas, points and ISO dates."""
    return _csv(sheet, _plain, separator=",", line_end="\n").encode()


def windows_csv(sheet: Sheet) -> bytes:
    """Write a sheet as a Spanish Excel does: Windows-1252, semicolons, decimal commas."""
    return _csv(sheet, _spanish, separator=";", line_end="\r\n").encode("cp1252")


def _csv(sheet: Sheet, written: Callable[[Value], str], *, separator: str, line_end: str) -> str:
    lines = StringIO(newline="")
    writer = csv.writer(lines, delimiter=separator, lineterminator=line_end)
    for row in sheet.rows:
        writer.writerow([written(value) for value in row])
    return lines.getvalue()


def _plain(value: Value) -> str:
    return "" if value is None else str(value)


def _spanish(value: Value) -> str:
    match value:
        case date():
            return f"{value:%d/%m/%Y}"
        case int() | Decimal():
            return f"{value:,}".translate(str.maketrans(",.", ".,"))
        case _:
            return value or ""
