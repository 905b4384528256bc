"""The levels and totals that one transaction changes: each is written once, at the commit.

Two things change a level: stock that moves (`StockPosting`), and the shares of entities such as
documents, each a quantity that an entity adds to the levels of its products while it is open
(`add_shares`). The book adds up both.

Shares of more products than the transaction has room for are prepared. Transactions before it add
the changes of its other levels to them as `pending`, where they count for nothing. The transaction
inserts its mark, and from then on all of them count. Transactions after it add them to the figures.
When the transaction is refused, its mark is inserted as aborted, and another attempt prepares again
under another name. A request that dies leaves pending changes behind: with a mark they count, and
the next writer of the level adds them; without one, the next writer after a minute drops them, and
inserts the mark as aborted, so that the request commits nothing any more.

Until its changes are added to the figures, a mark names their levels and is in an index, by the
time of its commit. What is a minute old there was left: the next request that prepares changes adds
the oldest, and an hourly run all of them (`settle_left`), so that the events are raised, and lists
sorted or filtered by these figures are right.
"""

import json
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import islice
from typing import Literal

from shared.kernel.clock import Instant, instant, now_ms
from shared.kernel.db.actions import Cost, StaleRead
from shared.kernel.db.indexes import entry
from shared.kernel.db.items import Item, Key, inflate, item_at
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.records import HEAD, Record
from shared.kernel.db.store import Store
from shared.kernel.db.table import EXPIRY, PARTITION_KEY, index_keys, index_name
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.events.outbox import raise_record_event
from shared.kernel.observability import logger
from shared.warehouse.stock import rules, views
from shared.warehouse.stock.models import (
    SHARES_SINCE,
    LevelPlace,
    PendingShares,
    Shares,
    StoredLevel,
)
from shared.warehouse.stock.repository import LEVELS, TOTALS, level_id
from shared.warehouse.stock.rules import LevelChange

_RETRY_MS = 1_500
"""How long a level that disagrees with the rows is treated as a stale read and retried."""
MOST_SMALL = 30
"""Most products whose shares are changed within the transaction itself."""
_STEP_ACTIONS = 72
"""Levels and totals of a transaction that prepares or adds pending changes."""
_ABANDONED_MS = 60_000
"""Age from which on pending changes without a mark are dropped: no request lasts so long."""
_MOST_ABORTED = 4
"""Abandoned changes that one transaction aborts: each takes an action, which nothing counts."""
SETTLE_SECONDS = 8.0
"""Time that adding the changes of one transaction may need; it does not start with less."""
_LEFT_INDEX = 1
_LEFT = "level_mark"
"""Partition of the index with the marks whose changes are not added to the figures yet."""
_MARK_SECONDS = 86_400
"""Seconds for which a mark is kept after nothing waits for it any more."""
_LEVEL_BYTES = 1_000

type Place = tuple[int, int]
"""Ids of a product and of a warehouse, which identify a level."""
type LevelShares = Iterable[tuple[LevelPlace, str, Decimal]]
"""What an entity adds to levels: the place, the name of the share, and the quantity."""
type _State = Literal["committed", "aborted"]


def mark_key(name: str) -> Key:
    """Return the key of the mark of a transaction with prepared changes."""
    return (f"level_mark#{name}", HEAD)


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
    raise_record_event(tx, "stock.updated", views.level_events(tx.store.version), shown)


def add_shares[E](
    shares: Callable[[E], LevelShares],
) -> Callable[[Transaction, E | None, E | None], None]:
    """Return the `add_shares` of a collection whose entities have these shares of levels."""

    def add(tx: Transaction, before: E | None, after: E | None) -> None:
        book = LevelBook.of(tx)
        for entity, sign in ((after, 1), (before, -1)):
            for place, name, qty in shares(entity) if entity is not None else ():
                book.add_share(place, name, sign * qty)

    return add


class LevelBook:
    """The changes of levels in one transaction: its `GatheredChanges`."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._changes: dict[Place, LevelChange] = {}
        self._of_stock: set[Place] = set()
        """Levels whose stock changes."""
        self.due_later: set[Place] = set()
        """Levels whose events are left to later steps, if they change."""
        self._name: str | None = None
        self._prepared: list[Place] = []

    @classmethod
    def of(cls, tx: Transaction) -> "LevelBook":
        """Return the book of a transaction."""
        book = tx.gathered.get(LEVELS.kind)
        if not isinstance(book, LevelBook):
            book = tx.gathered[LEVELS.kind] = cls(tx)
        return book

    def add_stock(self, change: LevelChange) -> None:
        """Add a change of stock."""
        place = change.place
        ids = (place.product_id, place.warehouse_id)
        former = self._changes.get(ids)
        self._changes[ids] = LevelChange(place, dict(former.amounts) if former else {})
        self._changes[ids].add(change.amounts)
        self._of_stock.add(ids)

    def add_share(self, place: LevelPlace, name: str, qty: Decimal) -> None:
        """Add a change of a share."""
        ids = (place.product_id, place.warehouse_id)
        self._changes.setdefault(ids, LevelChange(place)).add({name: qty})

    @property
    def item_codes(self) -> set[str]:
        """The codes of the products whose levels are changed."""
        return {one.place.item_code for one in self._changes.values()}

    def cost(self) -> Cost:
        """See GatheredChanges."""
        changes = [one for one in self._changes.values() if one.amounts]
        others = [one for one in changes if ids_of(one) not in self._of_stock]
        is_large = len(_products(others)) > MOST_SMALL
        if is_large:
            changes = [one for one in changes if ids_of(one) in self._of_stock]
        count = len(changes) + len(_products(changes)) + is_large  # the mark
        return Cost(count, count * _LEVEL_BYTES)

    def write(self) -> None:
        """See GatheredChanges."""
        tx = self._tx
        changes = [self._changes[ids] for ids in sorted(self._changes)]
        changes = [one for one in changes if one.amounts]
        others = [one for one in changes if ids_of(one) not in self._of_stock]
        # Levels and totals; less than there is room for, because the events may take an item.
        fits = len(changes) + len(_products(changes)) < tx.free_actions
        if len(_products(others)) > MOST_SMALL or (others and not fits):
            self._prepare(others)
            changes = [one for one in changes if ids_of(one) in self._of_stock]
        if changes:
            self._write(changes)

    def committed(self) -> None:
        """See GatheredChanges."""
        if self._name is None:
            return
        # The changes count already; what is not done here, later writers of the levels do.
        store = self._tx.store.beside_claim()
        try:
            _fold(store, self._name, self._prepared)
            if store.deadline.remaining > SETTLE_SECONDS:
                for name in _left_marks(store, most=1):
                    _settle(store, name)
        except Exception:  # noqa: BLE001 - the change is committed, whatever happens here
            logger.warning("pending changes of levels are left", exc_info=True)

    def refused(self) -> None:
        """See GatheredChanges; the next writers of the levels drop the pending changes."""
        if self._name is None:
            return
        # Without a mark, they are dropped after a minute. One that is committed after all stays.
        tx = Transaction(self._tx.store.beside_claim())
        _abort(tx, self._name)
        try:
            tx.commit()
        except Exception:  # noqa: BLE001 - the caller gets the error of the change
            logger.warning("pending changes of levels are not aborted", exc_info=True)

    def _write(self, changes: Sequence[LevelChange]) -> None:
        tx = self._tx
        levels = _Levels(tx, map(ids_of, changes))
        levels.reserve_ids()
        settled = levels.settle()
        for change in changes:
            ids = ids_of(change)
            level = settled(levels.level_of(change))
            level = self._changed(change, level, of_stock=ids in self._of_stock)
            event_due = ids in self.due_later
            level = level.model_copy(update={"event_due": event_due})
            written = levels.put_level(change, level)
            is_shown = ids in self._of_stock or _are_shares_shown(tx)
            if is_shown and not event_due:
                raise_level_event(tx, written)
        moved = {product for product, _ in self._of_stock}
        for change in rules.total_changes(changes):
            total = settled(levels.total_of(change))
            of_stock = change.place.product_id in moved
            levels.put_total(change, self._changed(change, total, of_stock=of_stock))

    def _changed(self, change: LevelChange, level: StoredLevel, *, of_stock: bool) -> StoredLevel:
        """Return a level after a change; raise StaleRead if rows are older than it."""
        try:
            return rules.apply_level_change(level, change, self._tx.now, of_stock=of_stock)
        except rules.NegativeLevel as error:
            # A commit between the two reads can show in the level and not yet in the rows.
            if self._tx.elapsed_ms < _RETRY_MS:
                raise StaleRead from error
            raise

    def _prepare(self, changes: Sequence[LevelChange]) -> None:
        """Commit changes as pending ones, and add the mark that makes them count."""
        tx = self._tx
        by_place = {ids_of(one): one for one in changes}
        self._name, self._prepared = uuid.uuid4().hex, list(by_place)
        store, name = tx.store.beside_claim(), self._name

        def prepare(places: Sequence[Place]) -> None:
            part = [by_place[place] for place in places]
            run_transaction(store, lambda own: _add_pending(own, name, part), caller=tx.caller)

        map_concurrently(prepare, list(_parts(by_place)))
        store.keep_claim()
        tx.insert(_mark(name, tx.now, by_place))
        # The totals of products whose stock changes, too, are written below.
        totals = [TOTALS.key(one) for one in _products(changes)]
        tx.store.get_many((key for key in totals if tx.store.is_cached(key)), uncached=True)


class _Levels:
    """The stored levels and totals of some places, to be changed in one transaction."""

    def __init__(self, tx: Transaction, places: Iterable[Place]) -> None:
        self._tx = tx
        places = set(places)
        found = tx.store.get_many(level_keys(places))
        self.levels = {place: LEVELS.from_items(found, level_id(*place)) for place in places}
        self.totals = {product: TOTALS.from_items(found, product) for product, _ in places}

    @property
    def stored(self) -> list[StoredLevel]:
        """The levels and totals that exist."""
        return [one.entity for one in (*self.levels.values(), *self.totals.values()) if one]

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
        return rules.empty_level(change.place, self._tx.next_id(LEVELS.kind), self._tx.now)

    def total_of(self, change: LevelChange) -> StoredLevel:
        """Return the total of the product of a change, as it is stored or new."""
        product = change.place.product_id
        record = self.totals[product]
        if record:
            return record.entity
        return rules.empty_level(change.place, product, self._tx.now, total=True)

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

    def settle(self) -> Callable[[StoredLevel], StoredLevel]:
        """Return a function that returns a level without the pending changes that have ended.

        Those of committed transactions are in its figures. It aborts abandoned ones.
        """
        tx = self._tx
        states = states_of(tx.store, self.stored)
        aborted = set[str]()

        def settled(level: StoredLevel) -> StoredLevel:
            if not level.pending:
                return level
            left = list[PendingShares]()
            for one in level.pending:
                if one.name in states:
                    continue
                if one.name in aborted:
                    continue
                if not is_abandoned(one) or len(aborted) == _MOST_ABORTED:
                    left.append(one)
                    continue
                aborted.add(one.name)
                _abort(tx, one.name)
            return with_committed(level, states).model_copy(update={"pending": left})

        return settled


def _products(changes: Iterable[LevelChange]) -> set[int]:
    return {one.place.product_id for one in changes}


def ids_of(change: LevelChange) -> Place:
    """Return the ids of the product and the warehouse of a change."""
    return change.place.product_id, change.place.warehouse_id


def states_of(store: Store, levels: Iterable[StoredLevel]) -> Mapping[str, _State]:
    """Return the states of the transactions that have ended and have pending changes in levels."""
    names = {one.name for level in levels for one in level.pending}
    found = store.get_many(map(mark_key, names)) if names else {}
    return {name: found[key]["state"] for name in names if (key := mark_key(name)) in found}


def with_committed(level: StoredLevel, states: Mapping[str, _State]) -> StoredLevel:
    """Return a level with its pending changes that are committed in its figures, too."""
    for one in level.pending:
        if states.get(one.name) == "committed":
            level = rules.with_amounts(level, shares_of(one))
    return level


def is_abandoned(pending: PendingShares) -> bool:
    """Return whether pending changes are so old that no request is about to commit them."""
    return pending.at_ms < now_ms() - _ABANDONED_MS


def shares_of(entity: Shares) -> dict[str, Decimal]:
    """Return the shares of a level, or a pending change of them, that are not 0."""
    return {name: qty for name in Shares.model_fields if (qty := getattr(entity, name))}


def _mark(name: str, now: Instant, places: Iterable[Place]) -> Item:
    """Return the mark of a transaction that is committed now, with the levels that it changes."""
    by_warehouse: dict[int, list[int]] = {}
    for product, warehouse in places:
        by_warehouse.setdefault(warehouse, []).append(product)
    packed = zlib.compress(json.dumps(list(by_warehouse.items())).encode())
    return item_at(mark_key(name), state="committed", places=packed, **left_entry(now))


def left_entry(committed_at: Instant) -> Item:
    """Return the attributes that enter a mark in the index until its changes are added."""
    return entry(_LEFT_INDEX, _LEFT, committed_at)


def places_of(mark: Item) -> list[Place]:
    """Return the levels that a transaction changes; none once its changes are added to them."""
    packed = mark.get("places")
    by_warehouse = json.loads(inflate(packed)) if packed else []
    return [(product, warehouse) for warehouse, products in by_warehouse for product in products]


def _parts(places: Iterable[Place]) -> Iterator[list[Place]]:
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


def _add_pending(tx: Transaction, name: str, part: Sequence[LevelChange]) -> None:
    """Add changes to their levels and totals as pending ones; no figure changes."""
    tx.store.keep_claim()
    levels = _Levels(tx, map(ids_of, part))
    levels.reserve_ids()
    states = states_of(tx.store, levels.stored)

    def with_pending(change: LevelChange, level: StoredLevel) -> StoredLevel:
        # Those of refused attempts of the same request go: they would add up.
        left = [one for one in level.pending if states.get(one.name) != "aborted"]
        pending = PendingShares(name=name, at_ms=tx.now_ms, **change.amounts)
        return level.model_copy(update={"pending": [*left, pending]})

    for change in part:
        levels.put_level(change, with_pending(change, levels.level_of(change)))
    for change in rules.total_changes(part):
        levels.put_total(change, with_pending(change, levels.total_of(change)))


def _fold(store: Store, name: str, places: Iterable[Place], *, may_queue: bool = True) -> None:
    """Add the committed changes of a transaction to the figures of its levels, with their events.

    Its mark then expires after a day: requests that have read the levels before still need it.
    """

    def fold_part(part: Sequence[Place]) -> None:
        store.keep_claim()
        run_transaction(store, lambda tx: settle_levels(tx, part), may_queue=may_queue)

    map_concurrently(fold_part, list(_parts(places)))
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
    for name in _left_marks(store):
        if store.deadline.remaining < SETTLE_SECONDS:
            result.is_completed = False
            break
        try:
            _settle(store, name, may_queue=False)
        except Exception:  # noqa: BLE001 - the others go on
            logger.exception("pending changes of levels failed", transaction=name)
            result.failed.append(name)
        else:
            result.settled += 1
    return result


def _left_marks(store: Store, most: int | None = None) -> Iterator[str]:
    """Yield the names of committed transactions whose requests have left their changes pending.

    They come by the time of their commit, at most the first `most`.
    """
    partition, sort = index_keys(_LEFT_INDEX)
    found = store.query_all(
        IndexName=index_name(_LEFT_INDEX),
        KeyConditionExpression=f"{partition} = :left AND {sort} < :before",
        values={":left": _LEFT, ":before": instant(now_ms() - _ABANDONED_MS)},
        ProjectionExpression=PARTITION_KEY,
        **({"Limit": most} if most else {}),
    )
    for item in islice(found, most):
        yield str(item[PARTITION_KEY]).partition("#")[2]


def _settle(store: Store, name: str, *, may_queue: bool = True) -> None:
    """Add the changes of a transaction whose mark is in the index, which may lag behind."""
    for mark in store.get_many([mark_key(name)]).values():
        _fold(store, name, places_of(mark), may_queue=may_queue)


def settle_levels(tx: Transaction, places: Iterable[Place]) -> None:
    """Settle the pending changes of levels and of the totals of their products.

    Those of committed transactions are added to the figures, those of others that have ended or
    were abandoned are dropped.
    """
    levels = _Levels(tx, places)
    settled = levels.settle()
    for collection, records in ((LEVELS, levels.levels), (TOTALS, levels.totals)):
        for record in records.values():
            after = settled(record.entity) if record else None
            if record is None or after is None or after == record.entity:
                continue
            if shares_of(after) == shares_of(record.entity):
                collection.replace(tx, record, after)
                continue
            update = {"updated_at": tx.now, "event_due": False}
            written = collection.replace(tx, record, after.model_copy(update=update))
            if collection is LEVELS and (record.entity.event_due or _are_shares_shown(tx)):
                raise_level_event(tx, written)


def _are_shares_shown(tx: Transaction) -> bool:
    """Return whether answers show shares: not before an upgrade that adds them is completed."""
    return tx.store.version.complete >= SHARES_SINCE


def _abort(tx: Transaction, name: str) -> None:
    """Keep a transaction with prepared changes from being committed."""
    expiry = tx.now_ms // 1000 + _MARK_SECONDS
    tx.insert(item_at(mark_key(name), state="aborted", **{EXPIRY: expiry}))


def let_mark_expire(tx: Transaction, name: str) -> None:
    """Let the mark of a committed transaction expire, whose changes are all settled."""
    expiry = tx.now_ms // 1000 + _MARK_SECONDS
    tx.put(item_at(mark_key(name), state="committed", **{EXPIRY: expiry}))
