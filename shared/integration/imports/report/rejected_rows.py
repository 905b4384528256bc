"""The error report of an import: every rejected row as it was sent, with what is wrong with it."""

from collections.abc import Sequence
from dataclasses import dataclass

from shared.integration.imports.files.columns import Words, header_key
from shared.kernel.spreadsheets.table import Cell

REPORT_HEADERS = (
    Words("Error: row", "Error: fila"),
    Words("Error: field", "Error: campo"),
    Words("Error: reason", "Error: motivo"),
)
"""What the report puts before the columns of the file.

No layout knows them, so a corrected report can be uploaded as it is: they are ignored.
"""

_OURS = {header_key(name) for words in REPORT_HEADERS for name in (words.en, words.es)}


@dataclass(frozen=True, slots=True)
class RowProblem:
    """One thing that is wrong with a row.

    `column` is the cell, counted from 0, None when it is no cell of the file; `field` is what
    the report calls it where the column has no header.
    """

    column: int | None
    field: str
    message: str


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that cannot be applied: its number in the file, its cells, all its problems."""

    number: int
    cells: Sequence[Cell]
    problems: Sequence[RowProblem]


def is_of_report(header: str) -> bool:
    """Tell whether a column was added by an error report."""
    return header_key(header) in _OURS
