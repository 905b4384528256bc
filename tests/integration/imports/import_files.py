"""Import files as people make them, and their error reports as people read them."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO, StringIO
from typing import Any

from openpyxl import Workbook, load_workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.worksheet.worksheet import Worksheet

from shared.integration.imports.files.columns import ImportKind, Language
from shared.integration.imports.kinds.layouts import LAYOUTS

type Record = Mapping[str, object]
"""A row: field of the layout → what its cell holds."""


def table(
    kind: ImportKind,
    records: Sequence[Record],
    *,
    language: Language = "en",
    backwards: bool = False,
    strange: str | None = None,
) -> list[list[object]]:
    """Write rows below their header: the columns that any row fills.

    `strange` is the header of a further column that no layout knows.
    """
    used = [column for column in LAYOUTS[kind].columns if any(column.field in r for r in records)]
    columns = used[::-1] if backwards else used
    header: list[object] = [column.header.in_(language) for column in columns]
    rows = [[record.get(column.field) for column in columns] for record in records]
    if strange:
        header.insert(1, strange)
        for number, row in enumerate(rows):
            row.insert(1, f"note {number}")
    return [header, *rows]


def as_csv(rows: Iterable[Sequence[object]], *, separator: str = ",") -> bytes:
    """Write a .csv in UTF-8."""
    out = StringIO()
    csv.writer(out, delimiter=separator).writerows(rows)
    return out.getvalue().encode()


def as_xlsx(rows: Iterable[Sequence[object]]) -> bytes:
    """Write a workbook of one sheet."""
    book = Workbook()
    sheet = book.worksheets[0]
    for row in rows:
        sheet.append([as_text(sheet, value) for value in row])
    return saved(book)


def as_text(sheet: Worksheet, value: object) -> object:
    """Have a text that looks like a formula written as the text that it is."""
    if not (isinstance(value, str) and value.startswith("=")):
        return value
    made = WriteOnlyCell(sheet, value)
    made.data_type = "s"
    return made


def saved(book: Workbook) -> bytes:
    """Save a workbook."""
    out = BytesIO()
    book.save(out)
    return out.getvalue()


def document_records(
    body: Mapping[str, Any], *, line_fields: Mapping[str, str] | None = None
) -> Iterator[dict[str, object]]:
    """Write a document or transfer order as rows, one for each of its lines."""
    head = {name: value for name, value in body.items() if name != "lines"}
    for line in body["lines"]:
        cells = {name: cell(value) for name, value in line.items()}
        yield {**head, **{(line_fields or {}).get(name, name): v for name, v in cells.items()}}


def cell(value: object) -> object:
    """Write what a body has as one cell: lists separated by commas, flags as words."""
    if isinstance(value, list):
        return ", ".join(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value


type Complaint = tuple[int, str, str]
"""Row, header of the column, reason."""


def report_rows(report: bytes) -> list[list[Any]]:
    """Read an error report, its header first."""
    [sheet] = load_workbook(BytesIO(report)).worksheets
    return [list(row) for row in sheet.iter_rows(values_only=True)]


def complaints(report: bytes) -> set[Complaint]:
    """Read what an error report says of which cell."""
    found: set[Complaint] = set()
    for row, fields, reasons, *_ in report_rows(report)[1:]:
        named = (fields or "").split("\n")
        told = reasons.split("\n")
        assert len(named) == len(told)
        found |= {(row, field, reason) for field, reason in zip(named, told, strict=True)}
    return found
