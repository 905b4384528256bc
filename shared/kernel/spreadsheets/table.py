"""The interface of a spreadsheet: rows of cells, and errors of the sheet as a whole."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import NamedTuple, Self

MAX_ROWS = 1_048_576
"""Rows of a sheet, as in Excel."""
MAX_COLUMNS = 256
"""Columns of a file: A to IV."""
READ_COLUMNS = MAX_COLUMNS + 3
"""Columns of a table: an error report adds three to those of a file. A value further right makes
the file unreadable."""
MAX_CELL_CHARACTERS = 32_767
"""Characters of a cell, as in Excel."""
MAX_STRUCTURE_ERRORS = 20
"""Structure errors that are reported; a file of formulas has one in each row."""


class UnreadableFile(Exception):
    """The file cannot be processed. The message tells the user what is wrong and what to do.

    Everything in this package that reads a file may raise it, from the first byte to the last row.
    """


@dataclass(frozen=True, slots=True)
class InvalidCell:
    """A cell without a usable value: an error such as #N/A, a duration, or a text that is too long.

    `text` is what the cell displays, or a description of the problem.
    """

    text: str

    def __str__(self) -> str:
        """Return `text`."""
        return self.text


class FormattedNumber(Decimal):
    """A number whose cell has a number format.

    Attributes:
        value: The number as it would be without one.
        code: The format.
        shown: What the cell displays, or None if that depends on the program.
    """

    value: int | Decimal
    code: str
    shown: str | None

    def __new__(cls, value: int | Decimal, code: str, shown: str | None) -> Self:
        """Create a number."""
        number = super().__new__(cls, value)
        number.value, number.code, number.shown = value, code, shown
        return number


type Cell = str | int | Decimal | bool | date | datetime | time | InvalidCell | None
"""The value of a cell. Numbers are exact: integers or decimals; in a workbook, those
with a number format are `FormattedNumber`. A date without a time is a `date`.
The cells of a .csv are always text. None is an empty cell."""


class Row(NamedTuple):
    """A row that has a value.

    `number` is the number of the row in the spreadsheet, from 1. `cells` begins with column A, ends
    with the last non-empty cell, and has at most `READ_COLUMNS` entries.
    """

    number: int
    cells: list[Cell]


class MergedRange(NamedTuple):
    """A range of merged cells: its first and last row, and its name such as A2:C3."""

    first_row: int
    last_row: int
    name: str

    @property
    def error(self) -> str:
        """The structure error of a range that contains data."""
        return f"The cells {self.name} are merged. Unmerge them and enter a value in every row."


class Table(ABC):
    """One sheet, read row by row.

    Attributes:
        structure_errors: The first `MAX_STRUCTURE_ERRORS` errors that make the file unacceptable
            although it can be read: formulas, and merged cells below the top ten rows.
        merged_at_top: The first `MAX_STRUCTURE_ERRORS` ranges of merged cells in the top ten rows.
            A title above the header may be merged, data may not.
    """

    structure_errors: Sequence[str] = ()
    merged_at_top: Sequence[MergedRange] = ()

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """Yield the rows that have a value, from the top; of a .csv, at most MAX_ROWS + 1."""
