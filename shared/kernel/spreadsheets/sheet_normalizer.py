"""Copies the rows of a worksheet into small sheets of a known form, and finds what is not data."""

import re
from collections.abc import Callable
from functools import cache

from shared.kernel.spreadsheets.part_normalizer import (
    ODD,
    Attributes,
    Ends,
    PartCopy,
    Starts,
    escaped,
    text_up_to,
)
from shared.kernel.spreadsheets.table import (
    MOST_CHARACTERS,
    MOST_COLUMNS,
    MOST_FLAWS,
    Merged,
    Unreadable,
)

MOST_ROWS = 1_048_576
_ROWS_OF_SHEET = 2_000
"""From the first to the last row of a small sheet: it is held in memory as a rectangle."""
_LARGEST_GAP = 64
"""Rows missing in a small sheet: going through them costs as much as a sheet more."""
_TOP = 10
"""Rows that may lie above the data: titles, and the header at the latest."""

_NUMBER = rb"-?+[0-9]{1,25}+(?:\.[0-9]{1,25}+)?+(?:[Ee][+-]?+[0-9]{1,3})?+"

_ROW = re.compile(
    rb"""\s*+<row\ r="([1-9][0-9]{0,6})"(?:\ [\w:.-]++="[^"<>&]*+")*+(?:\ ?/>|>\s*+(?:
    <c\ r="[A-H]?[A-Z]\1"(?:\ s="[0-9]{1,5}")?+(?:
        \ t="s"(?:\ s="[0-9]{1,5}")?+><v>[0-9]{1,9}</v></c>
      | \ t="inlineStr"(?:\ s="[0-9]{1,5}")?+><is><t(?:\ xml:space="preserve")?+
            (?:>TEXT</t>|\ ?/>)</is></c>
      | (?:\ t="n"(?:\ s="[0-9]{1,5}")?+)?+><v>NUMBER</v></c>
      | \ t="str"(?:\ s="[0-9]{1,5}")?+><v>TEXT</v></c>
      | \ t="b"(?:\ s="[0-9]{1,5}")?+><v>[01]</v></c>
      | (?:\ t="(?:n|s|str|inlineStr|b|e)")?+(?:\ ?/>|>(?:<v\ ?/>|<v></v>)?+</c>)
    ))*+\s*+</row>)""".replace(b"TEXT", text_up_to(MOST_CHARACTERS)).replace(b"NUMBER", _NUMBER),
    re.VERBOSE,
)
"""One row as spreadsheet programs write it: each cell names its place, and none has a formula."""

_REFERENCE = re.compile(r"([A-Za-z]{1,3})([1-9][0-9]{0,6})").fullmatch
_RANGE = re.compile(
    r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7}):\$?([A-Za-z]{1,3})\$?([0-9]{1,7})"
).fullmatch
_DAMAGED = "The sheet is damaged: {}. Save the file in Excel again and upload that."
_ODD = ODD.encode()
_IS_NUMBER = re.compile(_NUMBER.decode()).fullmatch
_IS_INDEX = re.compile(r"[0-9]{1,9}").fullmatch


class SheetCopy(PartCopy):
    """Takes the XML of a worksheet, block by block.

    Args:
        write: Takes the rows of one small sheet, as XML, in the order of the rows.
        most_bytes: Of a small sheet, but for its last row.

    Attributes:
        formulas: Names of the first cells that hold one.
        merged_on_top: The first merged ranges that lie in the top rows, which may be titles.
        merged_below: The first of those that reach further down.
        has_odd: Whether there are cells whose text begins with `ODD`.
    """

    def __init__(self, write: Callable[[bytes], None], most_bytes: int) -> None:
        super().__init__("sheetData", "row")
        self._write, self._most_bytes = write, most_bytes
        self._sheet: list[bytes] = []
        self._size = 0
        self._first = self._last = 0
        self.formulas: list[str] = []
        self.merged_on_top: list[Merged] = []
        self.merged_below: list[Merged] = []
        self.has_odd = False
        # The row and the cell that are being taken in, where they have no usual form.
        self._row = self._column = 0
        self._cells: dict[int, bytes] = {}
        self._cell: dict[str, str] = {}
        self._value: list[str] = []
        self._length = 0
        self._takes_text = False

    def close(self) -> None:
        """End the part."""
        super().close()
        self._end_sheet()

    def copy_usual(self, buffer: bytes, start: int) -> int:
        """Copy the rows of the usual form that begin at `start`; tell where they end."""
        begin, here, last = start, start, self._last
        while match := _ROW.match(buffer, here):
            number = int(match[1])
            if not self._fits(number, last, here - begin):
                self._keep(buffer[begin:here], last)
                self._begin(number)
                begin = here
            last, here = number, match.end()
        self._keep(buffer[begin:here], last)
        return here

    def handlers(self) -> tuple[Starts, Ends]:
        """Tell what to do where elements start and end."""
        cell = "sheetData/row/c"
        starts: Starts = {
            "sheetData/row": self._start_row,
            cell: self._start_cell,
            f"{cell}/f": self._find_formula,
            f"{cell}/v": self._start_value,
            f"{cell}/is/t": self._start_text,
            f"{cell}/is/r/t": self._start_text,
            "mergeCells/mergeCell": self._find_merged,
        }
        ends: Ends = {
            "sheetData/row": self._end_row,
            cell: self._end_cell,
            f"{cell}/v": self._end_value,
            f"{cell}/is/t": self._end_value,
            f"{cell}/is/r/t": self._end_value,
        }
        return starts, ends

    def text(self, text: str) -> None:
        """Take text of such an element."""
        if self._takes_text:
            self._length += len(text)
            if self._length <= MOST_CHARACTERS:
                self._value.append(text)

    def _start_row(self, attributes: Attributes) -> None:
        number = attributes.get("r") or str(self._last + 1)
        if not _IS_INDEX(number):
            raise Unreadable(_DAMAGED.format(f"{number[:40]!r} is no row"))
        self._row, self._column, self._cells = int(number), 0, {}

    def _start_cell(self, attributes: Attributes) -> None:
        reference = attributes.get("r")
        if reference is None:
            self._column += 1
        else:
            match = _REFERENCE(reference)
            if match is None or int(match[2]) != self._row:
                raise Unreadable(
                    _DAMAGED.format(f"{reference[:40]!r} is no cell of row {self._row}")
                )
            self._column = _number_of(match[1])
        self._cell, self._value, self._length = attributes, [], 0

    def _find_formula(self, _attributes: Attributes) -> None:
        if len(self.formulas) < MOST_FLAWS:
            self.formulas.append(f"{column_name(self._column)}{self._row}")

    def _start_value(self, _attributes: Attributes) -> None:
        self._takes_text = self._cell.get("t") != "inlineStr"

    def _start_text(self, _attributes: Attributes) -> None:
        self._takes_text = True

    def _end_value(self) -> None:
        self._takes_text = False

    def _end_cell(self) -> None:
        """Write a cell that has a value."""
        if not self._length:
            return
        name = f"{column_name(self._column)}{self._row}"
        if self._column > MOST_COLUMNS:
            raise Unreadable(
                f"{name} holds a value, but only the first {MOST_COLUMNS} columns can be read."
                " Delete what lies further right."
            )
        text, kind = "".join(self._value), self._cell.get("t", "n")
        if self._length > MOST_CHARACTERS:
            text, kind = f"a text of {self._length:,} characters", "e"
        style = self._cell.get("s", "")
        styled = f' s="{style}"' if _IS_INDEX(style) else ""
        body = _written(text, kind)
        self.has_odd = self.has_odd or _ODD in body
        self._cells[self._column] = f'<c r="{name}"{styled}'.encode() + body

    def _end_row(self) -> None:
        row = b'<row r="%d">%b</row>' % (self._row, b"".join(self._cells.values()))
        if not self._fits(self._row, self._last, 0):
            self._begin(self._row)
        self._keep(row, self._row)

    def _fits(self, number: int, last: int, more: int) -> bool:
        """Whether the small sheet can take a row, after the last one and so many bytes more."""
        return (
            0 < number - last <= _LARGEST_GAP
            and number - self._first < _ROWS_OF_SHEET
            and self._size + more < self._most_bytes
        )

    def _begin(self, number: int) -> None:
        """Begin another small sheet, with the row of that number."""
        if number <= self._last:
            raise Unreadable(_DAMAGED.format(f"row {number} follows row {self._last}"))
        self._end_sheet()
        self._first = number

    def _keep(self, rows: bytes, last: int) -> None:
        if last > MOST_ROWS:
            raise Unreadable(_DAMAGED.format(f"it has a row {last}"))
        self._sheet.append(rows)
        self._size += len(rows)
        self._last = last

    def _end_sheet(self) -> None:
        if self._size:
            self._write(b"".join(self._sheet))
        self._sheet, self._size = [], 0

    def _find_merged(self, attributes: Attributes) -> None:
        name = attributes.get("ref", "")
        match = _RANGE(name)
        if match is None or match.group(1, 2) == match.group(3, 4):
            return
        one = Merged(int(match[2]), int(match[4]), name)
        kept = self.merged_on_top if one.last <= _TOP else self.merged_below
        if one.first <= self._last and len(kept) < MOST_FLAWS:
            kept.append(one)


def _written(text: str, kind: str) -> bytes:
    """Write type and value of a cell."""
    if kind == "inlineStr":
        return b' t="inlineStr"><is><t xml:space="preserve">%b</t></is></c>' % escaped(text)
    bare = text.strip()
    if kind == "s" and _IS_INDEX(bare):
        return b' t="s"><v>%b</v></c>' % bare.encode()
    if kind == "n" and _IS_NUMBER(bare):
        return b"><v>%b</v></c>" % bare.encode()
    if kind == "b" and bare in {"0", "1", "true", "false"}:
        return b' t="b"><v>%d</v></c>' % (bare in {"1", "true"})
    if kind == "d":
        return b' t="d"><v>%b</v></c>' % escaped(bare)
    return b' t="str"><v>%b</v></c>' % escaped(text if kind == "str" else ODD + text)


@cache
def column_name(number: int) -> str:
    """Name a column, counted from 1: 1 is A, 27 is AA."""
    name = ""
    while number:
        number, letter = divmod(number - 1, 26)
        name = chr(ord("A") + letter) + name
    return name


@cache
def _number_of(column: str) -> int:
    number = 0
    for letter in column.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
