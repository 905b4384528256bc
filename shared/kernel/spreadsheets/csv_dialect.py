"""How a .csv is written: what separates its cells."""

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
_JUDGED = 100
"""Records of the start of the file by which a separator is judged."""

_TOLD = re.compile(r'"?sep=([^\w"\s]|\t)"?(?:\r\n|\n|\r)', re.IGNORECASE)
"""What Excel writes into, and reads from, the first line where a separator may surprise."""


class Form(NamedTuple):
    """What separates cells, and whether the first line says so, and is no row."""

    separator: str
    is_told: bool


def form_of(text: str) -> Form:
    """Tell how a file is written, by its first lines."""
    told = _TOLD.match(text)
    if told:
        return Form(told[1], is_told=True)
    separator = max(_SEPARATORS, key=lambda one: _fit(*_records(text, one)))
    return Form(separator, is_told=False)


def _records(text: str, separator: str) -> tuple[list[list[str]], bool]:
    """The first records, and whether they are well written if this is the separator."""
    records: list[list[str]] = []
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        records.extend(islice(reader, _JUDGED))
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
