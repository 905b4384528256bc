"""Reads .csv: the text is decoded block by block and taken apart by Python's csv module."""

import csv
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import cast

from shared.kernel.spreadsheets.csv_decoding import encoding_of, lines, sample
from shared.kernel.spreadsheets.csv_dialect import form_of
from shared.kernel.spreadsheets.file_source import Source, opened
from shared.kernel.spreadsheets.table import (
    MOST_CHARACTERS,
    MOST_COLUMNS,
    Cell,
    Row,
    Table,
    Unreadable,
)

# A setting of the whole process, in which nothing else reads such files. It is what ends a quote
# that is never closed.
csv.field_size_limit(MOST_CHARACTERS)

_PROBLEMS = {
    "unexpected end": "opens a quote that is never closed",
    "field larger": "opens a quote that is never closed, or holds a text that is too long",
    "expected after": "has text behind a closing quote; a quote within a text is written twice",
}


class CsvTable(Table):
    """A .csv.

    Rows are numbered as a spreadsheet program numbers them when it opens the file: a record is
    a row however many lines it takes, an empty line is one too, a first line `sep=;` is none.

    Args:
        source: Read from the start by each call of `rows`.
        most_rows: How many rows the caller takes.
    """

    def __init__(self, source: Source, *, most_rows: int) -> None:
        self._source, self._most_rows = source, most_rows
        with opened(source) as file:
            self._encoding = encoding_of(file)
            file.seek(0)
            self._form = form_of(sample(file, self._encoding))

    def rows(self) -> Iterator[Row]:
        """Go through the rows that have a value, from the top."""
        with opened(self._source) as file:
            number = 0
            text = chain.from_iterable(lines(file, self._encoding, lambda: number))
            if self._form.is_told:
                next(text)
            reader = csv.reader(text, delimiter=self._form.separator, strict=True)
            records = cast("Iterator[list[Cell]]", reader)
            left = self._most_rows + 1
            # Making a row takes a quarter of the time of all this if it is done in Python.
            row: Callable[[tuple[int, list[Cell]]], Row] = partial(tuple.__new__, Row)
            try:
                for number, cells in enumerate(records, 1):
                    # Most rows of a file are full, and `all` is quick.
                    if not all(cells):
                        cells = [cell or None for cell in cells]  # noqa: PLW2901
                        while cells and cells[-1] is None:
                            cells.pop()
                    if not cells:
                        continue
                    if len(cells) > MOST_COLUMNS:
                        raise Unreadable(f"Row {number} has more than {MOST_COLUMNS} cells.")
                    yield row((number, cells))
                    left -= 1
                    if not left:
                        return
            except csv.Error as error:
                what = next(
                    (what for words, what in _PROBLEMS.items() if words in str(error)),
                    "cannot be taken apart into cells",
                )
                raise Unreadable(f"Row {number + 1} {what}.") from error
