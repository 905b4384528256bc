"""Rules of stock on plain data: the changes of one transaction, levels and allocation."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from shared.kernel.db.actions import StaleRead
from shared.kernel.db.items import Key
from shared.kernel.errors import Conflict
from shared.kernel.fields import ZERO, plain
from shared.warehouse.stock.models import (
    LastDeparture,
    Lot,
    Movement,
    MovementCause,
    MovementPlace,
    MovementType,
    RowKey,
    StockRefused,
    StockRow,
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


def arrivals(before: Mapping[Key, StockRow], changed: Iterable[tuple[Key, StockRow]]) -> set[int]:
    """Return the ids of the positions where there is more of a product than before."""
    found: dict[tuple[int, int], Decimal] = {}
    for key, row in changed:
        for one, sign in ((before.get(key), -1), (row, 1)):
            if one is not None and one.position_id is not None:
                goods = (one.position_id, one.product_id)
                found[goods] = found.get(goods, ZERO) + sign * one.qty
    return {position for (position, _), more in found.items() if more > 0}


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
