"""Fifth pass: what is committed, incoming and held in the levels and totals of each product.

Products are checked in the order of their ids, in windows: the shares of all open entities in the
levels of a window are held, at most MAX_SHARES. Levels with changes that an interrupted request has
left pending are found, too, and at the end the marks of these requests.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import batched, chain
from typing import Any

from operations.verify.findings import Drift, Fix, shown
from operations.verify.stock_rules import Sums, add
from operations.verify.table_access import ids_in, ids_updated_since, read_entries
from shared.kernel.clock import instant, now_ms
from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import id_of, id_text
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.table import EXPIRY, index_keys
from shared.kernel.db.transaction import Transaction
from shared.kernel.fields import ZERO, plain
from shared.warehouse.documents.level_shares import entry_shares, exit_shares
from shared.warehouse.documents.repository import ENTRIES, EXITS
from shared.warehouse.holds.level_shares import held_shares
from shared.warehouse.holds.models import StoredHold
from shared.warehouse.holds.repository import HOLDS
from shared.warehouse.picking.level_shares import picking_shares
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.stock.level_marks import (
    is_abandoned,
    let_mark_expire,
    mark_key,
    places_of,
    states_of,
    with_committed,
)
from shared.warehouse.stock.level_rules import empty_level
from shared.warehouse.stock.level_settling import settle_levels
from shared.warehouse.stock.models import (
    SHARES_SINCE,
    HeldQuantity,
    LevelPlace,
    Place,
    Shares,
    StoredLevel,
)
from shared.warehouse.stock.repository import LEVELS, TOTALS, level_id
from shared.warehouse.transfer_orders.level_shares import order_shares
from shared.warehouse.transfer_orders.repository import TRANSFER_ORDERS

CHUNK = 25
"""Products of a chunk."""
MAX_SHARES = 200_000
"""Shares that are held; products beyond them wait for the next window."""
_BATCH = 100
_COMMIT_MS = 60_000
"""Age from which a change is committed, and shown by indexes: longer than any invocation."""

type _Source = tuple[str, int]
"""Kind and id of an entity."""
type _Share = tuple[LevelPlace, str | int, Decimal]
"""The level, the name of the share or the moment until which it is held, and the quantity."""
type _Subject = tuple[str, int | str]
"""A product, or the mark of a transaction, by its name."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of entities with shares, and the values of a facet with which they may have some.

    The shares of entities that `expire` end at their `expires_at`.
    """

    collection: Collection[Any]
    shares: Callable[[Any], Iterable[_Share]]
    statuses: Sequence[str]
    facet: str = "status"
    expire: bool = False


def _held_shares(hold: StoredHold) -> Iterator[_Share]:
    for place, (until_ms, qty) in held_shares(hold):
        yield place, until_ms, qty


_OPEN_DOCUMENT = ("open", "assigned", "partial-complete")
_KINDS = (
    _Kind(ENTRIES, entry_shares, _OPEN_DOCUMENT),
    _Kind(EXITS, exit_shares, _OPEN_DOCUMENT),
    _Kind(PICKINGS, picking_shares, ("pending", "started")),
    _Kind(
        TRANSFER_ORDERS,
        order_shares,
        ("released", "picking", "picked", "in_transit", "receiving"),
    ),
    _Kind(HOLDS, _held_shares, ("active",), "stage", expire=True),
)


@dataclass(slots=True)
class _Level:
    """What the entities add to a level: the sums, and the entities with their versions."""

    sums: Sums = field(default_factory=dict)
    holds: list[HeldQuantity] = field(default_factory=list)
    place: LevelPlace | None = None
    sources: list[tuple[_Source, int]] = field(default_factory=list)


class OpenShares:
    """The shares of open entities in the levels of a window of products."""

    def __init__(self, store: Store, low: int) -> None:
        self._store = store
        self._since_ms = now_ms()
        """When the last read of the entities began."""
        self.low = low
        self.high: int | None = None
        """The first product beyond the window, or None."""
        self._shares: dict[int, dict[_Source, list[_Share]]] = {}
        self._of_source: dict[_Source, tuple[int, set[int]]] = {}
        """Entity → its version, and the products in whose levels it has shares."""
        self._count = 0

    def load(self) -> Iterator[None]:
        """Read all entities that may have shares; yield after each part."""
        now = instant(now_ms())
        for kind in _KINDS:
            for status in kind.statuses:
                index = kind.collection.index_of(kind.facet)
                sort = index_keys(index)[1]
                partition = kind.collection.partition(kind.facet, status)
                low = now if kind.expire else None
                entries = read_entries(self._store, index, partition, low=low)
                for batch in batched(entries, _BATCH, strict=False):
                    self._read(kind, [id_of(entry[sort]) for entry in batch])
                    self._shrink()
                    yield

    def refresh(self, products: Iterable[int]) -> None:
        """Read the entities again that may have changed their shares in the levels of products."""
        since = instant(self._since_ms - _COMMIT_MS)
        self._since_ms = now_ms()  # what changes from now on is read by the next refresh
        holding = set(chain.from_iterable(self._shares.get(one, {}) for one in products))
        for kind in _KINDS:
            numbers = {number for name, number in holding if name == kind.collection.kind}
            numbers |= set(ids_updated_since(self._store, kind.collection, since))
            for batch in batched(sorted(numbers), _BATCH, strict=False):
                self._read(kind, batch)

    def of(self, product: int) -> dict[int, _Level]:
        """Return what the entities add to the levels of a product, by warehouse."""
        found: dict[int, _Level] = {}
        for source, shares in sorted(self._shares.get(product, {}).items()):
            for place, name, qty in shares:
                level = found.setdefault(place.warehouse_id, _Level(place=place))
                if isinstance(name, str):
                    add(level.sums, name, qty)
                else:
                    level.holds.append((name, qty))
                level.sources.append((source, self._of_source[source][0]))
        return found

    def _read(self, kind: _Kind, numbers: Sequence[int]) -> None:
        records = {one.id: one for one in kind.collection.get_many(self._store, numbers)}
        for number in numbers:
            source = (kind.collection.kind, number)
            for product in self._of_source.pop(source, (0, set[int]()))[1]:
                self._count -= len(self._shares.get(product, {}).pop(source, ()))
            record = records.get(number)
            # What an upgrade has not rewritten yet counts in no level, nor does what has ended.
            is_new = record is not None and record.schema >= SHARES_SINCE
            if record and is_new and getattr(record.entity, kind.facet) in kind.statuses:
                self._add(source, record.version, kind.shares(record.entity))

    def _add(self, source: _Source, version: int, shares: Iterable[_Share]) -> None:
        products = set[int]()
        for place, name, qty in shares:
            product = place.product_id
            if product >= self.low and (self.high is None or product < self.high):
                of_source = self._shares.setdefault(product, {}).setdefault(source, [])
                of_source.append((place, name, qty))
                products.add(product)
                self._count += 1
        if products:
            self._of_source[source] = (version, products)

    def _shrink(self) -> None:
        """Leave the products with the greatest ids to the next window if there is too much."""
        while self._count > MAX_SHARES and len(self._shares) > 1:
            products = sorted(self._shares)
            self.high = products[len(products) // 2]
            for product in products:
                if product >= self.high:
                    self._count -= sum(map(len, self._shares.pop(product).values()))


@dataclass(slots=True)
class SharesPass:
    """Checks the shares in levels and totals.

    `last_product` is the greatest id, `marks` has the names of the marks that do not expire.
    """

    store: Store
    last_product: int
    marks: set[str]
    name: str = "shares"
    _open: OpenShares | None = None
    _is_first_look: bool = True

    def chunks(self, position: Any) -> Iterator[tuple[list[_Subject], Any]]:
        """Yield chunks of products from the id `position` on, then of marks."""
        low: int | None = int(position or 1)
        while low is not None and low <= self.last_product:
            self._open = OpenShares(self.store, low)
            for _ in self._open.load():
                yield [], low
            high = self._open.high or self.last_product + 1
            for numbers in batched(range(low, high), CHUNK, strict=False):
                self._is_first_look = True
                yield [("product", number) for number in numbers], numbers[-1] + 1
            low = self._open.high
        for names in batched(sorted(self.marks), CHUNK, strict=False):
            yield [("mark", name) for name in names], self.last_product + 1
        yield [], None

    def look(self, subjects: Sequence[_Subject]) -> Mapping[_Subject, list[Drift]]:
        """Return the drifts of products and marks."""
        products = [number for _, number in subjects if isinstance(number, int)]
        if self._open is not None and products and not self._is_first_look:
            self._open.refresh(products)
        self._is_first_look = False
        found = {}
        for subject in subjects:
            number = subject[1]
            look = self._product(number) if isinstance(number, int) else self._mark(number)
            if drifts := list(look):
                found[subject] = drifts
        return found

    def _product(self, product: int) -> Iterator[Drift]:
        assert self._open is not None  # noqa: S101  chunks were read before
        expected = self._open.of(product)
        numbers = {level_id(product, warehouse) for warehouse in expected}
        numbers |= set(ids_in(self.store, LEVELS, "product_id", id_text(product)))
        levels = {
            record.id - level_id(product, 0): record
            for batch in batched(sorted(numbers), _BATCH, strict=False)
            for record in LEVELS.get_many(self.store, batch)
        }
        total = next(iter(TOTALS.get_many(self.store, [product])), None)
        stored = [*levels.values(), *([total] if total else [])]
        states = states_of(self.store, (record.entity for record in stored))
        whole = _Level()
        for warehouse in sorted({*expected, *levels}):
            level = expected.get(warehouse, _Level())
            whole.place = level.place or whole.place
            whole.sources += level.sources
            for name, qty in level.sums.items():
                add(whole.sums, name, qty)
            whole.holds += level.holds
            subject = f"level of product {product} in warehouse {warehouse}"
            place = (product, warehouse)
            yield from self._level(subject, place, levels.get(warehouse), level, states)
        if whole.sums or whole.holds or total:
            yield from self._level(
                f"total of product {product}", (product, 0), total, whole, states
            )

    def _level(
        self,
        subject: str,
        ids: Place,
        record: Record[StoredLevel] | None,
        expected: _Level,
        states: Mapping[str, Any],
    ) -> Iterator[Drift]:
        kind, collection = ("level", LEVELS) if ids[1] else ("total", TOTALS)
        basis = (record.version if record else 0, tuple(expected.sources))
        values = {name: expected.sums.get(name, ZERO) for name in Shares.model_fields}
        now = now_ms()
        holds = sorted(one for one in expected.holds if one[0] > now)
        if record is None:
            fix = Fix((subject,), lambda tx: _insert(tx, ids, expected))
            if any(values.values()) or holds:
                yield Drift(f"{kind}.missing", subject, "item", None, "stored", basis, fix)
            return
        left = [one for one in record.entity.pending if one.name in states or is_abandoned(one)]
        if left:
            settle = Fix(("pending", subject), lambda tx: settle_levels(tx, [ids]))
            names = shown([one.name for one in left])
            yield Drift("mark.left", subject, "pending", names, None, record.version, settle)
        settled = with_committed(record.entity, states)
        figures = settled.model_copy(update={**values, "holds": holds})
        fix = Fix((subject,), lambda tx: _correct(tx, collection, record, settled, figures))
        for name, value in values.items():
            if (one := getattr(settled, name)) != value:
                yield Drift(f"{kind}.{name}", subject, name, shown(one), shown(value), basis, fix)
        held = [one for one in settled.holds if one[0] > now]
        if held != holds:
            yield Drift(f"{kind}.held", subject, "holds", _texts(held), _texts(holds), basis, fix)

    def _mark(self, name: str) -> Iterator[Drift]:
        item = self.store.get(mark_key(name))
        if item is None or EXPIRY in item:
            return
        places = places_of(item)
        stored = chain(
            LEVELS.get_many(self.store, [level_id(*place) for place in places]),
            TOTALS.get_many(self.store, {product for product, _ in places}),
        )
        pending = chain.from_iterable(record.entity.pending for record in stored)
        is_needed = any(one.name == name for one in pending)
        fix = None if is_needed else Fix(("mark", name), lambda tx: let_mark_expire(tx, name))
        yield Drift("mark.endless", f"level_mark {name}", EXPIRY, None, "in a day", (), fix)


def _texts(holds: Iterable[HeldQuantity]) -> str | None:
    return shown([f"{plain(qty)} until {instant(until_ms)}" for until_ms, qty in holds])


def _correct(
    tx: Transaction,
    collection: Collection[StoredLevel],
    record: Record[StoredLevel],
    settled: StoredLevel,
    figures: StoredLevel,
) -> None:
    """Set shares and holds of a level less its pending changes that are committed, which stay."""
    entity = record.entity
    update: dict[str, Any] = {
        name: getattr(figures, name) - getattr(settled, name) + getattr(entity, name)
        for name in Shares.model_fields
    }
    before, after = Counter(entity.holds), Counter(settled.holds)
    holds = Counter(figures.holds) - (after - before) + (before - after)
    update["holds"] = sorted(holds.elements())
    collection.update(tx, record, update)


def _insert(tx: Transaction, ids: Place, expected: _Level) -> None:
    """Add the level of a warehouse, or the total if that is 0; the entities give its names."""
    assert expected.place is not None  # noqa: S101  there are shares
    product, warehouse = ids
    event_id = tx.next_id(LEVELS.kind) if warehouse else product
    level = empty_level(expected.place, event_id, tx.now, total=not warehouse)
    level = level.model_copy(update={**expected.sums, "holds": sorted(expected.holds)})
    if warehouse:
        LEVELS.insert(tx, level_id(*ids), level)
    else:
        TOTALS.insert(tx, product, level)
