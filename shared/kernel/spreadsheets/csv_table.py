"""Reads .csv: the text is decoded in blocks and parsed by Python's csv module."""

import csv
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import cast

from shared.kernel.spreadsheets.csv_decoding import decode_blocks, decode_sample, detect_encoding
from shared.kernel.spreadsheets.csv_dialect import detect_dialect
from shared.kernel.spreadsheets.file_source import FileSource, open_source
from shared.kernel.spreadsheets.table import (
    MAX_CELL_CHARACTERS,
    MAX_COLUMNS,
    Cell,
    Row,
    Table,
    UnreadableFile,
)

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
        max_rows: The number of rows that the caller accepts.
    """

    def __init__(self, source: FileSource, *, max_rows: int) -> None:
        self._source, self._max_rows = source, max_rows
        with open_source(source) as file:
            self._encoding = detect_encoding(file)
            file.seek(0)
            self._dialect = detect_dialect(decode_sample(file, self._encoding))

    def rows(self) -> Iterator[Row]:
        """Yield the rows that have a value, from the top."""
        with open_source(self._source) as file:
            number = 0
            text = chain.from_iterable(decode_blocks(file, self._encoding, lambda: number))
            if self._dialect.has_separator_line:
                next(text)
            reader = csv.reader(text, delimiter=self._dialect.separator, strict=True)
            records = cast("Iterator[list[Cell]]", reader)
            left = self._max_rows + 1
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
                    if len(cells) > MAX_COLUMNS:
                        message = (
                            f"Row {number} has {len(cells)} cells, at most {MAX_COLUMNS} allowed."
                        )
                        raise UnreadableFile(message)
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
