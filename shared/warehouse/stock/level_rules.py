"""Rules of stock levels on plain data: sums over rows, shares of documents, and holds."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from shared.kernel.clock import instant
from shared.kernel.db.items import Key
from shared.kernel.fields import ZERO
from shared.warehouse.stock.models import (
    HeldQuantity,
    InventoryStatus,
    LevelPlace,
    Quantities,
    StockRow,
    StoredLevel,
)

_UNAVAILABLE: frozenset[InventoryStatus] = frozenset({"quarantine", "damaged", "blocked"})
"""Statuses whose quantities a level has by themselves."""


def level_share(row: StockRow) -> dict[str, Decimal]:
    """Return the quantities that `row` adds to the level of its product and warehouse."""
    if row.inventory_status == "in_transit":
        return {"in_transit": row.qty}
    added = {"on_hand": row.qty, "allocated": row.allocated}
    if row.inventory_status in _UNAVAILABLE:
        added[row.inventory_status] = row.qty
    return added


@dataclass(slots=True)
class LevelChange:
    """The differences of the quantities, shares and holds of one level.

    `place` identifies product and warehouse, and has their codes. `holds` has how many entries of
    each hold are added; a negative number is removed.
    """

    place: LevelPlace | StockRow
    amounts: dict[str, Decimal] = field(default_factory=dict)
    holds: dict[HeldQuantity, int] = field(default_factory=dict)

    def add(self, by: Mapping[str, Decimal], sign: int = 1) -> None:
        """Add `by`, multiplied by `sign`, to the amounts and drop amounts of 0."""
        for name, qty in by.items():
            total = self.amounts.pop(name, ZERO) + sign * qty
            if total:
                self.amounts[name] = total

    def add_holds(self, by: Mapping[HeldQuantity, int]) -> None:
        """Add the numbers of `by` to those of the holds and drop numbers of 0."""
        for hold, number in by.items():
            total = self.holds.pop(hold, 0) + number
            if total:
                self.holds[hold] = total

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        return not (self.amounts or self.holds)

    @property
    def new_holds(self) -> list[HeldQuantity]:
        """The entries that are added to the holds of the level."""
        return [hold for hold, number in self.holds.items() for _ in range(number)]

    @property
    def ended_holds(self) -> list[HeldQuantity]:
        """The entries that are removed from the holds of the level."""
        return [hold for hold, number in self.holds.items() for _ in range(-number)]


def level_changes(
    before: Mapping[Key, StockRow], changed: Iterable[tuple[Key, StockRow]]
) -> list[LevelChange]:
    """Return the change of the level of each product and warehouse, in a fixed order."""
    found: dict[tuple[int, int], LevelChange] = {}
    for key, row in changed:
        # The row as it is now comes first: its codes are the present ones.
        for one, sign in ((row, 1), (before.get(key), -1)):
            if one is not None:
                place = (one.product_id, one.warehouse_id)
                found.setdefault(place, LevelChange(one)).add(level_share(one), sign)
    return [found[place] for place in sorted(found) if found[place].amounts]


def total_changes(differences: Iterable[LevelChange]) -> list[LevelChange]:
    """Return the change of the total of each product over all warehouses."""
    found: dict[int, LevelChange] = {}
    for difference in differences:
        product = difference.place.product_id
        total = found.setdefault(product, LevelChange(difference.place))
        total.add(difference.amounts)
        total.add_holds(difference.holds)
    return [one for one in found.values() if not one.is_empty]


class HoldExpired(Exception):
    """A hold is to be removed from a level that has dropped it as expired."""

    def __init__(self, change: LevelChange) -> None:
        super().__init__()
        self.change = change


class NegativeLevel(Exception):
    """A level would fall below 0: it is newer than the rows, or rows and levels disagree."""


def empty_level(
    place: LevelPlace | StockRow, event_id: int, now: str, *, total: bool = False
) -> StoredLevel:
    """Return the level of a product and warehouse without stock, or the product's `total`."""
    return StoredLevel(
        event_id=event_id,
        product_id=place.product_id,
        item_code=place.item_code,
        whs_code=None if total else place.whs_code,
        created_at=now,
        updated_at=now,
    )


def apply_level_change(
    level: StoredLevel, difference: LevelChange, now_ms: int, *, of_stock: bool = True
) -> StoredLevel:
    """Return a level, or the total of a product, after `difference`, without expired holds.

    A change `of_stock` names the present codes of product and warehouse; another one may name
    former codes.

    Raises:
        HoldExpired: The level lacks a hold that is to be removed.
        NegativeLevel: A quantity would fall below 0.
    """
    place = difference.place
    ensure_held(level, difference)
    whs_code = None if level.whs_code is None else place.whs_code
    codes = {"item_code": place.item_code, "whs_code": whs_code} if of_stock else {}
    after = with_holds(level, difference.new_holds, difference.ended_holds, now_ms)
    after = with_amounts(after, difference.amounts, updated_at=instant(now_ms), **codes)
    if not of_stock:
        return after
    sums = {name: getattr(after, name) for name in Quantities.model_fields}
    if after.available < 0 or any(qty < 0 for qty in sums.values()):
        raise NegativeLevel(f"product {level.product_id}: {sums}")
    return after


def with_amounts(
    level: StoredLevel, amounts: Mapping[str, Decimal], **others: str | None
) -> StoredLevel:
    """Return a level with `amounts` added to its quantities and shares, and with `others`."""
    sums = {name: getattr(level, name) + qty for name, qty in amounts.items()}
    return level.model_copy(update={**sums, **others})


def ensure_held(level: StoredLevel, difference: LevelChange) -> None:
    """Raise HoldExpired unless a level has all holds that are to be removed."""
    if difference.holds and Counter(difference.ended_holds) - Counter(level.holds):
        raise HoldExpired(difference)


def with_holds(
    level: StoredLevel,
    new: Collection[HeldQuantity],
    ended: Collection[HeldQuantity],
    now_ms: int = 0,
) -> StoredLevel:
    """Return a level with `new` holds, and without those that are `ended` or have expired by now.

    An ended hold that it does not have has expired.
    """
    if not (level.holds or new or ended):
        return level
    left = Counter(level.holds) + Counter(new)
    left.subtract(ended)
    holds = sorted(one for one in left.elements() if one[0] > now_ms)
    return level if holds == level.holds else level.model_copy(update={"holds": holds})


def taken(change: LevelChange, now_ms: int) -> Decimal:
    """Return what a change of a level takes of what can be sold at a moment."""
    available = Quantities.model_construct(None, **change.amounts).available
    held = (qty * number for (until_ms, qty), number in change.holds.items() if until_ms > now_ms)
    return change.amounts.get("committed", ZERO) + sum(held, ZERO) - available
