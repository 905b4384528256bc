"""Detects the separator of a .csv."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from io import StringIO
from itertools import islice
from typing import NamedTuple

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
