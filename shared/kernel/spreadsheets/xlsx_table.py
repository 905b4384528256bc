"""Reads .xlsx: python-calamine reads a normalized copy of the workbook."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO

from python_calamine import CalamineSheet, CalamineWorkbook

from shared.kernel.spreadsheets.normalized_workbook import (
    NormalizedWorkbook,
    write_normalized_workbook,
)
from shared.kernel.spreadsheets.number_formats import shown_number
from shared.kernel.spreadsheets.part_normalizer import INVALID_MARKER, NUMBER_MARKER
from shared.kernel.spreadsheets.table import (
    MAX_STRUCTURE_ERRORS,
    Cell,
    FormattedNumber,
    InvalidCell,
    Row,
    Table,
    UnreadableFile,
)
from shared.kernel.spreadsheets.xlsx_package import read_package
from shared.kernel.spreadsheets.zip_archive import ZipArchive

_MARKED_NUMBER = re.compile(NUMBER_MARKER + r"([0-9]{1,9});([-+.0-9Ee]{1,60})").fullmatch
_EXACT_BELOW = 2**53
"""Below this value, binary floats represent all integers exactly."""


class XlsxTable(Table):
    """The first visible sheet of an .xlsx.

    Args:
        file: The workbook; not needed after the constructor has returned.

    Raises:
        UnreadableFile: The workbook cannot be read.
    """

    def __init__(self, file: BinaryIO) -> None:
        archive = ZipArchive(file)
        with NamedTemporaryFile(suffix=".xlsx") as copy:
            normalized = write_normalized_workbook(archive, read_package(archive), copy)
            copy.flush()
            # The reader keeps the file open, so that its name is not needed any longer.
            self._book = _guarded(lambda: CalamineWorkbook.from_path(copy.name))
        self._sheets = normalized.sheets
        self._has_marked_cells = normalized.has_marked_cells
        self._formats = normalized.formats
        self.merged_at_top = normalized.merged_at_top
        self.structure_errors = self._structure_errors(normalized)

    def rows(self) -> Iterator[Row]:
        """Yield the rows that have a value, from the top."""
        for index in range(self._sheets):
            yield from self._rows_of_sheet(index)

    def _structure_errors(self, normalized: NormalizedWorkbook) -> Sequence[str]:
        errors = [
            f"{reference} contains a formula. Save the file with values instead of formulas."
            for reference in normalized.formulas
        ]
        last_row = self._last_row() if normalized.merged_below else 0
        errors += [one.error for one in normalized.merged_below if one.first_row <= last_row]
        return errors[:MAX_STRUCTURE_ERRORS]

    def _last_row(self) -> int:
        """Return the number of the last row that has a value; 0 if there is none."""
        for index in reversed(range(self._sheets)):
            if end := self._sheet(index).end:
                return end[0] + 1
        return 0

    def _sheet(self, index: int) -> CalamineSheet:
        return _guarded(lambda: self._book.get_sheet_by_index(index))

    def _rows_of_sheet(self, index: int) -> Iterator[Row]:
        sheet = self._sheet(index)
        if sheet.start is None:
            return
        first_row, first_column = sheet.start
        leading: list[Cell] = [None] * first_column
        for number, values in enumerate(_guarded(sheet.to_python), first_row + 1):
            cells: list[Cell] = [
                value or None if type(value) is str else _CONVERTERS[type(value)](value)
                for value in values
            ]
            while cells and cells[-1] is None:
                cells.pop()
            if not cells:
                continue
            if self._has_marked_cells:
                cells = [self._unmarked(cell) for cell in cells]
            yield Row(number, leading + cells)

    def _unmarked(self, cell: Cell) -> Cell:
        """Return what a marked text stands for, and any other cell as it is."""
        if not isinstance(cell, str) or cell[0] < NUMBER_MARKER:
            return cell
        if cell[0] == INVALID_MARKER:
            return InvalidCell(cell[1:])
        marked = _MARKED_NUMBER(cell)
        code = self._formats.get(int(marked[1])) if marked else None
        if marked is None or code is None:
            return cell
        number = _number(float(marked[2]))
        if not isinstance(number, int | Decimal):
            return number
        return FormattedNumber(number, code, shown_number(Decimal(number), code))


def _number(value: float) -> Cell:
    """Return the shortest decimal number that the binary float represents."""
    if not isfinite(value):
        return InvalidCell("a number that is too large")
    if not value.is_integer():
        return Decimal(repr(value))
    return int(value) if abs(value) < _EXACT_BELOW else int(Decimal(repr(value)))


def _duration(value: timedelta) -> Cell:
    hours, seconds = divmod(round(value.total_seconds()), 3600)
    return InvalidCell(f"{hours}:{seconds // 60:02}:{seconds % 60:02}")


def _unchanged(value: Any) -> Cell:
    cell: Cell = value
    return cell


_CONVERTERS: dict[type, Callable[[Any], Cell]] = {
    **dict.fromkeys((int, bool, date, datetime, time), _unchanged),
    float: _number,
    timedelta: _duration,
}


def _guarded[T](read: Callable[[], T]) -> T:
    """Return the result of `read`; raise UnreadableFile when python-calamine raises or panics."""
    try:
        return read()
    except BaseException as error:
        # A panic is a BaseException of a class that cannot be imported.
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise UnreadableFile(
                "The sheet is damaged: its cells cannot be read. Save it in Excel again and upload"
                " that file."
            ) from error
        raise
