"""Rejected rows, and the columns that an error report adds to them."""

from collections.abc import Sequence
from dataclasses import dataclass

from shared.integration.imports.files.columns import normalize_header
from shared.integration.imports.languages import BilingualText
from shared.kernel.spreadsheets.table import Cell

REPORT_MEDIA = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
REPORT_HEADERS = (
    BilingualText("Error: row", "Error: fila"),
    BilingualText("Error: field", "Error: campo"),
    BilingualText("Error: reason", "Error: motivo"),
)
"""The columns that the report adds before the columns of the file.

No layout has them, so that they are ignored when a corrected report is uploaded.
"""

SKIPPED_SHEET = BilingualText("Skipped", "Omitidas")
"""Title of the sheet with the rows that are skipped because they differ from what exists."""

_NORMALIZED_HEADERS = {
    normalize_header(name) for header in REPORT_HEADERS for name in (header.en, header.es)
}


@dataclass(frozen=True, slots=True)
class RowProblem:
    """A problem of a row.

    Attributes:
        column: The index of the cell, or None if the problem concerns no cell of the file.
        field: The field that the report names if the column has no header.
        message: What is wrong.
    """

    column: int | None
    field: str
    message: str


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that is not applied: its number in the file, its cells, and its problems."""

    number: int
    cells: Sequence[Cell]
    problems: Sequence[RowProblem]


def is_report_header(header: str) -> bool:
    """Return whether an error report has added the column."""
    return normalize_header(header) in _NORMALIZED_HEADERS
