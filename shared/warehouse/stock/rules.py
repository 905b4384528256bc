"""Rules of stock on plain data: the changes of one transaction, levels and allocation."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from shared.kernel.clock import instant
from shared.kernel.db.actions import StaleRead
from shared.kernel.db.items import Key
from shared.kernel.errors import Conflict
from shared.kernel.fields import ZERO, plain
from shared.warehouse.stock.models import (
    HeldQuantity,
    InventoryStatus,
    LastDeparture,
    LevelPlace,
    Lot,
    Movement,
    MovementCause,
    MovementPlace,
    MovementType,
    Quantities,
    RowKey,
    StockRefused,
    StockRow,
    StoredLevel,
)

MAX_ROW = Decimal(999_999_999_999)
"""Maximum quantity of a stock row. Lists sort by its text, which has 12 digits before the point."""
NO_EXPIRY = "9999-12-31"


@dataclass(frozen=True, slots=True)
class PendingMovement:
    """A movement before it has its id."""

    type: MovementType
    row: StockRow
    qty: Decimal
    origin: MovementPlace | None
    target: MovementPlace | None
    reason: str | None = None


@dataclass(slots=True)
class StockChanges:
    """The stock rows that one transaction touches, before and after its changes.

    `key_of` returns the key of a row in the table.
    `move` is the only method that changes quantities on hand, and it records a movement.
    `allocate` and `release` change allocated quantities and record no movement.

    `batch_dates` has the expiry date of each batch that gets stock. `cause` is the work for which
    stock moves.

    Work owns its allocations until it ends. If a row has less allocated than the work expects,
    the work was read before another request changed it, and `StaleRead` is raised.
    """

    key_of: Callable[[RowKey], Key]
    now: str
    stored: dict[Key, StockRow] = field(default_factory=dict)
    rows: dict[Key, StockRow] = field(default_factory=dict)
    movements: list[PendingMovement] = field(default_factory=list)
    batch_dates: Mapping[Lot, str | None] = field(default_factory=dict)
    cause: MovementCause | None = None

    def add_rows(self, rows: Iterable[StockRow]) -> None:
        """Add rows as they are stored."""
        for row in rows:
            key = self.key_of(row.key)
            self.stored[key] = row
            self.rows[key] = row

    def find(self, key: RowKey) -> StockRow | None:
        """Return the row with this key, or None."""
        return self.rows.get(self.key_of(key))

    def changed(self) -> Iterator[tuple[Key, StockRow]]:
        """Yield the key and the new state of each row that differs from its stored state."""
        for key, row in self.rows.items():
            before = self.stored.get(key)
            if row is not before and row != before:
                yield key, row

    def savepoint(self) -> Callable[[], None]:
        """Return a function that reverts every change made after this call."""
        rows, moved = dict(self.rows), len(self.movements)

        def roll_back() -> None:
            self.rows = rows
            del self.movements[moved:]

        return roll_back

    def move(  # noqa: PLR0913 - what makes a movement
        self,
        kind: MovementType,
        qty: Decimal,
        *,
        source: StockRow | None = None,
        target: StockRow | None = None,
        allocated: bool = False,
        reason: str | None = None,
    ) -> StockRow | None:
        """Move `qty` out of the row `source`, into the row that `target` describes, or both.

        Stock that enters has no `source`, stock that leaves no `target`. With `allocated`, the
        quantity comes out of the allocated part of `source`. Stock that arrives with the status
        `staged` is allocated there too. `reason` replaces that of the other movements.

        Returns:
            The row that gained the quantity, or None without `target`.

        Raises:
            StockRefused: `source` has less available, or the serial is in stock already.
            Conflict: The row that gains the quantity would exceed MAX_ROW.
            StaleRead: `source` has less allocated than `qty`.
        """
        described = source or target
        if described is None:
            raise ValueError("a movement needs an origin or a target")
        taken_from = self._take(source, qty, allocated=allocated) if source else None
        added_to = self._put(target, qty, taken_from) if target else None
        # After an undone arrival, a serial is as if it had not come in.
        if taken_from and target is None and kind != "receipt_undone":
            self._record_departure(taken_from, kind)
        moved = added_to or taken_from or described
        self.movements.append(
            PendingMovement(
                kind, moved, qty, _movement_place(taken_from), _movement_place(added_to), reason
            )
        )
        return added_to

    def allocate(self, row: StockRow, qty: Decimal) -> None:
        """Allocate `qty` of the available part of `row`.

        Raises:
            StockRefused: The row has less available.
        """
        key = self.key_of(row.key)
        here = self.rows[key]
        available = here.qty - here.allocated if here.inventory_status == "available" else ZERO
        if available < qty:
            raise StockRefused(shortage(here, qty, available))
        self._write(key, here, allocated=here.allocated + qty)

    def release(self, row: StockRow, qty: Decimal) -> None:
        """Release `qty` of the allocated part of `row`.

        Raises:
            StaleRead: The row has less allocated.
        """
        key = self.key_of(row.key)
        here = self.rows[key]
        if here.allocated < qty:
            raise _stale_read(here)
        self._write(key, here, allocated=here.allocated - qty)

    def _take(self, source: StockRow, qty: Decimal, *, allocated: bool) -> StockRow:
        key = self.key_of(source.key)
        here = self.rows[key]
        unallocated = here.qty - here.allocated
        if allocated and qty > here.allocated:
            raise _stale_read(here)
        if not allocated and qty > unallocated:
            raise StockRefused(shortage(here, qty, unallocated))
        remaining = here.qty - qty
        self._write(
            key,
            here,
            qty=remaining,
            allocated=here.allocated - qty if allocated else here.allocated,
            status="in" if remaining else "out",
        )
        return here

    def _record_departure(self, row: StockRow, kind: MovementType) -> None:
        if row.serial_number is not None:
            key = self.key_of(row.key)
            departure = LastDeparture(type=kind, document=self.cause)
            self._write(key, self.rows[key], departure=departure)

    def _put(self, target: StockRow, qty: Decimal, source: StockRow | None) -> StockRow:
        key = self.key_of(target.key)
        received = source.received_at if source else target.received_at
        expiry = target.expiry_date if source is None else source.expiry_date
        here = self.rows.get(key)
        if here is not None and here.qty:
            if here.serial_number is not None:
                raise StockRefused(serial_in_stock(here))
            expiry = min(filter(None, (expiry, here.expiry_date)), default=None)
            received = min(received, here.received_at)
        if target.batch_num is not None:
            expiry = self.batch_dates[target.product_id, target.batch_num]
        total = (here.qty if here else ZERO) + qty
        if total > MAX_ROW:
            place = target.bin_code or "in transit"
            raise Conflict(
                f"{target.item_code} at {place} would be {plain(total)}; the limit is {MAX_ROW}."
            )
        # A new name of the product reaches the rows that there are; `target` may have the old one.
        named = here if here and here.item_code == target.item_code else source or target
        after = target.model_copy(
            update={
                "id": here.id if here else 0,
                "created_at": here.created_at if here else self.now,
                "updated_at": self.now,
                "qty": total,
                "product_name": named.product_name,
                "allocated": (here.allocated if here else ZERO)
                + (qty if target.inventory_status == "staged" else ZERO),
                "status": "in",
                "expiry_date": expiry,
                "departure": here.departure if here else None,
                "received_at": received,
            }
        )
        self.rows[key] = after
        return after

    def _write(self, key: Key, row: StockRow, **update: object) -> None:
        self.rows[key] = row.model_copy(update={**update, "updated_at": self.now})


def shortage(row: StockRow, requested: Decimal, available: Decimal) -> str:
    """Return the message for a row that has less available than requested."""
    place = f"at {row.bin_code}" if row.bin_code else "in transit"
    return f"{plain(requested)} requested, {plain(available)} available of {row.item_code} {place}"


def serial_in_stock(row: StockRow) -> str:
    """Return the message for a serial that has stock already, with the place."""
    place = f"stock at {row.whs_code} {row.bin_code}"
    if row.bin_code is None:
        place = f"transit to {row.whs_code}"
    return f"serial {row.serial_number} is already in {place}"


def _stale_read(row: StockRow) -> StaleRead:
    message = f"row {row.id} has {row.allocated:f} of {row.item_code} allocated, less than expected"
    return StaleRead(message)


def _movement_place(row: StockRow | None) -> MovementPlace | None:
    if row is None:
        return None
    return MovementPlace(
        whs_code=row.whs_code, bin_code=row.bin_code, inventory_status=row.inventory_status
    )


# Levels: sums over rows


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
    after = with_holds(level, difference.new_holds, difference.ended_holds, now_ms)
    after = with_amounts(after, difference.amounts)
    after = after.model_copy(update={"updated_at": instant(now_ms)})
    if not of_stock:
        return after
    sums = {name: getattr(after, name) for name in Quantities.model_fields}
    if after.available < 0 or any(qty < 0 for qty in sums.values()):
        raise NegativeLevel(f"product {level.product_id}: {sums}")
    whs_code = None if level.whs_code is None else place.whs_code
    return after.model_copy(update={"item_code": place.item_code, "whs_code": whs_code})


def with_amounts(level: StoredLevel, amounts: Mapping[str, Decimal]) -> StoredLevel:
    """Return a level with `amounts` added to its quantities and shares of these names."""
    return level.model_copy(
        update={name: getattr(level, name) + qty for name, qty in amounts.items()}
    )


def ensure_held(level: StoredLevel, difference: LevelChange) -> None:
    """Raise HoldExpired unless a level has all holds that are to be removed."""
    if Counter(difference.ended_holds) - Counter(level.holds):
        raise HoldExpired


def with_holds(
    level: StoredLevel,
    new: Iterable[HeldQuantity],
    ended: Iterable[HeldQuantity],
    now_ms: int = 0,
) -> StoredLevel:
    """Return a level with `new` holds, and without those that are `ended` or have expired by now.

    An ended hold that it does not have has expired.
    """
    left = Counter(level.holds) + Counter(new)
    left.subtract(ended)
    holds = sorted(one for one in left.elements() if one[0] > now_ms)
    return level if holds == level.holds else level.model_copy(update={"holds": holds})


def taken(change: LevelChange, now_ms: int) -> Decimal:
    """Return what a change of a level takes of what can be sold at a moment."""
    available = Quantities.model_construct(None, **change.amounts).available
    held = (qty * number for (until_ms, qty), number in change.holds.items() if until_ms > now_ms)
    return change.amounts.get("committed", ZERO) + sum(held, ZERO) - available


def stock_count_changes(
    before: Mapping[Key, StockRow], changed: Iterable[tuple[Key, StockRow]]
) -> dict[int, int]:
    """Return the change of the number of rows with stock, by the id of the position."""
    found: dict[int, int] = {}
    for key, row in changed:
        for one, sign in ((before.get(key), -1), (row, 1)):
            if one is not None and one.qty and one.position_id is not None:
                found[one.position_id] = found.get(one.position_id, 0) + sign
    return {position: count for position, count in found.items() if count}


def batch_changes(
    before: Mapping[Key, StockRow], changed: Iterable[tuple[Key, StockRow]]
) -> dict[Lot, list[Key]]:
    """Return the rows that get their first stock of a batch, or another date, by batch.

    A row that has stock and keeps its date is left out.
    """
    found: dict[Lot, list[Key]] = {}
    for key, row in changed:
        old = before.get(key)
        if row.batch_num is None or not row.qty:
            continue
        if old is None or not old.qty or old.expiry_date != row.expiry_date:
            found.setdefault((row.product_id, row.batch_num), []).append(key)
    return found


# Allocation


def choose_rows(
    rows: Iterable[StockRow],
    pick_faces: Mapping[int, bool],
    qty: Decimal,
    batch: str | None = None,
) -> list[tuple[StockRow, Decimal]]:
    """Return the rows to allocate `qty` from, each with its quantity.

    Stock that expires first comes first, then stock at a pick face, then the oldest receipt.
    The quantities sum to less than `qty` if there is less available.

    `pick_faces` has the ids of the positions that can be picked from, and whether each is a pick
    face. With `batch`, only stock of this batch is chosen.
    """

    def order(row: StockRow) -> tuple[str, bool, str, int]:
        is_pick_face = pick_faces[row.position_id or 0]
        return row.expiry_date or NO_EXPIRY, not is_pick_face, row.received_at, row.id

    matching = [
        row
        for row in rows
        if row.inventory_status == "available"
        and row.position_id in pick_faces
        and batch in {None, row.batch_num}
    ]
    chosen: list[tuple[StockRow, Decimal]] = []
    for row in sorted(matching, key=order):
        part = min(qty, row.qty - row.allocated)
        if part > 0:
            chosen.append((row, part))
            qty -= part
    return chosen


def movement_of(moved: PendingMovement, number: int, stamp: Mapping[str, object]) -> Movement:
    """Return the entry of the stock ledger for `moved`."""
    row = moved.row
    return Movement.model_validate(
        {
            "id": number,
            "type": moved.type,
            "product_id": row.product_id,
            "item_code": row.item_code,
            "qty": moved.qty,
            "from": moved.origin,
            "to": moved.target,
            "batch_num": row.batch_num,
            "serial_number": row.serial_number,
            **stamp,
            "reason": moved.reason or stamp["reason"],
        }
    )
