"""Reads .csv: detects encoding and separator, decodes the text in blocks, and parses it."""

import codecs
import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from io import StringIO
from itertools import islice
from typing import BinaryIO, NamedTuple, cast

from shared.kernel.spreadsheets.file_types import (
    BLOCK_BYTES,
    HEAD_BYTES,
    FileSource,
    detect_utf16,
    open_source,
    read_blocks,
)
from shared.kernel.spreadsheets.table import (
    MAX_CELL_CHARACTERS,
    MAX_COLUMNS,
    MAX_ROWS,
    READ_COLUMNS,
    Cell,
    Row,
    Table,
    UnreadableFile,
)

_MAX_BLOCKS_OF_RECORD = 4
"""Blocks that one record may fill. After an unclosed quote, the rest of the file is one record."""
_ENCODING_NAMES = {"utf-8": "UTF-8", "cp1252": "Windows-1252"}
_BYTE_ORDER_MARK = "\ufeff"


def detect_encoding(file: BinaryIO) -> str:
    """Return the encoding: UTF-16 or UTF-8 if recognized, otherwise Windows-1252.

    The whole file is read, because its only non-ASCII character may be the last one. A file that
    has valid UTF-8 sequences before invalid bytes is treated as damaged UTF-8.
    """
    head = file.read(HEAD_BYTES)
    if utf16 := detect_utf16(head):
        return utf16
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8"
    file.seek(0)
    decoder = codecs.getincrementaldecoder("utf-8")()
    is_ascii = True
    try:
        for block in read_blocks(file):
            is_ascii = decoder.decode(block).isascii() and is_ascii
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        return "cp1252" if is_ascii and error.object[: error.start].isascii() else "utf-8"
    return "utf-8"


def decode_sample(file: BinaryIO, encoding: str) -> str:
    """Return the first lines of the file, without bytes that cannot be decoded."""
    block = file.read(BLOCK_BYTES)
    decoder = codecs.getincrementaldecoder(encoding)("ignore")
    text = decoder.decode(block).removeprefix(_BYTE_ORDER_MARK)
    return text if len(block) < BLOCK_BYTES else text[: max(text.rfind("\n"), text.rfind("\r")) + 1]


def decode_blocks(file: BinaryIO, encoding: str, records: Callable[[], int]) -> Iterator[StringIO]:
    """Decode the file in blocks of whole lines, which keep their line ends.

    `records` returns the number of records that the caller has parsed so far, by which an
    UnreadableFile names the row with invalid bytes, zero bytes, or too many bytes.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    held, seen, idle = "", -1, 0
    while True:
        block = file.read(BLOCK_BYTES)
        problem = None
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            text = codecs.decode(error.object[: error.start], encoding)
            problem = f"contains bytes that are not {_ENCODING_NAMES.get(encoding, 'UTF-16')}"
        text = held + (text.removeprefix(_BYTE_ORDER_MARK) if seen < 0 else text)
        if "\0" in text:
            text = text[: text.index("\0")]
            problem = "contains zero bytes"
        if problem or block:
            # A carriage return at the end may be the first half of a line end.
            end = max(text.rfind("\n"), text.rfind("\r", 0, -1)) + 1
            text, held = text[:end], text[end:]
        if text:
            yield StringIO(text, newline="")
        # The caller has parsed all records of these lines by now.
        row = records() + 1
        if problem:
            raise UnreadableFile(f"Row {row} {problem}. Save the file as CSV in UTF-8 again.")
        if not block:
            return
        seen, idle = row, idle + 1 if row == seen else 0
        if idle > _MAX_BLOCKS_OF_RECORD:
            raise UnreadableFile(f"Row {row} is too long, or opens a quote that is never closed.")


_TEXT_FORMULA = re.compile(r'="((?:[^"]|"")*)"', re.DOTALL)
"""A text that a program writes as a formula, so that Excel does not take it for a number."""


def _text_of_formula(cell: str) -> str:
    match = _TEXT_FORMULA.fullmatch(cell)
    return match[1].replace('""', '"') if match else cell


_SEPARATORS = "\t;,"
"""The separators that programs use. If two fit equally well, the first is chosen: a comma occurs in
texts and numbers, a tab does not."""
_SAMPLE_RECORDS = 100
"""Records at the start of the file that determine the separator."""

_SEPARATOR_LINE = re.compile(r'"?sep=([^\w"\s]|\t)"?(?:\r\n|\n|\r)', re.IGNORECASE)
"""A first line such as sep=; with which Excel declares the separator."""


class CsvDialect(NamedTuple):
    """The separator of cells, and whether the first line declares it and is not a row."""

    separator: str
    has_separator_line: bool


def detect_dialect(text: str) -> CsvDialect:
    """Return the dialect of a file, given the text of its first lines."""
    declared = _SEPARATOR_LINE.match(text)
    if declared:
        return CsvDialect(declared[1], has_separator_line=True)
    separator = max(_SEPARATORS, key=lambda candidate: _fit(*_records(text, candidate)))
    return CsvDialect(separator, has_separator_line=False)


def _records(text: str, separator: str) -> tuple[list[list[str]], bool]:
    """Return the first records, and whether they are well-formed with this separator."""
    records: list[list[str]] = []
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        records.extend(islice(reader, _SAMPLE_RECORDS))
    except csv.Error as error:
        # The sample may end within a quoted cell.
        return records, "unexpected end" in str(error)
    return records, True


def _fit(records: Sequence[Sequence[str]], is_well_formed: bool) -> tuple[float, float]:  # noqa: FBT001
    """Return how well a separator fits.

    The first number is the share of records that contain it, the second the share of records of the
    most frequent length. A header contains no other separator than the right one; rows may.
    """
    widths = Counter(len(cells) for cells in records if cells)
    counts = [count for width, count in widths.items() if width > 1]
    total = max(1, widths.total()) * (1 if is_well_formed else 2)
    return sum(counts) / total, max(counts, default=0) / total


# A setting of the whole process, in which nothing else reads .csv files. The limit ends a quote
# that is never closed.
csv.field_size_limit(MAX_CELL_CHARACTERS)

_PROBLEMS = {
    "unexpected end": "opens a quote that is never closed",
    "field larger": "opens a quote that is never closed, or has a text that is too long",
    "expected after": "has text behind a closing quote; write a quote within a text twice",
}
"""Messages by words in the error of the csv module."""


class CsvTable(Table):
    """A .csv.

    Rows are numbered as in a spreadsheet program that opens the file: a record is one row even if
    it spans several lines, an empty line is a row, and a first line `sep=;` is not.

    Args:
        source: The file, read from the start by each call of `rows`.
    """

    def __init__(self, source: FileSource) -> None:
        self._source = source
        self._has_formulas = False
        with open_source(source) as file:
            self._encoding = detect_encoding(file)
            file.seek(0)
            self._dialect = detect_dialect(decode_sample(file, self._encoding))

    def _lines(self, blocks: Iterable[StringIO]) -> Iterator[str]:
        for block in blocks:
            self._has_formulas = self._has_formulas or '="' in block.getvalue()
            yield from block

    def _without_formulas(self, records: Iterable[list[str]]) -> Iterator[list[str]]:
        """Yield the records with the texts of cells such as ="0017"."""
        for cells in records:
            yield [_text_of_formula(cell) for cell in cells] if self._has_formulas else cells

    def rows(self) -> Iterator[Row]:
        """Yield the rows that have a value, from the top."""
        with open_source(self._source) as file:
            number = 0
            text = self._lines(decode_blocks(file, self._encoding, lambda: number))
            if self._dialect.has_separator_line:
                next(text)
            reader = csv.reader(text, delimiter=self._dialect.separator, strict=True)
            records = cast("Iterator[list[Cell]]", self._without_formulas(reader))
            left = 1 + MAX_ROWS  # the header, and the rows that a sheet may have
            # Row(...) would take a quarter of the time of this loop.
            row: Callable[[tuple[int, list[Cell]]], Row] = partial(tuple.__new__, Row)
            try:
                for number, cells in enumerate(records, 1):
                    # Most rows have no empty cell, and `all` is fast.
                    if not all(cells):
                        cells = [cell or None for cell in cells]  # noqa: PLW2901
                        while cells and cells[-1] is None:
                            cells.pop()
                    if not cells:
                        continue
                    if len(cells) > READ_COLUMNS:
                        raise UnreadableFile(
                            f"Row {number} has {len(cells)} cells, at most {MAX_COLUMNS} allowed."
                        )
                    yield row((number, cells))
                    left -= 1
                    if not left:
                        return
            except csv.Error as error:
                problem = next(
                    (problem for words, problem in _PROBLEMS.items() if words in str(error)),
                    "cannot be split into cells",
                )
                raise UnreadableFile(f"Row {number + 1} {problem}.") from error
