"""The sample row of a template: its cells, and how it is recognized in an uploaded file."""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal

from shared.integration.imports.files.cells import iso_day
from shared.integration.imports.files.columns import CellType, Column, FileLayout
from shared.integration.imports.languages import Language
from shared.kernel.db.facets import fold
from shared.kernel.fields import plain
from shared.kernel.spreadsheets.table import Cell


def sample_cell(column: Column, language: Language) -> str | int | Decimal | date:
    """Return the cell of `column` in the sample row of a template."""
    example = column.example.in_(language)
    match column.cell_type:
        case "decimal":
            return Decimal(example)
        case "integer":
            return int(example)
        case "date":
            return date.fromisoformat(example)
        case _:
            return example


def is_sample_row(layout: FileLayout, values: Mapping[str, Cell]) -> bool:
    """Return whether a row is the sample row of a template, in either language.

    Cells of optional columns may be empty or missing. All other cells must have the value of the
    sample row, in any of the formats in which spreadsheet programs save it. `values` are the cells
    of the row by field.
    """
    columns = layout.by_field
    given = {
        field: text
        for field, cell in values.items()
        if (
            text := _comparable_text(cell, columns[field].cell_type if field in columns else "text")
        )
    }
    return given.keys() <= columns.keys() and all(
        given[column.field] in _examples(column) if column.field in given else not column.required
        for column in layout.columns
    )


def _examples(column: Column) -> set[str]:
    example = column.example
    return {_comparable_text(text, column.cell_type) for text in (example.en, example.es)}


def _comparable_text(cell: Cell, cell_type: CellType) -> str:
    """Return the same text for all formats of one value."""
    if isinstance(cell, datetime) and cell_type == "date":
        cell = cell.date()
    text = "" if cell is None else " ".join(fold(str(cell)).split())
    if cell_type in {"decimal", "integer"}:
        try:
            return plain(Decimal(text.replace(",", ".")))
        except ArithmeticError:  # no number, or one that is too large for `decimal`
            return text
    return iso_day(text) if cell_type == "date" else text
