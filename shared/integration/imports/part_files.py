"""What a worker leaves for the next one: checked units and rejected rows, in files of their own.

A part is written once, under a name that nobody else uses; it counts from the moment at
which the import's record names it.
"""

import gzip
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, time
from typing import Any

from shared.integration.imports.files.cells import text
from shared.integration.imports.files.row_groups import Unit
from shared.integration.imports.report.rejected_rows import RejectedRow, RowProblem
from shared.kernel.json_text import dumps, loads
from shared.kernel.spreadsheets.table import BadCell, Cell, Row
from shared.kernel.tenant_files import Folder

_MEDIA = "application/gzip"


@dataclass(frozen=True, slots=True)
class CheckedUnit:
    """A valid unit: its rows as they were, and its raw body."""

    rows: list[Row]
    body: dict[str, Any]


def folder_of(number: int) -> str:
    """Return where an import keeps its files."""
    return f"imports/{number}"


def write_units(files: Folder, number: int, units: Iterable[Unit]) -> str:
    """Write checked units; the name of the part."""
    lines = (
        {"rows": [[row.number, _plain(row.cells)] for row in unit.rows], "body": unit.body}
        for unit in units
    )
    return _write(files, number, lines)


def read_units(files: Folder, number: int, name: str) -> list[CheckedUnit]:
    """Read the units of a part; FileMissing when it is gone."""
    return [
        CheckedUnit([Row(at, cells) for at, cells in line["rows"]], line["body"])
        for line in _read(files, number, name)
    ]


def write_rejected(files: Folder, number: int, rows: Iterable[RejectedRow]) -> str:
    """Write rejected rows; the name of the part."""
    lines = (
        {
            "row": row.number,
            "cells": _plain(row.cells),
            "problems": [[one.column, one.field, one.message] for one in row.problems],
        }
        for row in rows
    )
    return _write(files, number, lines)


def read_rejected(files: Folder, number: int, name: str) -> Iterator[RejectedRow]:
    """Read the rejected rows of a part; FileMissing when it is gone."""
    for line in _read(files, number, name):
        problems = [RowProblem(*problem) for problem in line["problems"]]
        yield RejectedRow(line["row"], line["cells"], problems)


def rejected_rows(unit: Unit) -> Iterator[RejectedRow]:
    """Yield the rows of a unit that is rejected, which it is as a whole."""
    bad = min(unit.problems)
    for row in unit.rows:
        problems = unit.problems.get(row.number) or [
            RowProblem(None, "", f"is rejected with its document, because of row {bad}")
        ]
        yield RejectedRow(row.number, row.cells, problems)


def _write(files: Folder, number: int, lines: Iterable[object]) -> str:
    name = secrets.token_hex(4)
    content = "\n".join(dumps(line) for line in lines)
    files.put(_path(number, name), gzip.compress(content.encode(), 1), _MEDIA)
    return name


def _read(files: Folder, number: int, name: str) -> Iterator[Any]:
    content = gzip.decompress(files.read(_path(number, name))).decode()
    # Not splitlines(): cells may hold other line separators.
    yield from (loads(line) for line in content.split("\n"))


def _path(number: int, name: str) -> str:
    return f"{folder_of(number)}/parts/{name}.jsonl.gz"


def _plain(cells: Iterable[Cell]) -> list[object]:
    """Write cells as JSON can have them."""
    return [
        cell.text
        if isinstance(cell, BadCell)
        else text(cell)
        if isinstance(cell, date | time)
        else cell
        for cell in cells
    ]
