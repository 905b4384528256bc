"""Reads .xlsx: python-calamine reads a copy that was made under limits."""

from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO

from python_calamine import CalamineSheet, CalamineWorkbook

from shared.kernel.spreadsheets.normalized_workbook import Copied, copy_workbook
from shared.kernel.spreadsheets.part_normalizer import ODD
from shared.kernel.spreadsheets.table import MOST_FLAWS, BadCell, Cell, Row, Table, Unreadable
from shared.kernel.spreadsheets.xlsx_package import package_of
from shared.kernel.spreadsheets.zip_archive import Container

_EXACT = 2**53
"""Below it, every whole number is exact in the binary form in which a workbook holds it."""


class Workbook(Table):
    """The first visible sheet of an .xlsx.

    Args:
        file: Not needed any more afterwards.
        most_rows: How many rows the caller takes.

    Raises:
        Unreadable: It is not one that can be read.
    """

    def __init__(self, file: BinaryIO, *, most_rows: int) -> None:
        self._most_rows = most_rows
        container = Container(file)
        with NamedTemporaryFile(suffix=".xlsx") as copy:
            copied = copy_workbook(container, package_of(container), copy)
            copy.flush()
            # The reader keeps the file open; its name is not needed for longer.
            self._book = _reading(lambda: CalamineWorkbook.from_path(copy.name))
        self._sheets, self._has_odd = copied.sheets, copied.has_odd
        self.merged = copied.merged_on_top
        self.flaws = self._flaws_of(copied)

    def rows(self) -> Iterator[Row]:
        """Go through the rows that have a value, from the top."""
        left = self._most_rows + 1
        for index in range(self._sheets):
            for row in self._rows_of(index):
                yield row
                left -= 1
                if not left:
                    return

    def _flaws_of(self, copied: Copied) -> Sequence[str]:
        flaws = [
            f"{name} holds a formula; save the file with values instead of formulas."
            for name in copied.formulas
        ]
        last = self._last_row() if copied.merged_below else 0
        flaws += [
            f"The cells {one.name} are merged; give every row its own value."
            for one in copied.merged_below
            if one.first <= last
        ]
        return flaws[:MOST_FLAWS]

    def _last_row(self) -> int:
        """Number of the last row that has a value; 0 for none."""
        for index in reversed(range(self._sheets)):
            if end := self._sheet(index).end:
                return end[0] + 1
        return 0

    def _sheet(self, index: int) -> CalamineSheet:
        return _reading(lambda: self._book.get_sheet_by_index(index))

    def _rows_of(self, index: int) -> Iterator[Row]:
        sheet = self._sheet(index)
        if sheet.start is None:
            return
        first, column = sheet.start
        before: list[Cell] = [None] * column
        for number, values in enumerate(_reading(sheet.to_python), first + 1):
            cells: list[Cell] = [
                value or None if type(value) is str else _CELLS[type(value)](value)
                for value in values
            ]
            while cells and cells[-1] is None:
                cells.pop()
            if not cells:
                continue
            if self._has_odd:
                cells = [_marked(cell) for cell in cells]
            yield Row(number, before + cells)


def _number(value: float) -> Cell:
    """Give the number that the binary one stands for: the shortest that is read as it."""
    if not isfinite(value):
        return BadCell("a number that is too large")
    if not value.is_integer():
        return Decimal(repr(value))
    return int(value) if abs(value) < _EXACT else int(Decimal(repr(value)))


def _duration(value: timedelta) -> Cell:
    hours, seconds = divmod(round(value.total_seconds()), 3600)
    return BadCell(f"{hours}:{seconds // 60:02}:{seconds % 60:02}")


def _same(value: Any) -> Cell:
    cell: Cell = value
    return cell


_CELLS: dict[type, Callable[[Any], Cell]] = {
    int: _same,
    float: _number,
    bool: _same,
    date: _same,
    datetime: _same,
    time: _same,
    timedelta: _duration,
}


def _marked(cell: Cell) -> Cell:
    if isinstance(cell, str) and cell.startswith(ODD):
        return BadCell(cell.removeprefix(ODD))
    return cell


def _reading[T](read: Callable[[], T]) -> T:
    """Call the reader.

    Raises:
        Unreadable: It raised anything, or broke down.
    """
    try:
        return read()
    except BaseException as error:
        # What it raises when it breaks down is derived from BaseException and has no name that
        # can be imported.
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise Unreadable(
                "The sheet is damaged: its cells cannot be understood. Save it in Excel again and"
                " upload that."
            ) from error
        raise
