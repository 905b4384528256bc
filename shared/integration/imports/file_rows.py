"""Rows of uploaded files that are no imports, read as imports read theirs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from shared.integration.imports.files.reader import read_file
from shared.integration.imports.files.row_groups import RowGrouper
from shared.integration.imports.upload_checks import ensure_acceptable, safe_file_name
from shared.kernel.errors import Problem
from shared.kernel.spreadsheets.table import UnreadableFile


@dataclass(frozen=True, slots=True)
class FileRow:
    """A row: its number, the values of its fields, and the problems of its cells."""

    number: int
    body: dict[str, object]
    problems: Sequence[Problem]


@dataclass(frozen=True, slots=True)
class FileRows:
    """The rows of a file, or what is wrong with the file as a whole."""

    rows: Sequence[FileRow] = ()
    errors: Sequence[str] = ()


def read_quantities(path: Path, name: str, *, timezone: str, max_rows: int) -> FileRows:
    """Read the rows of a file of quantities on hand that was uploaded under a name."""
    # Imported here because the words of columns are large, and most requests read no file.
    layout = import_module("shared.integration.imports.quantity_columns").QUANTITIES
    try:
        file = read_file(path, name, layout, max_rows=max_rows)
    except UnreadableFile as error:
        return FileRows(errors=[str(error)])
    if file.structure_errors:
        return FileRows(errors=file.structure_errors)
    return FileRows(list(_rows(RowGrouper(file, layout, timezone))))


def _rows(grouper: RowGrouper) -> Iterator[FileRow]:
    for group in grouper.groups():
        [row] = group.rows
        problems = [
            Problem(one.field, one.message) for found in group.problems.values() for one in found
        ]
        yield FileRow(row.number, group.body, problems)


__all__ = ["FileRow", "FileRows", "ensure_acceptable", "read_quantities", "safe_file_name"]
