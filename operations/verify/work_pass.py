"""Fourth pass: the progress of documents and of all kinds of work.

Entities are read in the order of their ids. With those of a chunk, the work on them is held, and
the movements of one of them at a time.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import batched
from typing import Any

from operations.verify import packing_rules
from operations.verify import work_rules as rules
from operations.verify.findings import ComparedEntity, Drift, Fix, shown
from operations.verify.table_access import ids_in
from operations.verify.work_rules import Lot
from shared.kernel import references
from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import id_text
from shared.kernel.db.items import Key
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.fields import ZERO
from shared.warehouse.counts import repository as counts
from shared.warehouse.counts.models import (
    ENDED_STATUSES,
    CountSums,
    StoredCount,
    StoredCountLine,
)
from shared.warehouse.counts.repository import COUNTS
from shared.warehouse.counts.rules import stock_of, sums_of
from shared.warehouse.documents.repository import ENTRIES, EXITS
from shared.warehouse.packing.models import StoredPackingOrder, StoredUnit
from shared.warehouse.packing.repository import PACKING_ORDERS, UNITS
from shared.warehouse.picking.models import StoredPicking
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.receiving.models import StoredReceipt
from shared.warehouse.receiving.repository import RECEIPTS
from shared.warehouse.returns.models import LOST, ReturnedGoods, StoredReturn
from shared.warehouse.returns.repository import RETURNED, RETURNS
from shared.warehouse.stock.models import Movement
from shared.warehouse.stock.repository import MOVEMENTS, cause_text
from shared.warehouse.transfer_orders.models import InTransitGoods, StoredTransferOrder
from shared.warehouse.transfer_orders.repository import TRANSFER_ORDERS
from shared.warehouse.waves.models import StoredWave
from shared.warehouse.waves.repository import WAVES

CHUNK = 50
"""Entities of a chunk."""
_BATCH = 100
_KINDS = (
    "receipt", "picking", "entry", "exit", "packing_order", "transfer_order", "return", "wave",
    "stock_count",
)  # fmt: skip
_COLLECTIONS: Mapping[str, Collection[Any]] = {
    one.kind: one
    for one in (
        ENTRIES, EXITS, RECEIPTS, PICKINGS, PACKING_ORDERS, TRANSFER_ORDERS, RETURNS, WAVES,
        COUNTS,
    )
}  # fmt: skip
_RECEIPT_SIGNS = {"receipt": 1, "receipt_undone": -1}
_PICKING_SIGNS = {"pick": 1, "pick_undone": -1}
_TRANSIT_SIGNS = {"transfer_dispatch": 1, "transfer_receipt": -1, "transfer_loss": -1}

_DOCUMENT = {
    name: f"document.{name}" for name in ("status", "works", "finished", "dispatched_works")
}
_DOCUMENT_LINE = {
    "done_qty": "document.done", "dispatched_qty": "document.dispatched",
    "open_qty": "document.open", "status": "document.line_status",
}  # fmt: skip
_PICKING_LINE = {"picked_qty": "picking.picked", "status": "picking.line_status"}
_ORDER_LINE = {
    "picked_qty": "order.picked", "dispatched_qty": "order.dispatched", "serials": "order.serials",
}  # fmt: skip
_METRICS = {name: f"wave.{name}" for name in ("orders", "lines", "units", "trips", "ended_orders")}
_COUNT = {name: f"count.{name}" for name in ("counted", "differences", "units")}
_WAVE = {name: f"wave.{name}" for name in ("open_ids", "begun", "status")}

type Subject = tuple[str, int]
"""Kind and id of an entity."""


@dataclass(slots=True)
class WorkPass:
    """Checks entities with progress; `greatest` has the greatest id of each kind."""

    store: Store
    greatest: Mapping[str, int]
    name: str = "work"

    def chunks(self, position: Any) -> Iterator[tuple[list[Subject], Any]]:
        """Yield chunks of kinds and ids, from `position` (a kind and an id) on."""
        first, low = position or (_KINDS[0], 1)
        for at, kind in enumerate(_KINDS[_KINDS.index(first) :]):
            begin = int(low) if at == 0 else 1
            last = self.greatest.get(kind, 0)
            for numbers in batched(range(begin, last + 1), CHUNK, strict=False):
                yield [(kind, number) for number in numbers], [kind, numbers[-1] + 1]

    def look(self, subjects: Sequence[Subject]) -> Mapping[Subject, list[Drift]]:
        """Return the drifts of entities."""
        found = {}
        for kind in dict.fromkeys(kind for kind, _ in subjects):
            numbers = [number for of, number in subjects if of == kind]
            records = _COLLECTIONS[kind].get_many(self.store, numbers)
            looked = map_concurrently(partial(self._look, kind), records)
            for record, drifts in zip(records, looked, strict=True):
                if drifts:
                    found[kind, record.id] = drifts
        return found

    def _look(self, kind: str, record: Record[Any]) -> list[Drift]:
        looks: Mapping[str, Callable[[Record[Any]], Iterator[Drift]]] = {
            "entry": partial(self._document, "entry"),
            "exit": self._exit_document,
            "return": self._return,
            "receipt": self._receipt,
            "picking": self._picking,
            "packing_order": self._packing_order,
            "transfer_order": self._order,
            "wave": self._wave,
            "stock_count": self._count,
        }
        return list(looks[kind](record))

    # Documents

    def _document(self, kind: str, record: Record[Any]) -> Iterator[Drift]:
        collection: Collection[Any] = RECEIPTS if kind == "entry" else PICKINGS
        numbers = ids_in(self.store, collection, "document_id", id_text(record.id))
        works = collection.get_many(self.store, sorted(set(numbers)))
        if kind == "entry":
            done = rules.received_by_line(work.entity for work in works)
        else:
            done = rules.picked_by_line(record.id, (work.entity for work in works))
        expected = rules.expected_document(record.entity, done, [work.entity for work in works])
        if expected == record.entity:
            return
        basis = (record.version, tuple((work.id, work.version) for work in works))
        is_sound = all(self._is_sound(work.entity) for work in works)
        save = Fix(("work", kind, record.id), lambda tx: _save(tx, kind, record, expected))
        compared = ComparedEntity(f"{kind} {record.id}", basis, save if is_sound else None)
        for before, after in zip(record.entity.lines, expected.lines, strict=True):
            path = f"lines.{before.line_num}."
            yield from compared.attributes(_DOCUMENT_LINE, before, after, path)
        yield from compared.attributes(_DOCUMENT, record.entity, expected)

    def _exit_document(self, record: Record[Any]) -> Iterator[Drift]:
        yield from self._document("exit", record)
        yield from self._returned(record)

    # Returns

    def _returned(self, record: Record[Any]) -> Iterator[Drift]:
        """Compare what is recorded as taken of the goods of an exit document with its returns."""
        numbers = ids_in(self.store, RETURNS, "exit_document_id", id_text(record.id))
        returns = RETURNS.get_many(self.store, sorted(set(numbers)))
        expected = rules.expected_returned(one.entity for one in returns)
        stored = next(iter(RETURNED.get_many(self.store, [record.id])), None)
        taken = stored.entity if stored else ReturnedGoods()
        basis = (stored and stored.version, tuple((one.id, one.version) for one in returns))
        fix = Fix(
            ("work", "returned", record.id),
            lambda tx: _save_returned(tx, record.id, stored, expected),
        )
        compared = ComparedEntity(f"exit {record.id}", basis, fix)
        for name in ("qty", "batches", "serials"):
            before, after = getattr(taken, name), getattr(expected, name)
            for product in sorted(before.keys() | after.keys()):
                values = (before.get(product), after.get(product))
                yield from compared.value(
                    f"returned.{name}", f"{name} of product {product}", *values
                )

    def _return(self, record: Record[StoredReturn]) -> Iterator[Drift]:
        one, compared = record.entity, ComparedEntity(f"return {record.id}", record.version)
        # Lost goods may have left quarantine before: their movements say less than the return.
        found = self._movements("return", record.id)
        movements = [movement for movement in found if movement.reason != LOST]
        for kind, stored, types in (
            (
                "return.received",
                rules.received_lots(one),
                {"return_receipt": 1, "receipt_undone": -1},
            ),
            ("return.restocked", rules.restocked_lots(one), {"return_restock": 1}),
            ("return.scrapped", rules.scrapped_lots(one), {"return_scrap": 1}),
        ):
            moved = rules.lots_of_movements(movements, types)
            known = moved if kind == "return.received" else rules.by_product(moved)
            yield from _differing_lots(compared, kind, stored, known)
        for line in one.lines:
            path = f"lines.{line.line_num}.goods"
            undecided = rules.undecided(line)
            yield from compared.value("return.undecided", path, line.open_qty, undecided)
        status = rules.expected_return_status(one)
        yield from compared.value("return.status", "status", one.status, status)

    # Receipts and pickings

    def _is_sound(self, work: StoredReceipt | StoredPicking) -> bool:
        """Return whether the ledger agrees with a receipt or picking, so that others follow it."""
        if isinstance(work, StoredReceipt):
            moved = self._lots("receipt", work.id, _RECEIPT_SIGNS)
            return rules.lots_of_receipt(work) == moved and not any(rules.unequal_lines(work))
        return rules.lots_of_picking(work) == self._lots("picking", work.id, _PICKING_SIGNS)

    def _receipt(self, record: Record[Any]) -> Iterator[Drift]:
        compared = ComparedEntity(f"receipt {record.id}", record.version)
        for at, spread, qty in rules.unequal_lines(record.entity):
            yield from compared.value("receipt.lines", f"lines.{at}.document_lines", spread, qty)
        moved = self._lots("receipt", record.id, _RECEIPT_SIGNS)
        received = rules.lots_of_receipt(record.entity)
        yield from _differing_lots(compared, "receipt.ledger", received, moved)

    def _picking(self, record: Record[StoredPicking]) -> Iterator[Drift]:
        picking, expected = record.entity, rules.expected_picking(record.entity)
        save = Fix(
            ("work", "picking", record.id), lambda tx: _save(tx, "picking", record, expected)
        )
        held, moved = (
            rules.lots_of_picking(picking),
            self._lots("picking", record.id, _PICKING_SIGNS),
        )
        subject = f"picking {record.id}"
        compared = ComparedEntity(subject, record.version, save if held == moved else None)
        for at, (before, after) in enumerate(zip(picking.lines, expected.lines, strict=True)):
            yield from compared.attributes(_PICKING_LINE, before, after, f"lines.{at}.")
        yield from compared.attributes({"has_shortage": "picking.shortage"}, picking, expected)
        unrepaired = ComparedEntity(subject, record.version)
        if picking.status not in {"pending", "started"}:
            left = sum((one.qty for line in picking.lines for one in line.allocations), ZERO)
            yield from unrepaired.value("picking.allocated_after_end", "allocations", left, ZERO)
        yield from _differing_lots(unrepaired, "picking.ledger", held, moved)

    def _movements(self, kind: str, number: int) -> Iterator[Movement]:
        numbers = ids_in(self.store, MOVEMENTS, "document", cause_text(kind, number))
        for batch in batched(numbers, _BATCH, strict=False):
            yield from (record.entity for record in MOVEMENTS.get_many(self.store, batch))

    def _lots(self, kind: str, number: int, signs: Mapping[str, int]) -> dict[Lot, Decimal]:
        return rules.lots_of_movements(self._movements(kind, number), signs)

    # Packing orders

    def _packing_order(self, record: Record[StoredPackingOrder]) -> Iterator[Drift]:
        order, subject = record.entity, f"packing_order {record.id}"
        numbers = ids_in(self.store, UNITS, "packing_order_id", id_text(record.id))
        units = UNITS.get_many(self.store, sorted(set(numbers)))
        pickings = PICKINGS.get_many(self.store, order.picking_ids)
        expected = packing_rules.expected_packing_order(order, (unit.entity for unit in units))
        works = (*units, *pickings)
        basis = (record.version, tuple((work.id, work.version) for work in works))
        fix = Fix(
            ("work", "packing_order", record.id),
            lambda tx: _save(tx, "packing_order", record, expected),
        )
        compared = ComparedEntity(subject, basis, fix)
        packed = {"packed_qty": "packing.packed", "packed_serials": "packing.packed"}
        for at, (before, after) in enumerate(zip(order.lines, expected.lines, strict=True)):
            yield from compared.attributes(packed, before, after, f"lines.{at}.")
        yield from compared.attributes({"units": "packing.units"}, order, expected)
        for unit in units:
            yield from self._unit(unit, packing_rules.expected_unit(expected, unit.entity), basis)
        if not order.is_active:
            return
        compared = ComparedEntity(subject, basis)
        staged = packing_rules.staged_for(order, (picking.entity for picking in pickings))
        for line in expected.lines:
            most = staged.pop((line.product_id, line.batch_num), ZERO)
            name = f"{line.item_code} {line.batch_num or ''}".rstrip()
            yield from compared.value("packing.staged", name, line.qty, most)
            if line.packed_qty > most:
                yield from compared.value("packing.exceeded", name, line.packed_qty, most)
        for product, qty in staged.items():
            yield from compared.value("packing.staged", f"product {product[0]}", ZERO, qty)
        for picking in pickings:
            stored = picking.entity.packing_order_for(order.exit_document_id)
            yield from compared.value("packing.picking", f"picking {picking.id}", stored, record.id)

    def _unit(
        self, record: Record[StoredUnit], expected: StoredUnit, basis: Hashable
    ) -> Iterator[Drift]:
        """Compare a unit with what it has of its packing order."""

        def save(tx: Transaction) -> None:
            UNITS.replace(tx, record, expected.model_copy(update={"updated_at": tx.now}))

        fix = Fix(("work", "handling_unit", record.id), save)
        compared = ComparedEntity(f"handling_unit {record.id}", basis, fix)
        kinds = {"shipping": "packing.shipping", "inside": "packing.inside"}
        yield from compared.attributes(kinds, record.entity, expected)

    # Transfer orders

    def _order(self, record: Record[StoredTransferOrder]) -> Iterator[Drift]:
        order, subject = record.entity, f"transfer_order {record.id}"
        found = PICKINGS.get_many(self.store, [order.picking_id] if order.picking_id else [])
        picking = found[0] if found else None
        if order.picking_id and picking is None:
            return  # the reference has its own finding
        basis = (record.version, picking and picking.version)
        expected = rules.expected_order(order, picking.entity if picking else None)
        status = rules.expected_order_status(order, picking.entity if picking else None)
        moved = self._lots("transfer_order", record.id, _TRANSIT_SIGNS)
        expected, transit_is_known = _with_transit(expected, moved)
        received = self._received(record.id)
        expected, received_is_known = _with_received(expected, received)
        expected = expected.model_copy(update={"status": status})
        is_sound = picking is None or self._is_sound(picking.entity)
        save = Fix(("work", "order", record.id), lambda tx: _save_order(tx, record, expected))
        fix = save if is_sound else None
        compared, unrepaired = (ComparedEntity(subject, basis, one) for one in (fix, None))
        for before, after in zip(order.lines, expected.lines, strict=True):
            path = f"lines.{before.line_num}."
            yield from compared.attributes(_ORDER_LINE, before, after, path)
        of_transit = compared if transit_is_known else unrepaired
        yield from _differing_lots(of_transit, "order.transit", rules.transit_of(order), moved)
        stored = rules.received_of(order.lines)
        of_received = compared if received_is_known else unrepaired
        for product in sorted(stored.keys() | received.keys()):
            values = (stored.get(product, ZERO), received.get(product, ZERO))
            name = f"received_qty of product {product}"
            yield from of_received.value("order.received", name, *values)
        yield from compared.value("order.status", "status", order.status, status)

    def _received(self, number: int) -> dict[int, Decimal]:
        lots = self._lots("transfer_order", number, {"transfer_receipt": 1})
        found: dict[int, Decimal] = {}
        for (product, _, _), qty in lots.items():
            found[product] = found.get(product, ZERO) + qty
        return found

    # Waves

    def _wave(self, record: Record[StoredWave]) -> Iterator[Drift]:
        wave, subject = record.entity, f"wave {record.id}"
        pickings = PICKINGS.get_many(self.store, wave.picking_ids)
        if len(pickings) < len(wave.picking_ids):
            return  # the references have their own findings
        expected = rules.expected_wave(wave, [picking.entity for picking in pickings])
        basis = (record.version, tuple(picking.version for picking in pickings))
        fix = Fix(("work", "wave", record.id), lambda tx: _save(tx, "wave", record, expected))
        compared = ComparedEntity(subject, basis, fix)
        yield from compared.attributes(_METRICS, wave.metrics, expected.metrics, "metrics.")
        yield from compared.attributes(_WAVE, wave, expected)
        for picking in pickings if wave.status != "cancelled" else ():
            if picking.entity.wave_id != record.id:
                yield Drift("wave.picking", subject, f"picking {picking.id}", shown(record.id),
                            shown(picking.entity.wave_id), basis)  # fmt: skip

    # Counts

    def _count(self, record: Record[StoredCount]) -> Iterator[Drift]:
        """Compare the sums of a count with its lines."""
        numbers = range(1, record.entity.lines + 1)
        lines = [one.entity for one in counts.read_lines(self.store, record.id, numbers)]
        stored = counts.read_sums(self.store, [record.id])[record.id]
        expected = sum(map(sums_of, lines), CountSums())
        difference = expected - stored
        fix = Fix(
            ("work", "stock_count", record.id),
            lambda tx: counts.correct_sums(tx, record.id, difference),
        )
        compared = ComparedEntity(f"count {record.id}", (record.version, stored, expected), fix)
        yield from compared.attributes(_COUNT, stored, expected)
        if len(lines) < len(numbers):
            yield Drift("count.lines", f"count {record.id}", "lines", shown(len(numbers)),
                        shown(len(lines)), record.version)  # fmt: skip
        if record.entity.status not in ENDED_STATUSES:
            yield from self._places(record, lines)

    def _places(
        self, record: Record[StoredCount], lines: Sequence[StoredCountLine]
    ) -> Iterator[Drift]:
        """Compare what says in which line of an open count a stock is with the lines."""
        keys = {_place(line, record.entity.warehouse_id): line.line_num for line in lines}
        places = counts.find_places(self.store, record.id, keys)
        for key, line_num in keys.items():
            if (found := places.own.get(key)) != line_num:
                other = places.others.get(key)
                stored = f"count {other}" if other else shown(found)
                yield Drift("count.place", f"count {record.id}", f"lines.{line_num}",
                            stored, shown(line_num), record.version)  # fmt: skip


def _place(line: StoredCountLine, warehouse_id: int) -> Key:
    """Return the key of the item that says in which line of a count a stock is."""
    stock = stock_of(line, warehouse_id)
    if stock is None:
        return counts.empty_key(warehouse_id, line.bin_code)
    return counts.place_key(stock)


def _with_transit(
    order: StoredTransferOrder, lots: Mapping[Lot, Decimal]
) -> tuple[StoredTransferOrder, bool]:
    """Return an order with what the ledger has in transit, and whether its lines are known.

    They are not if two lines are of the same product; then the lines stay as they are.
    """
    if not _has_one_line_per_product(order):
        return order, False
    lines = []
    for line in order.lines:
        goods = [
            InTransitGoods(batch_num=batch, serial=serial, qty=qty)
            for (product, batch, serial), qty in lots.items()
            if product == line.product_id
        ]
        stored = {(one.batch_num, one.serial): one for one in line.transit}
        goods = [one.in_place_of(stored.get((one.batch_num, one.serial), one)) for one in goods]
        is_same = stored == {(one.batch_num, one.serial): one for one in goods}
        lines.append(line if is_same else line.model_copy(update={"transit": goods}))
    return order.model_copy(update={"lines": lines}), True


def _with_received(
    order: StoredTransferOrder, received: Mapping[int, Decimal]
) -> tuple[StoredTransferOrder, bool]:
    """Return an order with what the ledger has received, and whether its lines are known."""
    if not _has_one_line_per_product(order):
        return order, False
    lines = [
        line.model_copy(update={"received_qty": received.get(line.product_id, ZERO)})
        for line in order.lines
    ]
    return order.model_copy(update={"lines": lines}), True


def _has_one_line_per_product(order: StoredTransferOrder) -> bool:
    return len({line.product_id for line in order.lines}) == len(order.lines)


def _differing_lots(
    compared: ComparedEntity, kind: str, stored: Mapping[Lot, Decimal], moved: Mapping[Lot, Decimal]
) -> Iterator[Drift]:
    """Yield a drift for each lot of which an entity has another quantity than the ledger."""
    for lot in sorted(stored.keys() | moved.keys(), key=str):
        product, batch, serial = lot
        name = " ".join(part for part in (f"product {product}", batch, serial) if part)
        yield from compared.value(kind, name, stored.get(lot, ZERO), moved.get(lot, ZERO))


# Repairs


def _save(tx: Transaction, kind: str, record: Record[Any], expected: Any) -> None:
    """Write an entity as it should be; work on it changes its version, too."""
    after = expected.model_copy(update={"updated_at": tx.now})
    _COLLECTIONS[kind].replace(tx, record, after)
    if kind in {"entry", "exit"} and record.entity.status != after.status:
        _register(tx, kind, record.id, after.named, is_open=after.status not in _ENDED)


_ENDED = frozenset({"completed", "closed", "cancelled"})


def _save_order(
    tx: Transaction, record: Record[StoredTransferOrder], expected: StoredTransferOrder
) -> None:
    TRANSFER_ORDERS.replace(tx, record, expected.model_copy(update={"updated_at": tx.now}))
    if record.entity.status != expected.status:
        named = {
            "product": [line.product_id for line in expected.lines],
            "warehouse": [expected.origin.id, expected.destination.id],
        }
        is_open = expected.status not in _ENDED
        _register(tx, "transfer_order", record.id, named, is_open=is_open)


def _save_returned(
    tx: Transaction, number: int, stored: Record[ReturnedGoods] | None, expected: ReturnedGoods
) -> None:
    if stored:
        RETURNED.replace(tx, stored, expected)
    else:
        RETURNED.insert(tx, number, expected)


def _register(
    tx: Transaction, kind: str, number: int, named: Mapping[str, Iterable[int]], *, is_open: bool
) -> None:
    if is_open:
        references.register_references(tx, kind, number, named)
    else:
        references.release_references(tx, kind, number)
