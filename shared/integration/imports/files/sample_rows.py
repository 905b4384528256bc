"""The sample row of a template: what it holds, and how it is recognised on upload."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal, InvalidOperation

from shared.integration.imports.files.columns import Column, Form, Language, Layout
from shared.kernel.db.facets import fold
from shared.kernel.spreadsheets.table import Cell

_DAY = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})", re.ASCII)


def sample_cell(column: Column, language: Language) -> str | int | Decimal | date:
    """Return what the sample row of a template holds in a column."""
    example = column.example.in_(language)
    match column.form:
        case "number":
            return Decimal(example)
        case "whole":
            return int(example)
        case "day":
            return date.fromisoformat(example)
        case _:
            return example


def is_sample(layout: Layout, values: Mapping[str, Cell]) -> bool:
    """Tell whether a row (field → cell) is the sample row of a template, in either language.

    Columns that are not required may be empty or missing; what is there must be as it was,
    but for the way in which a spreadsheet writes it.
    """
    given = {
        field: plain
        for field, cell in values.items()
        if (plain := _plain(cell, layout.by_field[field].form))
    }
    return all(
        given[column.field] in _examples(column) if column.field in given else not column.required
        for column in layout.columns
    )


def _examples(column: Column) -> set[str]:
    words = column.example
    return {_plain(words.en, column.form), _plain(words.es, column.form)}


def _plain(cell: Cell, form: Form) -> str:
    """Write a cell so that all ways of showing one value are the same."""
    if isinstance(cell, datetime) and form == "day":
        cell = cell.date()
    written = "" if cell is None else " ".join(fold(str(cell)).split())
    if form in {"number", "whole"}:
        try:
            return f"{Decimal(written.replace(',', '.')).normalize():f}"
        except InvalidOperation:
            return written
    day = _DAY.fullmatch(written) if form == "day" else None
    return f"{day[3]}-{day[2]:0>2}-{day[1]:0>2}" if day else written
