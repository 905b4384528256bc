"""Part files: valid row groups and rejected rows, stored between validation, commit and report.

A part file is written once, under a unique random name. It takes effect when the import record
refers to it.
"""

import gzip
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from typing import Any

from shared.integration.imports.files.cells import cell_text
from shared.integration.imports.files.row_groups import RowGroup
from shared.integration.imports.report.rejected_rows import RejectedRow, RowProblem
from shared.kernel.db.items import inflate
from shared.kernel.json_text import dumps, loads
from shared.kernel.spreadsheets.table import Cell, InvalidCell, Row
from shared.kernel.tenant_files import TenantFiles

_MEDIA = "application/gzip"
_MAX_BYTES = 128 << 20
"""The 64,000,000 characters that a file may have, as rows and as bodies."""


@dataclass(frozen=True, slots=True)
class ValidGroup:
    """A valid row group: its rows as uploaded, and its raw body."""

    rows: list[Row]
    body: dict[str, Any]


def folder_of(import_id: int) -> str:
    """Return the folder of an import among the work files of the tenant."""
    return f"imports/{import_id}"


def write_groups(files: TenantFiles, import_id: int, groups: Iterable[RowGroup]) -> str:
    """Write valid row groups, and return the name of the part file."""
    entries = (
        {"rows": [[row.number, _json_cells(row.cells)] for row in group.rows], "body": group.body}
        for group in groups
    )
    return _write(files, import_id, entries)


def read_groups(files: TenantFiles, import_id: int, name: str) -> list[ValidGroup]:
    """Read the row groups of a part file.

    Raises:
        FileMissing: The part file does not exist.
    """
    return [
        ValidGroup([Row(number, _cells(cells)) for number, cells in entry["rows"]], entry["body"])
        for entry in _read(files, import_id, name)
    ]


def write_rejected(files: TenantFiles, import_id: int, rows: Iterable[RejectedRow]) -> str:
    """Write rejected rows, and return the name of the part file."""
    entries = (
        {
            "row": row.number,
            "cells": _json_cells(row.cells),
            "problems": [[one.column, one.field, one.message] for one in row.problems],
        }
        for row in rows
    )
    return _write(files, import_id, entries)


def read_rejected(files: TenantFiles, import_id: int, name: str) -> Iterator[RejectedRow]:
    """Yield the rejected rows of a part file.

    Raises:
        FileMissing: The part file does not exist.
    """
    for entry in _read(files, import_id, name):
        problems = [RowProblem(*problem) for problem in entry["problems"]]
        yield RejectedRow(entry["row"], _cells(entry["cells"]), problems)


def rejected_rows(group: RowGroup) -> Iterator[RejectedRow]:
    """Yield all rows of a row group with problems: it is rejected as a whole."""
    first_bad_row = min(group.problems)
    for row in group.rows:
        problems = group.problems.get(row.number) or [
            RowProblem(None, "", f"rejected because row {first_bad_row} of the document has errors")
        ]
        yield RejectedRow(row.number, row.cells, problems)


def skipped_rows(
    rows: Sequence[Row], differing: Mapping[int, Sequence[RowProblem]]
) -> Iterator[RejectedRow]:
    """Yield the rows of a row group that is skipped because it differs from what exists."""
    first = min(differing)
    for row in rows:
        problems = differing.get(row.number) or [
            RowProblem(None, "", f"skipped because row {first} of the document differs")
        ]
        yield RejectedRow(row.number, row.cells, problems)


def _write(files: TenantFiles, import_id: int, entries: Iterable[object]) -> str:
    name = secrets.token_hex(4)
    content = "\n".join(dumps(entry) for entry in entries)
    files.put(_path(import_id, name), gzip.compress(content.encode(), 1), _MEDIA)
    return name


def _read(files: TenantFiles, import_id: int, name: str) -> Iterator[Any]:
    content = inflate(files.read(_path(import_id, name)), _MAX_BYTES).decode()
    # Not splitlines(), because cells may contain other line separators.
    yield from (loads(line) for line in content.split("\n"))


def _path(import_id: int, name: str) -> str:
    return f"{folder_of(import_id)}/parts/{name}.jsonl.gz"


def _json_cells(cells: Iterable[Cell]) -> list[object]:
    """Return cells as JSON values."""
    return [
        {"invalid": cell.text}
        if isinstance(cell, InvalidCell)
        else cell_text(cell)
        if isinstance(cell, date | time)
        else cell
        for cell in cells
    ]


def _cells(values: Iterable[Any]) -> list[Cell]:
    """Return the cells that `_json_cells` has written; dates and times remain text."""
    return [InvalidCell(value["invalid"]) if isinstance(value, dict) else value for value in values]
