"""How a .csv is written: what separates its cells, how its numbers look."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from io import StringIO
from itertools import islice
from typing import NamedTuple

_SEPARATORS = "\t;,"
"""What programs separate cells with. Where two fit equally well, the first of them: a comma is
found in prose and in numbers, a tab is not."""
_LOOKED_AT = 500
"""Records of the start of the file."""

_TOLD = re.compile(r'"?sep=([^\w"\s]|\t)"?(?:\r\n|\n|\r)', re.IGNORECASE)
"""What Excel writes into, and reads from, the first line where a separator may surprise."""


def _decimal(mark: str, other: str) -> re.Pattern[str]:
    """Match numbers whose decimal mark is this for certain: 1.250 may be a thousand and more."""
    return re.compile(
        rf"[+-]?(\d+{mark}(\d{{1,2}}|\d{{4,}})|(0|\d{{4,}}){mark}\d{{3}}"
        rf"|\d{{1,3}}({other}\d{{3}})+{mark}\d+)"
    )


_COMMA, _POINT = _decimal(",", r"\."), _decimal(r"\.", ",")


class Form(NamedTuple):
    """What separates cells; whether the first line says so, and is no row; see `Table`."""

    separator: str
    is_told: bool
    decimal_comma: bool | None


def form_of(text: str) -> Form:
    """Tell how a file is written, by its start."""
    told = _TOLD.match(text)
    separator = told[1] if told else max(_SEPARATORS, key=lambda one: _fit(text, one))
    records = _records(text[told.end() :] if told else text, separator)
    return Form(separator, told is not None, _decimal_comma(records))


def _records(text: str, separator: str) -> list[list[str]]:
    """The first records, but for one that may be cut off."""
    records: list[list[str]] = []
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator)
    # What is wrong is told with its row when the whole file is read.
    with suppress(csv.Error):
        records.extend(islice(reader, _LOOKED_AT))
    return records[:-1] if len(records) > 1 else records


def _fit(text: str, separator: str) -> tuple[int, int]:
    """How well a separator fits: how many records have the same number of cells, and how many."""
    widths = Counter(len(cells) for cells in _records(text, separator) if len(cells) > 1)
    return max(((count, width) for width, count in widths.items()), default=(0, 0))


def _decimal_comma(records: Sequence[Sequence[str]]) -> bool | None:
    cells = [cell.strip() for cells in records for cell in cells]
    comma = any(_COMMA.fullmatch(cell) for cell in cells)
    point = any(_POINT.fullmatch(cell) for cell in cells)
    return None if comma == point else comma
