"""What a spreadsheet is to those who read one: rows of cells, and what is wrong with it."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import NamedTuple

MOST_COLUMNS = 256
"""Columns of a table: A to IV. Whoever has a value further right is told so."""
MOST_CHARACTERS = 32_767
"""Of a cell, as in Excel."""
MOST_FLAWS = 20
"""How many flaws are named; a file of formulas has one in each row."""


class Unreadable(Exception):
    """The file cannot be processed at all. `message` is for people: what it is, what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class BadCell:
    """What a cell shows where it has no value: an error such as #N/A, a duration, a text too long.

    `text` is what a person sees there, or what is wrong with it.
    """

    text: str

    def __str__(self) -> str:
        """Give what a person sees."""
        return self.text


type Cell = str | int | Decimal | bool | date | datetime | time | BadCell | None
"""What a cell holds. Numbers are whole or decimal, never binary fractions. A date without a time
is a `date`. A cell of a .csv is always text, as it stands in the file. None: empty."""


class Row(NamedTuple):
    """A row that has a value.

    `number` is the spreadsheet's own, from 1. `cells` begin with column A and end with the last
    that holds something; there are at most `MOST_COLUMNS`.
    """

    number: int
    cells: list[Cell]


class Merged(NamedTuple):
    """A range of merged cells: its first and last row, its name such as A2:C3."""

    first: int
    last: int
    name: str


class Table(ABC):
    """One sheet, read row by row.

    Attributes:
        flaws: What makes the file unacceptable as a whole although it can be read (formulas,
            merged cells), in words, the first `MOST_FLAWS` of it.
        merged: The first `MOST_FLAWS` ranges of merged cells among the top ten rows. They are
            no flaw by themselves: a title above the header may be merged, data may not. Ranges
            that reach further down are flaws.
    """

    flaws: Sequence[str] = ()
    merged: Sequence[Merged] = ()

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """Go through the rows that have a value, from the top.

        Ends after one row more than was asked for when the table was opened, so that the caller
        sees that there are too many.

        Raises:
            Unreadable: The file turns out to be damaged further down.
        """
