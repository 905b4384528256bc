"""Levels and totals as they are stored, and adding what is pending to their figures.

See `level_book`. What a request has left pending is added by the next request that prepares
changes, and by an hourly run (`settle_left`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from shared.kernel.db.items import Key
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.events.outbox import raise_record_event
from shared.kernel.observability import logger
from shared.warehouse.stock import level_rules, views
from shared.warehouse.stock.level_marks import (
    abort,
    is_abandoned,
    left_marks,
    let_mark_expire,
    mark_key,
    places_of,
    shares_of,
    states_of,
    with_committed,
)
from shared.warehouse.stock.level_rules import LevelChange
from shared.warehouse.stock.models import SHARES_SINCE, PendingShares, Place, StoredLevel
from shared.warehouse.stock.repository import LEVELS, TOTALS, level_id

_STEP_ACTIONS = 72
"""Levels and totals of a transaction that prepares or adds pending changes."""
_MOST_ABORTED = 4
"""Abandoned changes that one transaction aborts: each takes an action, which nothing counts."""
SETTLE_SECONDS = 8.0
"""Time that adding the changes of one transaction may need; it does not start with less."""


def level_keys(places: Iterable[Place]) -> list[Key]:
    """Return the keys of the levels of (product, warehouse) pairs and of the products' totals."""
    places = set(places)
    return [
        *(LEVELS.key(level_id(*place)) for place in places),
        *(TOTALS.key(product) for product in {product for product, _ in places}),
    ]


def raise_level_event(tx: Transaction, level: Record[StoredLevel]) -> None:
    """Raise stock.updated about a level."""
    shown = replace(level, id=level.entity.event_id)
    raise_record_event(tx, "stock.updated", views.level_events(tx.store.version, tx.now_ms), shown)


class StoredLevels:
    """The stored levels and totals of some places, to be changed in one transaction."""

    def __init__(self, tx: Transaction, places: Iterable[Place]) -> None:
        self._tx = tx
        places = set(places)
        found = tx.store.get_many(level_keys(places))
        self.levels = {place: LEVELS.from_items(found, level_id(*place)) for place in places}
        self.totals = {product: TOTALS.from_items(found, product) for product, _ in places}
        stored = [one.entity for one in (*self.levels.values(), *self.totals.values()) if one]
        self.states = states_of(tx.store, stored)
        """The states of the transactions that have ended and have pending changes in them."""

    def reserve_ids(self) -> None:
        """Allocate the ids of the levels that are new in one call."""
        missing = sum(record is None for record in self.levels.values())
        if missing:
            self._tx.reserve_ids(LEVELS.kind, missing)

    def level_of(self, change: LevelChange) -> StoredLevel:
        """Return the level that a change is of, as it is stored or new."""
        record = self.levels[ids_of(change)]
        if record:
            return record.entity
        return level_rules.empty_level(change.place, self._tx.next_id(LEVELS.kind), self._tx.now)

    def total_of(self, change: LevelChange) -> StoredLevel:
        """Return the total of the product of a change, as it is stored or new."""
        product = change.place.product_id
        record = self.totals[product]
        if record:
            return record.entity
        return level_rules.empty_level(change.place, product, self._tx.now, total=True)

    def put_level(self, change: LevelChange, level: StoredLevel) -> Record[StoredLevel]:
        """Write the level that a change is of."""
        ids = ids_of(change)
        record = self.levels[ids]
        if record:
            return LEVELS.replace(self._tx, record, level)
        return LEVELS.insert(self._tx, level_id(*ids), level)

    def put_total(self, change: LevelChange, total: StoredLevel) -> None:
        """Write the total of the product of a change."""
        product = change.place.product_id
        record = self.totals[product]
        if record:
            TOTALS.replace(self._tx, record, total)
        else:
            TOTALS.insert(self._tx, product, total)

    def as_committed(self, level: StoredLevel) -> StoredLevel:
        """Return a level with its pending changes that are committed in its figures, too."""
        return with_committed(level, self.states)

    def drop(
        self, is_ended: Callable[[PendingShares], bool] = is_abandoned
    ) -> Callable[[StoredLevel], StoredLevel]:
        """Return a function that returns a level without the pending changes that never count.

        It aborts those that have no mark, although their transaction `is_ended`.
        """
        aborted = set[str]()

        def never_counts(one: PendingShares) -> bool:
            if one.name in self.states:
                return self.states[one.name] == "aborted"
            if one.name not in aborted:
                if not is_ended(one) or len(aborted) == _MOST_ABORTED:
                    return False
                aborted.add(one.name)
                abort(self._tx, one.name)
            return True

        def dropped(level: StoredLevel) -> StoredLevel:
            left = [one for one in level.pending if not never_counts(one)]
            return level.model_copy(update={"pending": left}) if level.pending else level

        return dropped

    def settle(
        self, is_ended: Callable[[PendingShares], bool] = is_abandoned
    ) -> Callable[[StoredLevel], StoredLevel]:
        """Return a function that returns a level without the pending changes that have ended.

        Those of committed transactions are in its figures.
        """
        drop = self.drop(is_ended)

        def settled(level: StoredLevel) -> StoredLevel:
            left = [one for one in drop(level).pending if one.name not in self.states]
            level = self.as_committed(level)
            return level.model_copy(update={"pending": left}) if level.pending else level

        return settled


def products_of(changes: Iterable[LevelChange]) -> set[int]:
    """Return the ids of the products of changes."""
    return {one.place.product_id for one in changes}


def ids_of(change: LevelChange) -> Place:
    """Return the ids of the product and the warehouse of a change."""
    return change.place.product_id, change.place.warehouse_id


def parts_of(places: Iterable[Place]) -> Iterator[list[Place]]:
    """Yield places in parts that fit into a transaction; a product is in one of them."""
    by_product: dict[int, list[Place]] = {}
    for place in places:
        by_product.setdefault(place[0], []).append(place)
    part, actions = list[Place](), 0
    for of_product in by_product.values():
        more = len(of_product) + 1
        if part and actions + more > _STEP_ACTIONS:
            yield part
            part, actions = [], 0
        part, actions = part + of_product, actions + more
    if part:
        yield part


def fold(store: Store, name: str, places: Iterable[Place], *, may_queue: bool = True) -> None:
    """Add the committed changes of a transaction to the figures of its levels, with their events.

    Its mark then expires after a day: requests that have read the levels before still need it.
    """

    def fold_part(part: Sequence[Place]) -> None:
        store.keep_claim()
        run_transaction(store, lambda tx: settle_levels(tx, part), may_queue=may_queue)

    map_concurrently(fold_part, list(parts_of(places)))
    run_transaction(store, lambda tx: let_mark_expire(tx, name), may_queue=may_queue)


@dataclass(slots=True)
class SettledMarks:
    """What `settle_left` has done."""

    settled: int = 0
    """Number of the transactions whose changes are added to the figures of their levels now."""
    is_completed: bool = True
    """Whether nothing is left but the transactions that failed."""
    failed: list[str] = field(default_factory=list)
    """The names of the transactions whose changes could not be added."""


def settle_left(store: Store) -> SettledMarks:
    """Add the committed changes that requests have left, because they died, to the figures.

    It is not completed when the deadline of the store is too near for another transaction.
    """
    result = SettledMarks()
    for name in left_marks(store):
        if store.deadline.remaining < SETTLE_SECONDS:
            result.is_completed = False
            break
        try:
            settle(store, name, may_queue=False)
        except Exception:  # noqa: BLE001 - the others go on
            logger.exception("pending changes of levels failed", transaction=name)
            result.failed.append(name)
        else:
            result.settled += 1
    return result


def settle(store: Store, name: str, *, may_queue: bool = True) -> None:
    """Add the changes of a transaction whose mark is in the index, which may lag behind."""
    for mark in store.get_many([mark_key(name)]).values():
        fold(store, name, places_of(mark), may_queue=may_queue)


def settle_levels(tx: Transaction, places: Iterable[Place]) -> None:
    """Settle the pending changes of levels and of the totals of their products.

    Those of committed transactions are added to the figures, those of others that have ended or
    were abandoned are dropped.
    """
    levels = StoredLevels(tx, places)
    settled = levels.settle()
    for collection, records in ((LEVELS, levels.levels), (TOTALS, levels.totals)):
        for record in records.values():
            after = settled(record.entity) if record else None
            if record is None or after is None or after == record.entity:
                continue
            before = record.entity
            if (shares_of(after), after.holds) == (shares_of(before), before.holds):
                collection.replace(tx, record, after)
                continue
            update = {"updated_at": tx.now, "event_due": False}
            written = collection.replace(tx, record, after.model_copy(update=update))
            if collection is LEVELS and (before.event_due or are_shares_shown(tx)):
                raise_level_event(tx, written)


def are_shares_shown(tx: Transaction) -> bool:
    """Return whether answers show shares: not before an upgrade that adds them is completed."""
    return tx.store.version.complete >= SHARES_SINCE
