"""Splits a worksheet into small normalized sheets, and finds formulas and merged cells."""

import re
from collections.abc import Callable, Mapping
from functools import cache

from shared.kernel.spreadsheets.part_normalizer import (
    INVALID_MARKER,
    NUMBER_MARKER,
    Ends,
    PartNormalizer,
    Starts,
    XmlAttributes,
    escape_text,
    text_pattern,
)
from shared.kernel.spreadsheets.table import (
    MAX_CELL_CHARACTERS,
    MAX_COLUMNS,
    MAX_ROWS,
    MAX_STRUCTURE_ERRORS,
    READ_COLUMNS,
    MergedRange,
    UnreadableFile,
)

_SMALL_SHEET_ROWS = 2_000
"""Distance of the first and last row of a small sheet, which is held in memory as a rectangle."""
_MAX_GAP = 64
"""Missing rows between two rows of a small sheet. Reading more costs as much as another sheet."""
_TOP_ROWS = 10
"""Rows above the data: titles and the header."""

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
    ))*+\s*+</row>)""".replace(b"TEXT", text_pattern(MAX_CELL_CHARACTERS)).replace(
        b"NUMBER", _NUMBER
    ),
    re.VERBOSE,
)
"""A row as spreadsheet programs usually write it: every cell has a reference, no cell a formula."""

_NUMBER_CELL = re.compile(
    rb"""(<c\ r="[A-Z]{1,2}[0-9]{1,7}")(?:\ s="([0-9]{1,5})")?+(?:\ t="n"(?:\ s="([0-9]{1,5})")?+)?+
    ><v>(NUMBER)</v></c>""".replace(b"NUMBER", _NUMBER),
    re.VERBOSE,
)
"""A number in a row of the usual form: its start, its style before or behind the type, its text."""

_REFERENCE = re.compile(r"([A-Za-z]{1,3})([1-9][0-9]{0,6})").fullmatch
_RANGE = re.compile(
    r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7}):\$?([A-Za-z]{1,3})\$?([0-9]{1,7})"
).fullmatch
_DAMAGED = "The sheet is damaged: {}. Save the file in Excel again and upload that file."
_MARKER = INVALID_MARKER.encode()
_IS_NUMBER = re.compile(_NUMBER.decode()).fullmatch
_IS_INDEX = re.compile(r"[0-9]{1,9}").fullmatch


class SheetNormalizer(PartNormalizer):
    """Normalizes the XML of a worksheet.

    Args:
        write: Takes the rows of one small sheet as XML, in the order of the rows.
        max_bytes: Size of a small sheet without its last row.
        formats: The number formats by the styles whose numbers are marked.

    Attributes:
        formulas: References of the first cells with formulas.
        merged_at_top: The first merged ranges in the top rows, which may be titles.
        merged_below: The first merged ranges that reach further down.
        has_marked_cells: Whether there are cells whose text begins with `INVALID_MARKER` or with
            `NUMBER_MARKER`.
    """

    def __init__(
        self, write: Callable[[bytes], None], max_bytes: int, formats: Mapping[int, str]
    ) -> None:
        super().__init__("sheetData", "row")
        self._formats = formats
        self._write, self._max_bytes = write, max_bytes
        self._sheet: list[bytes] = []
        self._size = 0
        self._first = self._last = 0
        self.formulas: list[str] = []
        self.merged_at_top: list[MergedRange] = []
        self.merged_below: list[MergedRange] = []
        self.has_marked_cells = bool(formats)
        # The row and the cell that the parser is reading.
        self._row = self._column = 0
        self._cells: dict[int, bytes] = {}
        self._cell: dict[str, str] = {}

    def close(self) -> None:
        """End the worksheet."""
        super().close()
        self._end_sheet()

    def copy_regular_items(self, buffer: bytes, start: int) -> int:
        """See PartNormalizer."""
        begin, position, last = start, start, self._last
        while match := _ROW.match(buffer, position):
            number = int(match[1])
            if not self._fits(number, last, position - begin):
                self._append(self._with_marks(buffer[begin:position]), last)
                self._begin(number)
                begin = position
            last, position = number, match.end()
        self._append(self._with_marks(buffer[begin:position]), last)
        return position

    def _with_marks(self, rows: bytes) -> bytes:
        """Return rows of the usual form with marked numbers."""
        return _NUMBER_CELL.sub(self._marked, rows) if self._formats else rows

    def _marked(self, cell: re.Match[bytes]) -> bytes:
        start, style, other_style, number = cell.groups()
        style = style or other_style or b"0"
        return start + _marked_number(style, number) if int(style) in self._formats else cell[0]

    def handlers(self) -> tuple[Starts, Ends]:
        """See PartNormalizer."""
        cell = "sheetData/row/c"
        starts: Starts = {
            "sheetData/row": self._start_row,
            cell: self._start_cell,
            f"{cell}/f": self._add_formula,
            f"{cell}/v": self._start_value,
            f"{cell}/is/t": self._start_text,
            f"{cell}/is/r/t": self._start_text,
            "mergeCells/mergeCell": self._add_merged_range,
        }
        ends: Ends = {
            "sheetData/row": self._end_row,
            cell: self._end_cell,
            f"{cell}/v": self._end_text,
            f"{cell}/is/t": self._end_text,
            f"{cell}/is/r/t": self._end_text,
        }
        return starts, ends

    def _start_row(self, attributes: XmlAttributes) -> None:
        number = attributes.get("r") or str(self._last + 1)
        if not _IS_INDEX(number):
            raise UnreadableFile(_DAMAGED.format(f"{number[:40]!r} is not a row number"))
        self._row, self._column, self._cells = int(number), 0, {}

    def _start_cell(self, attributes: XmlAttributes) -> None:
        reference = attributes.get("r")
        if reference is None:
            self._column += 1
        else:
            match = _REFERENCE(reference)
            if match is None or int(match[2]) != self._row:
                raise UnreadableFile(
                    _DAMAGED.format(f"{reference[:40]!r} is not a cell of row {self._row}")
                )
            self._column = _column_number(match[1])
        self._cell, self._value, self._length = attributes, [], 0

    def _add_formula(self, _attributes: XmlAttributes) -> None:
        if len(self.formulas) < MAX_STRUCTURE_ERRORS:
            self.formulas.append(f"{column_name(self._column)}{self._row}")

    def _start_value(self, _attributes: XmlAttributes) -> None:
        self._takes_text = self._cell.get("t") != "inlineStr"

    def _end_cell(self) -> None:
        """Add the cell if it has a value."""
        if not self._length:
            return
        name = f"{column_name(self._column)}{self._row}"
        if self._column > READ_COLUMNS:
            raise UnreadableFile(
                f"{name} has a value, but only the first {MAX_COLUMNS} columns can be read."
                " Delete the columns further right."
            )
        text, kind = "".join(self._value), self._cell.get("t", "n")
        if self._length > MAX_CELL_CHARACTERS:
            text, kind = f"a text of {self._length:,} characters", "e"
        style = self._cell.get("s", "")
        style = style if _IS_INDEX(style) else ""
        styled = f' s="{style}"' if style else ""
        body = _cell_xml(text, kind)
        self.has_marked_cells = self.has_marked_cells or _MARKER in body
        if kind == "n" and _MARKER not in body and int(style or 0) in self._formats:
            styled, body = "", _marked_number(style.encode() or b"0", text.strip().encode())
        self._cells[self._column] = f'<c r="{name}"{styled}'.encode() + body

    def _end_row(self) -> None:
        row = b'<row r="%d">%b</row>' % (self._row, b"".join(self._cells.values()))
        if not self._fits(self._row, self._last, 0):
            self._begin(self._row)
        self._append(row, self._row)

    def _fits(self, number: int, last: int, more: int) -> bool:
        """Return whether a row fits into the small sheet, after the row `last` and `more` bytes."""
        return (
            0 < number - last <= _MAX_GAP
            and number - self._first < _SMALL_SHEET_ROWS
            and self._size + more < self._max_bytes
        )

    def _begin(self, number: int) -> None:
        """Begin another small sheet with the row `number`."""
        if number <= self._last:
            raise UnreadableFile(_DAMAGED.format(f"row {number} follows row {self._last}"))
        self._end_sheet()
        self._first = number

    def _append(self, rows: bytes, last: int) -> None:
        if last > MAX_ROWS:
            raise UnreadableFile(
                _DAMAGED.format(f"it has a row {last}, after the last possible row {MAX_ROWS}")
            )
        self._sheet.append(rows)
        self._size += len(rows)
        self._last = last

    def _end_sheet(self) -> None:
        if self._size:
            self._write(b"".join(self._sheet))
        self._sheet, self._size = [], 0

    def _add_merged_range(self, attributes: XmlAttributes) -> None:
        name = attributes.get("ref", "")
        match = _RANGE(name)
        if match is None or match.group(1, 2) == match.group(3, 4):
            return
        merged = MergedRange(int(match[2]), int(match[4]), name)
        kept = self.merged_at_top if merged.last_row <= _TOP_ROWS else self.merged_below
        if merged.first_row <= self._last and len(kept) < MAX_STRUCTURE_ERRORS:
            kept.append(merged)


def _marked_number(style: bytes, number: bytes) -> bytes:
    """Return the type attribute and the value of a number with a number format."""
    return b' t="str"><v>%b%b;%b</v></c>' % (NUMBER_MARKER.encode(), style, number)


def _cell_xml(text: str, kind: str) -> bytes:
    """Return the type attribute and the value of a cell."""
    if kind == "inlineStr":
        return b' t="inlineStr"><is><t xml:space="preserve">%b</t></is></c>' % escape_text(text)
    bare = text.strip()
    if kind == "s" and _IS_INDEX(bare):
        return b' t="s"><v>%b</v></c>' % bare.encode()
    if kind == "n" and _IS_NUMBER(bare):
        return b"><v>%b</v></c>" % bare.encode()
    if kind == "b" and bare in {"0", "1", "true", "false"}:
        return b' t="b"><v>%d</v></c>' % (bare in {"1", "true"})
    if kind == "d":
        return b' t="d"><v>%b</v></c>' % escape_text(bare)
    return b' t="str"><v>%b</v></c>' % escape_text(text if kind == "str" else INVALID_MARKER + text)


@cache
def column_name(number: int) -> str:
    """Return the name of a column by its number: 1 is A, 27 is AA."""
    name = ""
    while number:
        number, letter = divmod(number - 1, 26)
        name = chr(ord("A") + letter) + name
    return name


@cache
def _column_number(column: str) -> int:
    number = 0
    for letter in column.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
