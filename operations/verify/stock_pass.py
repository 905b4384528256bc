"""Second pass: movements, stock rows, levels and totals of each product, and what is allocated.

Products are checked in the order of their ids, in windows: the allocations of all work on the
products of a window are held, at most MAX_ALLOCATIONS. Of a product, its places with stock are
held, and the rows and levels that differ.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import batched
from typing import Any

from operations.verify import stock_rules as rules
from operations.verify.findings import Drift, Fix, shown
from operations.verify.stock_rules import StockPlace, WarehouseStock
from operations.verify.table_access import ids_in, ids_updated_since, read_entries
from shared.kernel.clock import instant, now_ms
from shared.kernel.db.facets import id_of, id_text
from shared.kernel.db.records import Record
from shared.kernel.db.sequences import last_id
from shared.kernel.db.store import Store
from shared.kernel.db.table import index_keys
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Gone, NotFound
from shared.kernel.fields import ZERO
from shared.warehouse.picking.models import StoredPicking
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.stock.level_rules import empty_level
from shared.warehouse.stock.models import StockRow, StoredLevel
from shared.warehouse.stock.posting import raise_due_events
from shared.warehouse.stock.repository import LEVELS, MOVEMENTS, STOCK, TOTALS, level_id

CHUNK = 25
"""Products of a chunk."""
MAX_ALLOCATIONS = 200_000
"""Allocated rows that are held; products beyond them wait for the next window."""
_BATCH = 100
_COMMIT_MS = 60_000
"""Age from which a change is committed, and shown by indexes: longer than any invocation."""
_DUE_MS = 600_000
"""Age from which an event that was left to a later step counts as forgotten."""


class Allocations:
    """The quantities that work has allocated, by product and row, for a window of products.

    Pickings are read in the order of their ids. While requests run, `refresh` reads those again
    that may have changed: the open ones, those updated since, and those that name a row.
    """

    def __init__(self, store: Store, low: int) -> None:
        self._store = store
        self._since_ms = now_ms()
        self.low = low
        self.high: int | None = None
        """The first product beyond the window, or None."""
        self._rows: dict[int, dict[int, dict[int, Decimal]]] = {}
        """Product → row → picking → quantity."""
        self._of_picking: dict[int, set[tuple[int, int]]] = {}
        self._count = 0

    def load(self, last: int) -> Iterator[int]:
        """Read the pickings up to the id `last`; yield how far it has come."""
        for numbers in batched(range(1, last + 1), _BATCH, strict=False):
            self._read(numbers)
            self._shrink()
            yield numbers[-1]

    def of(self, product: int) -> Mapping[int, Decimal]:
        """Return the allocated quantities of a product by row."""
        return {
            row: sum(by.values(), ZERO) for row, by in self._rows.get(product, {}).items() if by
        }

    def refresh(self, products: Sequence[int]) -> None:
        """Read the pickings again that may have changed the allocations of products."""
        numbers = set[int]()
        for status in ("pending", "started"):
            index = PICKINGS.index_of("status")
            entries = read_entries(self._store, index, PICKINGS.partition("status", status))
            numbers |= {id_of(entry[index_keys(index)[1]]) for entry in entries}
        since = instant(self._since_ms - _COMMIT_MS)
        numbers |= set(ids_updated_since(self._store, PICKINGS, since))
        for product in products:
            for by in self._rows.get(product, {}).values():
                numbers |= by.keys()
        for batch in batched(sorted(numbers), _BATCH, strict=False):
            self._read(batch)

    def _read(self, numbers: Sequence[int]) -> None:
        for record in PICKINGS.get_many(self._store, numbers):
            self._forget(record.id)
            self._add(record.id, record.entity)

    def _forget(self, number: int) -> None:
        for product, row in self._of_picking.pop(number, ()):
            if by := self._rows.get(product, {}).get(row):
                self._count -= by.pop(number, None) is not None

    def _add(self, number: int, picking: StoredPicking) -> None:
        products = {row: line.product_id for line in picking.lines for row in _rows_of(line)}
        named = set[tuple[int, int]]()
        for row, qty in rules.allocations_of(picking).items():
            product = products[row]
            if product >= self.low and (self.high is None or product < self.high):
                self._rows.setdefault(product, {}).setdefault(row, {})[number] = qty
                named.add((product, row))
                self._count += 1
        if named:
            self._of_picking[number] = named

    def _shrink(self) -> None:
        """Leave the products with the greatest ids to the next window if there is too much."""
        while self._count > MAX_ALLOCATIONS and len(self._rows) > 1:
            products = sorted(self._rows)
            self.high = products[len(products) // 2]
            for product in products:
                if product >= self.high:
                    self._count -= sum(map(len, self._rows.pop(product).values()))


def _rows_of(line: Any) -> Iterator[int]:
    yield from (one.stock_id for one in line.allocations)
    yield from (one.staged_id for one in line.picks)


@dataclass(slots=True)
class StockPass:
    """Checks the stock of products.

    `last_product` and `last_picking` are the greatest ids. `strays` has the ids of rows and
    movements that the index of products does not show.
    """

    store: Store
    last_product: int
    last_picking: int
    strays: Mapping[str, set[int]]
    name: str = "stock"
    _allocations: Allocations | None = None
    _ledgers: dict[int, tuple[int, dict[StockPlace, Decimal]]] = field(default_factory=dict)
    _seen: list[tuple[int, int]] = field(default_factory=list)
    """Moments in milliseconds, and the last id of a movement then."""

    def chunks(self, position: Any) -> Iterator[tuple[list[int], Any]]:
        """Yield chunks of products from the id `position` on; the first of a window is empty."""
        low: int | None = int(position or 1)
        while low is not None and low <= self.last_product:
            self._allocations = Allocations(self.store, low)
            for _ in self._allocations.load(self.last_picking):
                yield [], low
            high = self._allocations.high or self.last_product + 1
            for numbers in batched(range(low, high), CHUNK, strict=False):
                self._ledgers.clear()
                self._note_movements()
                yield list(numbers), numbers[-1] + 1
            low = self._allocations.high
        yield [], None

    def look(self, products: Sequence[int]) -> Mapping[int, list[Drift]]:
        """Return the drifts of the stock of products."""
        allocations = self._allocations
        assert allocations is not None  # noqa: S101  chunks were read before
        if self._ledgers:  # a look after the first one
            allocations.refresh(products)
        found = {}
        for product in products:
            look = _ProductLook(self, product, allocations.of(product))
            if drifts := list(look.drifts()):
                found[product] = drifts
        return found

    # The ledger

    def _note_movements(self) -> None:
        self._seen.append((now_ms(), last_id(self.store, MOVEMENTS.kind)))
        old = [last for moment, last in self._seen if moment < now_ms() - _COMMIT_MS]
        if old:  # only the newest old one is needed
            self._seen = self._seen[len(old) - 1 :]

    def ledger(self, product: int) -> dict[StockPlace, Decimal]:
        """Return the quantities that the movements of a product leave at its places.

        What no request can change any more is summed up once.
        """
        settled = self._seen[0][1] if self._seen[0][0] < now_ms() - _COMMIT_MS else 0
        done, sums = self._ledgers.get(product, (0, {}))
        later: dict[StockPlace, Decimal] = {}
        for numbers in batched(self._movements(product, done + 1), _BATCH, strict=False):
            for record in MOVEMENTS.get_many(self.store, numbers):
                if record.entity.product_id == product:
                    rules.add_movement(sums if record.id <= settled else later, record.entity)
        self._ledgers[product] = (max(done, settled), sums)
        total = dict(sums)
        for place, qty in later.items():
            rules.add(total, place, qty)
        return total

    def _movements(self, product: int, low: int) -> Iterator[int]:
        yield from ids_in(self.store, MOVEMENTS, "product_id", id_text(product), above=low)
        yield from (number for number in self.strays.get("movement", ()) if number >= low)

    def rows(self, product: int) -> Iterator[Record[StockRow]]:
        """Yield the rows of a product, each once."""
        strays = self.strays.get("stock", set())
        shown = ids_in(self.store, STOCK, "product_id", id_text(product))
        numbers = (number for number in shown if number not in strays)
        for source in (numbers, strays):
            for batch in batched(source, _BATCH, strict=False):
                for record in STOCK.get_many(self.store, batch):
                    if record.entity.product_id == product:
                        yield record


class _ProductLook:
    """One look at the stock of a product."""

    def __init__(self, source: StockPass, product: int, allocated: Mapping[int, Decimal]) -> None:
        self._source = source
        self._store = source.store
        self._product = product
        self._allocated = allocated
        self._warehouses: dict[int, WarehouseStock] = {}
        self._codes: dict[str, int] = {}
        self._digest = hashlib.blake2b(digest_size=16)
        self._found: list[Drift] = []
        self._dangling: Mapping[int, Decimal] = {}

    def drifts(self) -> Iterator[Drift]:
        states, differences = self._sum_up()
        self._read_levels()
        if not self._warehouses and not differences:
            return
        mismatched = list(self._mismatched(differences)) if differences else []
        for place, qty in differences.items():
            if warehouse := self._codes.get(place.whs_code):
                stock = self._warehouses[warehouse]
                stock.by_ledger = rules.sum_of([stock.by_ledger, rules.share_of(place, qty)])
        for record, expected in states:
            if record.entity.inventory_status != "in_transit":
                stock = self._warehouses[record.entity.warehouse_id]
                rules.add(stock.by_work, "allocated", expected - record.entity.allocated)
        for record, expected in states:
            yield self._allocation_drift(record, expected)
        yield from self._ledger_drifts(mismatched, differences)
        yield from self._level_drifts()

    def _sum_up(self) -> tuple[list[tuple[Record[StockRow], Decimal]], dict[StockPlace, Decimal]]:
        """Sum up the rows; return those whose allocation is wrong, and ledger minus rows."""
        differences: dict[StockPlace, Decimal] = {}
        wrong, left = list[tuple[Record[StockRow], Decimal]](), dict(self._allocated)
        for record in self._source.rows(self._product):
            row = record.entity
            self._digest.update(f"{record.id}:{record.version};".encode())
            stock = self._warehouses.setdefault(row.warehouse_id, WarehouseStock())
            self._codes.setdefault(row.whs_code, row.warehouse_id)
            if row.qty:
                self._codes[row.whs_code] = row.warehouse_id
            rules.add_share(stock.rows, row)
            rules.add(differences, rules.place_of(row), -row.qty)
            expected = left.pop(row.id, ZERO)
            if row.allocated != expected:
                wrong.append((record, expected))
            else:
                self._note_contradictions(record)
        self._dangling = left
        for place, qty in self._source.ledger(self._product).items():
            rules.add(differences, place, qty)
        return wrong, differences

    def _note_contradictions(self, record: Record[StockRow]) -> None:
        row = record.entity
        status = "in" if row.qty else "out"
        if row.status != status:
            fix = Fix(("row", row.id), lambda tx: _replace_row(tx, record, status=status))
            self._found.append(
                Drift("stock.status", f"stock {row.id}", "status", row.status, status,
                      record.version, fix)
            )  # fmt: skip
        for name, stored, expected in rules.row_problems(row):
            self._found.append(
                Drift("stock.contradiction", f"stock {row.id}", name, stored, expected,
                      record.version)
            )  # fmt: skip

    def _mismatched(self, differences: Mapping[StockPlace, Decimal]) -> Iterator[Record[StockRow]]:
        """Yield the rows at the places where rows and ledger differ."""
        for record in self._source.rows(self._product):
            if rules.place_of(record.entity) in differences:
                yield record

    def _ledger_drifts(
        self, rows: Sequence[Record[StockRow]], differences: Mapping[StockPlace, Decimal]
    ) -> Iterator[Drift]:
        by_place: dict[StockPlace, list[Record[StockRow]]] = {}
        for record in rows:
            by_place.setdefault(rules.place_of(record.entity), []).append(record)
        for place, difference in differences.items():
            found = by_place.get(place, [])
            stored = sum((record.entity.qty for record in found), ZERO)
            expected = stored + difference
            number = self._codes.get(place.whs_code)
            verdict = self._warehouses[number].verdict() if number else "unknown"
            basis = tuple((record.id, record.version) for record in found)
            if verdict == "source":
                yield Drift("ledger.wrong", f"product {self._product}", place.text,
                            shown(expected), shown(stored), basis)  # fmt: skip
            elif verdict == "rows" and len(found) == 1 and expected >= 0:
                yield self._row_drift("stock.qty", found[0], "qty", stored, expected)
            else:
                kind = "stock.row_missing" if not found else "stock.disagrees"
                yield Drift(kind, f"product {self._product}", place.text, shown(stored),
                            shown(expected), basis)  # fmt: skip

    def _row_drift(
        self, kind: str, record: Record[StockRow], name: str, stored: Decimal, expected: Decimal
    ) -> Drift:
        fix = Fix(("row", record.id, name), lambda tx: _replace_row(tx, record, **{name: expected}))
        return Drift(kind, f"stock {record.id}", name, shown(stored), shown(expected),
                     record.version, fix)  # fmt: skip

    def _allocation_drift(self, record: Record[StockRow], expected: Decimal) -> Drift:
        row = record.entity
        verdict = self._warehouses[row.warehouse_id].work_verdict()
        if verdict == "rows":
            return self._row_drift("stock.allocated", record, "allocated", row.allocated, expected)
        kind = "picking.allocation" if verdict == "source" else "stock.disagrees"
        stored = shown(row.allocated)
        wanted = shown(expected)
        if verdict == "source":  # the row is right, and the work names another quantity
            stored, wanted = wanted, stored
        return Drift(kind, f"stock {row.id}", "allocated", stored, wanted, record.version)

    # Levels

    def _read_levels(self) -> None:
        shown_ones = ids_in(self._store, LEVELS, "product_id", id_text(self._product))
        expected = {level_id(self._product, warehouse) for warehouse in self._warehouses}
        for batch in batched(sorted({*shown_ones, *expected}), _BATCH, strict=False):
            for record in LEVELS.get_many(self._store, batch):
                warehouse = record.id - level_id(self._product, 0)
                stock = self._warehouses.setdefault(warehouse, WarehouseStock())
                stock.level = record
                self._codes.setdefault(record.entity.whs_code or "", warehouse)

    def _level_drifts(self) -> Iterator[Drift]:
        yield from self._found
        # A row that exists is one that the index does not show yet.
        there = {record.id for record in STOCK.get_many(self._store, self._dangling)}
        for row, qty in self._dangling.items():
            if row not in there:
                yield Drift("picking.allocation", f"stock {row}", "allocated", None, shown(qty))
        wanted = []
        rows = self._digest.hexdigest()
        for warehouse, stock in sorted(self._warehouses.items()):
            expected = stock.expected()
            wanted.append(expected)
            subject = f"level of product {self._product} in warehouse {warehouse}"
            yield from self._level(
                subject, stock.level, expected, (rows, warehouse), stock.is_clear
            )
        try:
            total: Record[StoredLevel] | None = TOTALS.get(self._store, self._product)
        except (NotFound, Gone):
            total = None
        is_clear = all(stock.is_clear for stock in self._warehouses.values())
        subject = f"total of product {self._product}"
        yield from self._level(subject, total, rules.sum_of(wanted), (rows, 0), is_clear)

    def _level(
        self,
        subject: str,
        record: Record[StoredLevel] | None,
        expected: rules.Sums,
        basis: tuple[str, int],
        is_clear: bool,  # noqa: FBT001
    ) -> Iterator[Drift]:
        warehouse = basis[1]
        kind = "level" if warehouse else "total"
        if record is None:
            fix = Fix((subject,), lambda tx: self._insert_level(tx, warehouse, expected))
            yield Drift(f"{kind}.missing", subject, "item", None, "stored", basis, fix)
            return
        collection = LEVELS if warehouse else TOTALS
        stored = {name: getattr(record.entity, name) for name in rules.QUANTITIES}
        values = {name: expected.get(name, ZERO) for name in rules.QUANTITIES}
        fix = Fix((subject,), lambda tx: _update(tx, collection, record, values))
        for name, one, other in rules.differing_quantities(stored, expected):
            yield Drift(f"{kind}.{name}", subject, name, shown(one), shown(other),
                        (record.version, basis), fix if is_clear else None)  # fmt: skip
        level = record.entity
        if warehouse and level.event_due and level.updated_at < instant(now_ms() - _DUE_MS):
            place = (self._product, warehouse)
            due = Fix(("due", subject), lambda tx: raise_due_events(tx, [place]))
            yield Drift("mark.event_due", subject, "event_due", "yes", "no", record.version, due)

    def _insert_level(self, tx: Transaction, warehouse: int, expected: rules.Sums) -> None:
        """Add the level of a warehouse, or the total if `warehouse` is 0; rows give its names."""
        row = next(
            record.entity
            for record in self._source.rows(self._product)
            if warehouse in {0, record.entity.warehouse_id}
        )
        event_id = tx.next_id(LEVELS.kind) if warehouse else self._product
        level = empty_level(row, event_id, tx.now, total=not warehouse)
        level = level.model_copy(update=dict(expected))
        if warehouse:
            LEVELS.insert(tx, level_id(self._product, warehouse), level)
        else:
            TOTALS.insert(tx, self._product, level)


def _replace_row(tx: Transaction, record: Record[StockRow], **values: object) -> None:
    row = record.entity.model_copy(update={**values, "updated_at": tx.now})
    STOCK.replace(tx, record, row.model_copy(update={"status": "in" if row.qty else "out"}))


def _update(
    tx: Transaction, collection: Any, record: Record[StoredLevel], values: rules.Sums
) -> None:
    collection.update(tx, record, values)
