"""The stock changes of one transaction: load the rows, change them, and post the result.

Rows, levels, movements and the events about changed levels are written in one transaction.
Each write has a condition on the version that was read.

Work that takes several steps raises one event per level. A step leaves the event of a level that
later steps are expected to change to them, and marks the level (`StoredLevel.event_due`). The next
change of a marked level, by a later step, the repeated request or other work, raises its event.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Collection as Several
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import product
from types import MappingProxyType

from shared.kernel.clock import instant
from shared.kernel.db import steps
from shared.kernel.db.actions import Cost
from shared.kernel.db.items import Item, Key, item_at
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.steps import commit_in_steps, has_room
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict
from shared.kernel.fields import ZERO
from shared.warehouse.catalog.models import KnownProduct
from shared.warehouse.stock import level_rules, rules
from shared.warehouse.stock.batches import Batch, Batches, lot_of
from shared.warehouse.stock.free_rows import SeenRows, available_of, named_rows
from shared.warehouse.stock.level_book import LevelBook
from shared.warehouse.stock.level_marks import states_of, with_committed
from shared.warehouse.stock.level_settling import level_keys, raise_level_event
from shared.warehouse.stock.models import (
    FreeRow,
    InventoryStatus,
    Lot,
    MovementCause,
    Place,
    RowKey,
    StockRow,
    StoredLevel,
)
from shared.warehouse.stock.position_rooms import PositionRooms
from shared.warehouse.stock.repository import (
    LEVELS,
    MOVEMENTS,
    STOCK,
    TOTALS,
    batch_key,
    level_id,
    row_key,
)
from shared.warehouse.warehouses.models import KnownPosition, KnownWarehouse

_LEAST_PER_PRODUCT = 2
"""Minimum number of actions per product with changed stock: a level and the total."""
_MOST_PER_ROW = 10
"""Most actions that another state of one row adds: the row, its alias, its batch and total, and the
levels and positions of its stored, its former and its new state."""
_RECENT_MS = 5_000
"""Age up to which an index may not show a change: its commit may have taken seconds."""
_ACTIONS_PER_DUE_EVENT = 2
"""The level and its event."""


def empty_row(  # noqa: PLR0913 - what makes a row
    product: KnownProduct,
    warehouse: KnownWarehouse,
    position: KnownPosition | None,
    *,
    status: InventoryStatus,
    batch: str | None,
    serial: str | None,
    expiry_date: str | None = None,
    now: str,
) -> StockRow:
    """Return a row without stock, as the target of a movement; `post` gives it its id."""
    return StockRow(
        id=0,
        product_id=product.id,
        product_name=product.name,
        item_code=product.item_code,
        qty=ZERO,
        status="out",
        serial_number=serial,
        batch_num=batch,
        warehouse_id=warehouse.id,
        whs_code=warehouse.whs_code,
        position_id=position.id if position else None,
        bin_code=position.bin_code if position else None,
        expiry_date=expiry_date,
        inventory_status=status,
        received_at=now,
        created_at=now,
        updated_at=now,
    )


def arrival_keys(targets: Iterable[RowKey]) -> list[Key]:
    """Return the keys that `StockPosting.load` reads first for `targets`."""
    keys: list[Key] = []
    for target in targets:
        lot = lot_of(target)
        keys += [row_key(target), *level_keys({(target.product_id, target.warehouse_id)})]
        keys += [] if lot is None else [batch_key(lot)]
    return keys


def new_entities(targets: Iterable[RowKey], found: Mapping[Key, Item | None]) -> dict[str, int]:
    """Return how many levels and rows of `targets` do not exist, by the kind of their ids.

    `found` has the existing items under `arrival_keys(targets)`.
    """
    places = {(target.product_id, target.warehouse_id) for target in targets}
    keys = {
        LEVELS.kind: {LEVELS.key(level_id(*place)) for place in places},
        STOCK.kind: {row_key(target) for target in targets},
    }
    return {kind: sum(found.get(key) is None for key in keys[kind]) for kind in keys}


def fence_master_data(tx: Transaction) -> None:
    """Make the commit fail when a product or a position of the stock is deleted from now on.

    Call it before reading them, where stock can arrive that was not there. It costs one read.
    Movements are counted with the stock, so every change of it checks the fence.
    """
    tx.fence(STOCK.kind)


def read_ahead[I](
    items: Iterable[I], product_of: Callable[[I], int], actions: Callable[[I], int]
) -> list[I]:
    """Return the leading items that can fit into one step, to load their stock in one read.

    `actions(item)` is the minimum number of transaction actions of an item, without those of
    its product. The step can turn out to have room for fewer items.
    """
    planned, products, found = 0, set[int](), list[I]()
    for item in items:
        planned += actions(item)
        if product_of(item) not in products:
            products.add(product_of(item))
            planned += _LEAST_PER_PRODUCT
        if found and planned > steps.STEP_ACTIONS:
            break
        found.append(item)
    return found


class StockPosting:
    """The stock changes of one transaction.

    Args:
        tx: The transaction.
        cause: The work for which stock moves; None for an adjustment.
        reason: Reason of the movements, as text.

    If stock can arrive where there was none, the use case calls `fence_master_data` first.
    """

    def __init__(
        self, tx: Transaction, *, cause: MovementCause | None = None, reason: str | None = None
    ) -> None:
        self._tx = tx
        self._cause = cause
        self._reason = reason
        self._records: dict[int, Record[StockRow]] = {}
        self._levels: dict[Place, Record[StoredLevel]] = {}
        self._warehouses: set[int] = set()
        self.due_levels: set[Place] = set()
        """Levels whose events are still due after `post`."""
        self.batches = Batches(tx)
        self._rooms = PositionRooms(tx)
        self.changes = rules.StockChanges(
            row_key, tx.now, batch_dates=self.batches.dates, cause=cause
        )
        self.movement_ids: list[int] = []

    def load(  # noqa: PLR0913 - what is read
        self,
        *,
        rows: Several[int] = (),
        targets: Several[RowKey] = (),
        levels: Several[Place] = (),
        movements: int | None,
        batches: Mapping[Lot, Batch] = MappingProxyType({}),
        beside: Callable[[Iterable[StockRow]], object] | None = None,
    ) -> None:
        """Load rows and their levels, in two round trips at most.

        One round trip is enough if `levels` has the levels of all rows and `targets` is empty.
        `rows` are ids; the rows of `targets` need not exist. The ids of at most so many
        `movements` are reserved in parallel; None if nothing will be posted, which needs no ids.
        `batches` are those that are known not to be stored.
        `beside` may read more in the second round trip; it gets the rows of `rows`.
        """
        tx = self._tx
        aliases = [row_key(target) for target in targets]
        expected = {(one.product_id, one.warehouse_id) for one in targets} | set(levels)
        lots = sorted({lot for target in targets if (lot := lot_of(target))})
        keys = [*aliases, *(STOCK.key(number) for number in rows), *level_keys(expected)]
        keys += [batch_key(lot) for lot in lots]
        ids = [partial(tx.reserve_ids, MOVEMENTS.kind, movements)] if movements else []
        found, *_ = run_all(lambda: tx.store.get_many(keys), *ids)
        self._add_records(STOCK.from_items(found, number) for number in rows)
        others = {int(found[alias]["id"]) for alias in aliases if alias in found}
        places = {
            (row.product_id, row.warehouse_id) for row in self.changes.rows.values()
        } | expected
        new = new_entities(() if movements is None else targets, found)

        def derived(lot: Lot) -> Batch | None:
            has_total = TOTALS.key(lot[0]) in found  # as soon as its stock has changed once
            return batches.get(lot) or (None if has_total else Batch(lot, is_out=True))

        unread = self.batches.add_stored(lots, found, derived)
        loaded = list(self.changes.rows.values())
        keys = [*(STOCK.key(number) for number in others - set(rows)), *level_keys(places)]
        # Only what has something to do: each takes a thread.
        more, *_ = run_all(
            lambda: tx.store.get_many(keys),
            *(partial(tx.reserve_ids, kind, count) for kind, count in new.items() if count),
            *([partial(self.batches.add_derived, unread)] if unread else []),
            *([partial(beside, loaded)] if beside else []),
        )
        self._add_records(STOCK.from_items(more, number) for number in others - set(rows))
        self._add_levels(more, places)
        # An alias never changes. A level on which this change relies is also written.
        tx.read_first([*aliases, *level_keys(places)])

    def _add_records(self, records: Iterable[Record[StockRow] | None]) -> None:
        known = [record for record in records if record]
        self._records |= {record.id: record for record in known}
        self.changes.add_rows(record.entity for record in known)

    def _add_levels(self, found: Mapping[Key, Item], places: set[Place]) -> None:
        self._warehouses |= {warehouse for _, warehouse in places}
        for place in places:
            level = LEVELS.from_items(found, level_id(*place))
            if level:
                self._levels[place] = level

    def row(self, number: int) -> StockRow:
        """Return a loaded row with the changes made so far."""
        return self.changes.rows[row_key(self._records[number].entity.key)]

    def misses_rows(self, product_id: int, warehouse_id: int, *, skipped: bool) -> bool:
        """Return whether the index may miss rows: the level has more available stock than they.

        An index can lag behind; levels are read consistently. If rows were `skipped` (not loaded),
        the level always has more, so that only a level that changed a moment ago counts.
        """
        level = self._levels.get((product_id, warehouse_id))
        loaded = self._loaded_available((product_id, warehouse_id))
        if level is None or level.entity.available <= loaded:
            return False
        return not skipped or level.entity.updated_at > instant(self._tx.now_ms - _RECENT_MS)

    def read_free_rows(
        self, places: Several[Place], *, consistent: bool
    ) -> Mapping[Place, tuple[Decimal, list[FreeRow] | None]]:
        """Return what is available of levels, and the rows that they name: see `named_rows`.

        The levels and totals are read for `load`.
        """
        keys = level_keys(places)
        found = self._tx.store.get_many(keys, consistent=consistent)
        records = {place: LEVELS.from_items(found, level_id(*place)) for place in places}
        levels = {place: record.entity if record else None for place, record in records.items()}
        return {
            place: (level.available if level else ZERO, named_rows(level))
            for place, level in levels.items()
        }

    def read_ahead(
        self, *, late: Several[int], again: Several[int], levels: Several[Place]
    ) -> None:
        """Read rows for `load`: `late` eventually consistent, `again` as they are now.

        The `levels` are read as they are now, too.
        """
        store = self._tx.store
        keys = [*map(STOCK.key, again), *(LEVELS.key(level_id(*place)) for place in levels)]
        calls = [partial(store.get_many, keys, uncached=True)] if keys else []
        if late:
            calls.append(partial(store.get_many, list(map(STOCK.key, late)), consistent=False))
        if calls:
            run_all(*calls)

    def has_all_free_rows(self, place: Place) -> bool:
        """Return whether the loaded rows have all that is available according to their level."""
        level = self._levels.get(place)
        available = level.entity.available if level else ZERO
        return self._loaded_available(place) == available

    def _loaded_available(self, place: Place) -> Decimal:
        rows = self.changes.stored.values()
        of_place = (row for row in rows if (row.product_id, row.warehouse_id) == place)
        return sum(map(available_of, of_place), ZERO)

    def _seen_rows(self) -> dict[Place, SeenRows]:
        """Return the loaded rows of each level after the changes; the new ones have their ids."""
        found: dict[Place, dict[int, StockRow | None]] = {}
        for row in self.changes.stored.values():
            # A serial may have left for another warehouse.
            found.setdefault((row.product_id, row.warehouse_id), {})[row.id] = None
        for row in self.changes.rows.values():
            found.setdefault((row.product_id, row.warehouse_id), {})[row.id] = row
        return {place: SeenRows(found[place], self.has_all_free_rows(place)) for place in found}

    def row_id(self, row: StockRow) -> int:
        """Return the id of a changed row. A new row gets its id in `post`."""
        return self.changes.rows[row_key(row.key)].id

    def serial_refusal(self, target: StockRow) -> str | None:
        """Return why the serial of a loaded target, if any, cannot arrive; None if it can."""
        row = self.changes.find(target.key)
        if target.serial_number is None or row is None or not row.qty:
            return None
        return rules.serial_in_stock(row)

    def load_room(self, targets: Iterable[StockRow]) -> None:
        """Read what fits at the positions of loaded targets, if the company enforces it."""
        self._rooms.load(targets)

    def room_refusal(self, target: StockRow, qty: Decimal) -> str | None:
        """Return why `qty` of a target does not fit beside the changes made so far, if enforced.

        `load_room` has read the room of its position.
        """
        return self._rooms.refusal(self.changes, target, qty)

    def with_age(self, target: StockRow) -> StockRow:
        """Return goods that come back with the age of their serial, else of their batch.

        Goods without, and a new serial or batch, are as old as they are received. `target` is
        loaded.
        """
        row, lot = self.changes.find(target.key), lot_of(target)
        received = None
        if target.serial_number is not None and row:
            received = row.received_at
        elif lot:
            received = self.batches.first_receipt(lot)
        return target.model_copy(update={"received_at": received or target.received_at})

    def with_date(self, row: StockRow) -> StockRow:
        """Return a loaded row with the date of its batch, if that is loaded.

        A correction gives the date to the batch before its rows.
        """
        return self.batches.with_date(row) if lot_of(row) in self.batches.dates else row

    def conflict(self, message: str) -> Conflict:
        """Return the refusal of a change whose goods are not where its resource says.

        The resource may be older than the stock, so the first time both are read again.
        """
        self._tx.read_twice("stock")
        return Conflict(message)

    @property
    def planned_actions(self) -> int:
        """Number of actions that `post` will add, without those for the counters of collections.

        Events that have an item together count as the one of the work that the step belongs to.
        """
        changed = list(self.changes.changed())
        new = sum(row.id not in self._records for _, row in changed)  # each with an alias
        differences = level_rules.level_changes(self.changes.stored, changed)
        totals = level_rules.total_changes(differences)
        held = self._rooms.changed(self.changes)
        batches = rules.batch_changes(self.changes.stored, changed)
        others = (
            len(differences) + len(totals) + len(self.changes.movements) + len(held) + len(batches)
        )
        return len(changed) + new + others

    def add_while_fitting[I](
        self,
        items: Iterable[I],
        add: Callable[[I], object],
        extra: Callable[[], Cost] = Cost,
        most: int | None = None,
    ) -> list[I]:
        """Add items one by one while they fit into the step, and return the items added.

        At least one item is added. `add` makes the stock changes of one item; `extra` returns
        the cost of what else the caller will add, `most` the number of actions that all of it may
        take. See `shared.kernel.db.steps`.
        """
        added, planned = list[I](), self.planned_actions
        for item in items:
            rows, moved = dict(self.changes.rows), len(self.changes.movements)
            roll_back = self.changes.savepoint()
            add(item)
            others = extra()
            # Counting all actions again at each item would take a time that grows with its square.
            planned += self._most_added(rows, moved)
            if not has_room(self._tx, Cost(planned) + others, most):
                planned = self.planned_actions
                if added and not has_room(self._tx, Cost(planned) + others, most):
                    roll_back()
                    break
            added.append(item)
        return added

    def _most_added(self, rows: Mapping[Key, StockRow], moved: int) -> int:
        """Return how many `planned_actions` the changes since then have added at most.

        `rows` were the rows then, and `moved` the number of movements.
        """
        touched = sum(rows.get(key) is not row for key, row in self.changes.rows.items())
        return touched * _MOST_PER_ROW + len(self.changes.movements) - moved

    def post(self, later: Several[int] = ()) -> None:
        """Add the changed rows, batches, levels, totals, movements, stock counts and events.

        `later` are the ids of the products whose stock later steps of the work are expected to
        change. The events about their levels are left to these steps.
        """
        changed = list(self.changes.changed())
        for key, row in changed:
            self._post_row(key, row)
        for lot, keys in rules.batch_changes(self.changes.stored, changed).items():
            self.batches.write(
                lot, [self.changes.rows[key].id for key in keys if self._is_new(key)]
            )
        book = LevelBook.of(self._tx)
        self.due_levels = {place for place, one in self._levels.items() if one.entity.event_due}
        book.due_later |= set(product(later, self._warehouses))
        seen = self._seen_rows()
        for difference in level_rules.level_changes(self.changes.stored, changed):
            place = (difference.place.product_id, difference.place.warehouse_id)
            book.add_stock(difference, seen[place])
            (self.due_levels.add if place in book.due_later else self.due_levels.discard)(place)
        self._post_movements()
        self._rooms.post(self.changes)

    def update_due_levels(self, due: set[Place]) -> None:
        """Update `due`, the levels whose events earlier steps have left, after `post`."""
        due.difference_update(self._levels)
        due.update(self.due_levels)

    def _post_row(self, key: Key, row: StockRow) -> None:
        tx = self._tx
        record = self._records.get(row.id)
        if record:
            STOCK.replace(tx, record, row)
            return
        number = tx.next_id(STOCK.kind)
        # Callers refer to the new row by its id, for example in an allocation.
        self.changes.rows[key] = row = row.model_copy(update={"id": number})
        STOCK.insert(tx, number, row)
        tx.insert(item_at(key, id=number))

    def _is_new(self, key: Key) -> bool:
        """Return whether the index may not show yet that a changed row is of its batch."""
        before = self.changes.stored.get(key)
        return before is None or before.batch_num != self.changes.rows[key].batch_num

    def _post_movements(self) -> None:
        tx = self._tx
        caller = tx.caller
        stamp = {
            "document": self._cause,
            "user_id": caller.user_id if caller else None,
            "client_id": caller.client_id if caller else None,
            "reason": self._reason,
            "created_at": tx.now,
        }
        for moved in self.changes.movements:
            number = tx.next_id(MOVEMENTS.kind)
            self.movement_ids.append(number)
            MOVEMENTS.insert(tx, number, rules.movement_of(moved, number, stamp))


def raise_due_events(tx: Transaction, places: Iterable[Place]) -> None:
    """Commit the due events of levels, in steps; nothing may be added to `tx` before.

    A level whose event is not due any more is skipped.
    """

    def step(left: Sequence[Place]) -> int:
        part = left[: max(1, steps.STEP_ACTIONS // _ACTIONS_PER_DUE_EVENT)]
        records = LEVELS.get_many(tx.store, [level_id(*place) for place in part])
        due = [record for record in records if record.entity.event_due]
        states = states_of(tx.store, (record.entity for record in due))
        for record in due:
            level = record.entity.model_copy(update={"event_due": False})
            changed = LEVELS.replace(tx, record, level)
            shown = replace(changed, entity=with_committed(changed.entity, states))
            raise_level_event(tx, shown)
        return len(part)

    commit_in_steps(tx, sorted(places), step)
