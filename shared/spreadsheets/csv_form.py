"""How a .csv is written: what separates its cells, how its numbers look."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from io import StringIO
from itertools import islice
from typing import NamedTuple

_SEPARATORS = "\t;,"
"""What programs separate cells with. Where two fit equally well, the first of them: a comma is
found in prose and in numbers, a tab is not."""
_JUDGED, _SEARCHED = 100, 500
"""Records of the start of the file by which a separator is judged, and in which numbers are
looked for."""

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
    """Tell how a file is written, by its first lines."""
    told = _TOLD.match(text)
    if told:
        separator = told[1]
        text = text[told.end() :]
    else:
        separator = max(_SEPARATORS, key=lambda one: _fit(*_records(text, one, _JUDGED)))
    records, _ = _records(text, separator, _SEARCHED)
    return Form(separator, told is not None, _decimal_comma(records))


def _records(text: str, separator: str, most: int) -> tuple[list[list[str]], bool]:
    """The first records, and whether they are well written if this is the separator."""
    records: list[list[str]] = []
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        records.extend(islice(reader, most))
    except csv.Error as error:
        # The lines may end within a cell.
        return records, "unexpected end" in str(error)
    return records, True


def _fit(records: Sequence[Sequence[str]], is_sound: bool) -> tuple[float, float]:  # noqa: FBT001
    """How well a separator fits: in how many records it occurs, how many are equally long.

    A header has no other separator in it than the right one; everything else may.
    """
    widths = Counter(len(cells) for cells in records if cells)
    several = [count for width, count in widths.items() if width > 1]
    whole = max(1, widths.total()) * (1 if is_sound else 2)
    return sum(several) / whole, max(several, default=0) / whole


def _decimal_comma(records: Sequence[Sequence[str]]) -> bool | None:
    texts = (cell.strip() for cells in records for cell in cells if "," in cell or "." in cell)
    numbers = [text for text in texts if text[-1:].isdecimal()]
    comma, point = (any(map(form.fullmatch, numbers)) for form in (_COMMA, _POINT))
    return None if comma == point else comma
