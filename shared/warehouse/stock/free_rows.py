"""The rows with available stock that a level names, so that an allocation needs no index.

Whoever changes a level names the rows in it. Stock can move without a change of its level, from one
position to another, so the named rows may be wrong. Whoever uses them compares their sum with what
is available according to the level: only if both are equal, they are all rows with available stock.

A level that has available stock and names no rows has too many of them to name, or was written by a
release that did not name them. It names rows again when a change has seen all of them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby

from shared.kernel.fields import ZERO
from shared.warehouse.stock.models import FreeGroup, FreeRow, StockRow, StoredLevel

MOST_CHARACTERS = 400
"""Length of the rows in the text of a level. With them, a level still has less than 1 KB: beyond
that, each change of stock would cost two more write units."""
_CHARACTERS_PER_GROUP, _CHARACTERS_PER_ROW = 13, 1
"""Quotation marks, brackets and commas, and whether there is an expiry date."""
_CHARACTERS_PER_HOLD, _CHARACTERS_PER_PENDING = 25, 150
"""What each of them takes of the room for rows."""
_SHORT_CODES, _PLACES_OF_CODES = 40, 5
"""Bytes of the codes of product and warehouse that take no room, and what each further one takes:
keys of indexes have them, too."""


@dataclass(frozen=True, slots=True)
class SeenRows:
    """Rows of a level after a change, by id; `are_all` if they were all that had available stock.

    Rows without available stock are among them, if they were read. None is one that has left.
    """

    rows: Mapping[int, StockRow | None]
    are_all: bool

    def and_others(self, others: "SeenRows | None") -> "SeenRows":
        """Return these and the rows that another part of the same change has seen."""
        if others is None:
            return self
        return SeenRows({**others.rows, **self.rows}, self.are_all or others.are_all)


NO_ROWS = SeenRows({}, are_all=False)
"""What a change has seen that moves no stock of a level, but may leave less room for its rows."""


def available_of(row: StockRow) -> Decimal:
    """Return what of a row can be allocated."""
    return row.qty - row.allocated if row.inventory_status == "available" else ZERO


def named_rows(level: StoredLevel | None) -> list[FreeRow] | None:
    """Return the rows that a level names; None if it has available stock and names none.

    Their batches and expiry dates are not known; `expiry_date` is set if some of them have one.
    """
    if level is None or not level.available:
        return []
    if not level.free_rows:
        return None
    return [
        FreeRow(number, bin_code, None, "" if is_dated else None)
        for bin_code, is_dated, numbers in level.free_rows
        for number in numbers
    ]


def rows_to_name(before: StoredLevel, after: StoredLevel, seen: SeenRows) -> list[FreeGroup]:
    """Return the rows that a level names after a change; none if it has no room for them."""
    left: dict[int, tuple[str, bool]] = {}
    if not seen.are_all and before.available:
        if not before.free_rows:
            return []
        left = {
            number: (bin_code, is_dated)
            for bin_code, is_dated, numbers in before.free_rows
            for number in numbers
            if number not in seen.rows
        }
    for number, row in seen.rows.items():
        if row and row.bin_code is not None and available_of(row) > 0:
            left[number] = (row.bin_code, row.expiry_date is not None)
    groups = [
        (*place, [number for number, _ in of_place])
        for place, of_place in groupby(sorted(left.items(), key=_by_place), lambda one: one[1])
    ]
    codes = len(f"{after.item_code}{after.whs_code}".encode())
    taken = max(0, codes - _SHORT_CODES) * _PLACES_OF_CODES
    taken += len(after.holds) * _CHARACTERS_PER_HOLD + len(after.pending) * _CHARACTERS_PER_PENDING
    return groups if taken + _characters(groups) <= MOST_CHARACTERS else []


def _by_place(one: tuple[int, tuple[str, bool]]) -> tuple[tuple[str, bool], int]:
    number, place = one
    return place, number


def _characters(groups: Iterable[FreeGroup]) -> int:
    return sum(
        len(bin_code.encode())
        + _CHARACTERS_PER_GROUP
        + sum(len(str(number)) + _CHARACTERS_PER_ROW for number in numbers)
        for bin_code, _, numbers in groups
    )
