"""Invariants of stock, checked on all items that are stored for a tenant."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from itertools import chain
from typing import Any, Literal

from shared.kernel.clock import now_ms
from shared.kernel.db.collection import Collection
from shared.kernel.db.items import from_attributes, unpack
from shared.kernel.db.records import HEAD
from shared.kernel.db.store import Store
from shared.kernel.fields import ZERO
from shared.warehouse.approvals.models import StoredApproval
from shared.warehouse.approvals.repository import APPROVALS
from shared.warehouse.documents.level_shares import entry_shares, exit_shares
from shared.warehouse.documents.models import Document
from shared.warehouse.documents.repository import COLLECTIONS
from shared.warehouse.holds.level_shares import held_shares
from shared.warehouse.holds.models import StoredHold
from shared.warehouse.holds.repository import HOLDS
from shared.warehouse.packing.models import StoredPackingOrder, StoredUnit
from shared.warehouse.packing.repository import PACKING_ORDERS, UNITS
from shared.warehouse.packing.rules import entry_for, lines_for
from shared.warehouse.picking.level_shares import picking_shares
from shared.warehouse.picking.models import StoredPicking
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.receiving.models import StoredReceipt
from shared.warehouse.receiving.repository import RECEIPTS
from shared.warehouse.returns import limits as return_limits
from shared.warehouse.returns.models import ReturnedGoods, StoredReturn
from shared.warehouse.returns.repository import RETURNED, RETURNS
from shared.warehouse.rfid.models import StoredValidation
from shared.warehouse.rfid.repository import VALIDATIONS
from shared.warehouse.stock.level_marks import with_committed
from shared.warehouse.stock.level_rules import level_share
from shared.warehouse.stock.models import Movement, Quantities, Shares, StockRow, StoredLevel
from shared.warehouse.stock.repository import (
    LEVELS,
    MOVEMENTS,
    STOCK,
    TOTALS,
    batch_key,
)
from shared.warehouse.transfer_orders.level_shares import order_shares
from shared.warehouse.transfer_orders.models import StoredTransferOrder
from shared.warehouse.transfer_orders.repository import TRANSFER_ORDERS
from tests.snapshot import stored_items
from tests.stack import ACCOUNT, REGION

type Sums = defaultdict[object, Decimal]
type Attributes = dict[str, Any]
"""An item in DynamoDB's JSON."""

_COLLECTIONS: Mapping[str, Collection[Any]] = {
    "rows": STOCK, "levels": LEVELS, "totals": TOTALS, "movements": MOVEMENTS,
    "pickings": PICKINGS, "receipts": RECEIPTS, "entries": COLLECTIONS["entry"],
    "exits": COLLECTIONS["exit"], "transfer_orders": TRANSFER_ORDERS, "returns": RETURNS,
    "returned": RETURNED, "packing_orders": PACKING_ORDERS, "units": UNITS,
    "approvals": APPROVALS, "goods_holds": HOLDS, "validations": VALIDATIONS,
}  # fmt: skip
"""Field of `StoredState` → the collection of its entities."""
_FIELDS = {collection.kind: name for name, collection in _COLLECTIONS.items()}


@dataclass(slots=True)
class StoredState:
    """The stored stock, movements, documents and warehouse work of a tenant."""

    rows: list[StockRow] = field(default_factory=list)
    levels: list[StoredLevel] = field(default_factory=list)
    totals: list[StoredLevel] = field(default_factory=list)
    movements: list[Movement] = field(default_factory=list)
    pickings: list[StoredPicking] = field(default_factory=list)
    receipts: list[StoredReceipt] = field(default_factory=list)
    entries: list[Document] = field(default_factory=list)
    exits: list[Document] = field(default_factory=list)
    transfer_orders: list[StoredTransferOrder] = field(default_factory=list)
    returns: list[StoredReturn] = field(default_factory=list)
    returned: dict[int, ReturnedGoods] = field(default_factory=dict)
    """Id of an exit document → what returns have taken of its goods."""
    packing_orders: list[StoredPackingOrder] = field(default_factory=list)
    units: list[StoredUnit] = field(default_factory=list)
    approvals: list[StoredApproval] = field(default_factory=list)
    goods_holds: list[StoredHold] = field(default_factory=list)
    validations: list[StoredValidation] = field(default_factory=list)
    holds: dict[int, int] = field(default_factory=dict)
    """Id of a position → number of its rows that hold stock."""
    batch_dates: dict[str, str | None] = field(default_factory=dict)
    """Partition key of a batch → its expiry date."""
    stocked: dict[int, bool] = field(default_factory=dict)
    """Id of a product → whether its total says that it has stock."""
    marks: dict[str, Literal["committed", "aborted"]] = field(default_factory=dict)
    """Name of a transaction with prepared changes of levels → how it ended."""


def assert_invariants(store: Store) -> None:
    """Assert the invariants of `check_invariants` on the table of a tenant."""
    check_invariants(read_state(stored_items(ACCOUNT, REGION, store.table)))


def read_state(items: Iterable[Attributes]) -> StoredState:
    """Return the stored state that the items of a table hold."""
    state = StoredState()
    for item in items:
        kind, _, rest = item["PK"]["S"].partition("#")
        if kind == "held":
            state.holds[int(rest.removeprefix("position#"))] = int(item["holds"]["N"])
        elif item["SK"]["S"] != HEAD or "deleted" in item:
            continue
        elif kind == "level_mark":
            state.marks[rest] = from_attributes(item)["state"]
        elif kind == "batch":
            state.batch_dates[item["PK"]["S"]] = item.get("expiry_date", {}).get("S")
        elif kind in _FIELDS:
            plain = from_attributes({name: item[name] for name in ("parts", "data")})
            assert plain["parts"] == 1, "entities of several parts are not supported here"
            entity = _entity(kind, plain["data"])
            if kind == RETURNED.kind:
                state.returned[int(rest)] = entity
            else:
                getattr(state, _FIELDS[kind]).append(entity)
            if kind == TOTALS.kind:
                state.stocked[int(rest)] = item["volatile"]["M"]["stocked"]["S"] == "true"
    return state


@lru_cache(maxsize=20_000)
def _entity(kind: str, data: bytes) -> Any:
    """Return a decoded entity; cached, since most entities do not change between two checks."""
    return _COLLECTIONS[_FIELDS[kind]].model.model_validate_json(unpack([data]))


def check_invariants(state: StoredState) -> None:
    """Assert that stock is consistent.

    Movements, rows, levels and totals have equal sums. Levels and totals have the shares of open
    documents, pickings and transfer orders. No quantity is negative. A serial is in at
    most one place. The allocated quantity of each row is that of open work. The done quantities of
    documents are those of their work. The transit quantities of transfer orders are in stock. What
    returns take of an exit document was dispatched with it. What is packed is in units and was
    staged for its packing order, and no SSCC is used twice.
    """
    _check_rows(state.rows)
    _check_batches(state.rows, state.batch_dates)
    _check_movements(state.movements, state.rows)
    _check_levels(state.rows, state.levels, state.totals)
    _check_shares(state)
    _check_holds(state.holds, state.rows)
    _check_stocked(state.stocked, state.rows)
    _check_allocations(state.pickings, state.rows)
    _check_documents(state)
    _check_transit(state.transfer_orders, state.rows)
    _check_returns(state)
    _check_packing(state)


def _check_rows(rows: list[StockRow]) -> None:
    for row in rows:
        assert 0 <= row.allocated <= row.qty, row
        assert (row.status == "in") == (row.qty > 0), row
        assert row.inventory_status in {"available", "staged"} or not row.allocated, row
        assert row.inventory_status != "staged" or row.allocated == row.qty, row
        assert (row.position_id is None) == (row.inventory_status == "in_transit"), row
        assert row.serial_number is None or row.qty in {0, 1}, row
    serials = Counter((row.product_id, row.serial_number) for row in rows if row.serial_number)
    assert not serials or max(serials.values()) == 1
    places = Counter(
        (row.product_id, row.warehouse_id, row.bin_code, row.batch_num, row.inventory_status)
        for row in rows
        if row.serial_number is None
    )
    assert not places or max(places.values()) == 1


def _check_batches(rows: list[StockRow], dates: Mapping[str, str | None]) -> None:
    for row in rows:
        if row.qty and row.batch_num is not None:
            partition, _ = batch_key((row.product_id, row.batch_num))
            assert row.expiry_date == dates[partition], row


def _check_movements(movements: list[Movement], rows: list[StockRow]) -> None:
    """Assert that what movements made of each lot at each place is what rows hold."""
    left: Sums = defaultdict(Decimal)
    for movement in movements:
        assert movement.qty > 0, movement
        lot = (movement.product_id, movement.batch_num, movement.serial_number)
        for place, sign in ((movement.origin, -1), (movement.target, 1)):
            if place:
                name = (*lot, place.whs_code, place.bin_code, place.inventory_status)
                left[name] += sign * movement.qty
    for row in rows:
        lot = (row.product_id, row.batch_num, row.serial_number)
        left[*lot, row.whs_code, row.bin_code, row.inventory_status] -= row.qty
    assert not _nonzero(left)


def _check_levels(
    rows: list[StockRow], levels: list[StoredLevel], totals: list[StoredLevel]
) -> None:
    left: Sums = defaultdict(Decimal)
    for row in rows:
        for name, qty in level_share(row).items():
            for place in (row.warehouse_id, None):
                left[row.product_id, place, name] += qty
    warehouses: dict[str | None, object] = {row.whs_code: row.warehouse_id for row in rows}
    for level in [*levels, *totals]:
        assert level.available >= 0, level
        where = warehouses.get(level.whs_code, level.whs_code)
        for name in Quantities.model_fields:
            left[level.product_id, where, name] -= getattr(level, name)
    assert not _nonzero(left)


def _check_shares(state: StoredState) -> None:
    """Assert that levels and totals have what is committed, incoming and held, and nothing else."""
    left: Sums = defaultdict(Decimal)
    shares = [
        *chain.from_iterable(map(entry_shares, state.entries)),
        *chain.from_iterable(map(exit_shares, state.exits)),
        *chain.from_iterable(map(picking_shares, state.pickings)),
        *chain.from_iterable(map(order_shares, state.transfer_orders)),
    ]
    for place, name, qty in shares:
        left[place.product_id, place.whs_code, name] += qty
        left[place.product_id, None, name] += qty
    now = now_ms()
    held = Counter(
        (place.product_id, whs_code, until_ms, qty)
        for hold in state.goods_holds
        for place, (until_ms, qty) in held_shares(hold)
        for whs_code in (place.whs_code, None)
        if until_ms > now
    )
    for stored in [*state.levels, *state.totals]:
        level = with_committed(stored, state.marks)
        held.subtract(
            (level.product_id, level.whs_code, *one) for one in level.holds if one[0] > now
        )
        for name in Shares.model_fields:
            left[level.product_id, level.whs_code, name] -= getattr(level, name)
    assert not _nonzero(left)
    assert not any(held.values()), held


def _check_holds(holds: dict[int, int], rows: list[StockRow]) -> None:
    counted = Counter(row.position_id or 0 for row in rows if row.qty and row.bin_code)
    assert {position: count for position, count in holds.items() if count} == dict(counted)


def _check_stocked(stocked: Mapping[int, bool], rows: list[StockRow]) -> None:
    """Assert that the totals, which deletes of products look at, say who has stock."""
    with_stock = {row.product_id for row in rows if row.qty}
    assert {product for product, flag in stocked.items() if flag} == with_stock


def _check_allocations(pickings: list[StoredPicking], rows: list[StockRow]) -> None:
    allocated: Sums = defaultdict(Decimal)
    for picking in pickings:
        for line in picking.lines:
            gone = sum((pick.qty for pick in line.picks), ZERO)
            assert line.picked_qty == gone <= line.qty, picking
            for one in line.allocations:
                allocated[one.stock_id] += one.qty
            for pick in line.picks:
                if not pick.dispatched:
                    allocated[pick.staged_id] += pick.qty
    assert allocated == {row.id: row.allocated for row in rows if row.allocated}


def _check_documents(state: StoredState) -> None:
    done: Sums = defaultdict(Decimal)
    for receipt in state.receipts:
        for line in receipt.lines:
            assert sum(line.document_lines.values(), ZERO) == line.qty, receipt
            for line_num, qty in line.document_lines.items() if not line.undone else ():
                name = (receipt.document.type, receipt.document.id) if receipt.document else ("", 0)
                done[*name, line_num] += qty
    for picking in state.pickings:
        kinds = {document.id: document.type for document in picking.documents}
        for wanted in picking.lines:
            kind = kinds[wanted.document_id]
            if kind != "transfer_order":
                done[kind, wanted.document_id, wanted.document_line] += wanted.picked_qty
    for document in [*state.entries, *state.exits]:
        for documented in document.lines:
            done[document.type, document.id, documented.line_num] -= documented.done_qty
    assert not _nonzero(done)


def _check_transit(orders: list[StoredTransferOrder], rows: list[StockRow]) -> None:
    had: Sums = defaultdict(Decimal)
    for order in orders:
        for line in order.lines:
            for goods in line.transit:
                name = (line.product_id, order.destination.id, goods.batch_num, goods.serial)
                had[name] += goods.qty
    assert had == {
        (row.product_id, row.warehouse_id, row.batch_num, row.serial_number): row.qty
        for row in rows
        if row.inventory_status == "in_transit" and row.qty
    }


def _check_returns(state: StoredState) -> None:
    taken: dict[int, ReturnedGoods] = {}
    nothing = ReturnedGoods()
    for one in state.returns:
        before = taken.get(one.exit_document_id or 0, nothing)
        after = return_limits.with_change(before, nothing, return_limits.taken_by(one))
        taken[one.exit_document_id or 0] = after
        for line in one.lines:
            decided = (
                line.restocked_qty, line.quarantined_qty, line.scrapped_qty,
                line.lost_qty, line.returned_to_provider_qty, line.open_qty,
            )  # fmt: skip
            assert sum(decided) == line.received_qty, one
            named = [serial for goods in line.goods for serial in goods.serials]
            assert len(set(named)) == len(named), one
    taken.pop(0, None)
    assert {number: goods for number, goods in taken.items() if goods != nothing} == {
        number: goods for number, goods in state.returned.items() if goods != nothing
    }
    exits = {document.id: document for document in state.exits}
    for number, goods in taken.items():
        origin = return_limits.origin_of(number, exits[number], state.pickings, None)
        for product, qty in goods.qty.items():
            assert qty <= origin.sent.get(product, ZERO), number
            lots = origin.lots_of(product)
            above = sum(
                max(ZERO, some - lots.batches.get(batch, ZERO))
                for batch, some in goods.batches.get(product, {}).items()
            )
            assert above <= lots.without_batch, number
            unknown = set(goods.serials.get(product, ())) - lots.serials.keys()
            assert len(unknown) <= lots.without_serial, number


def _check_packing(state: StoredState) -> None:
    pickings = {picking.id: picking for picking in state.pickings}
    units = {unit.id: unit for unit in state.units}
    for order in state.packing_orders:
        own = [units.pop(entry.id) for entry in order.units]
        assert [entry_for(unit) for unit in own] == order.units, order
        packed: Sums = defaultdict(Decimal)
        serials: dict[object, list[str]] = defaultdict(list)
        for goods in (goods for unit in own for goods in unit.contents):
            assert goods.qty > 0, order
            lot = (goods.product_id, goods.batch_num)
            packed[lot] += goods.qty
            serials[lot] += goods.serials
        for line in order.lines:
            lot = (line.product_id, line.batch_num)
            assert line.packed_qty == packed.pop(lot, ZERO) <= line.qty, order
            assert sorted(line.packed_serials) == sorted(serials.pop(lot, [])), order
            assert len(set(line.packed_serials)) == len(line.packed_serials), order
            assert set(line.packed_serials) <= set(line.serials), order
        assert not packed, order
        if order.is_active:
            of_order = [pickings[number] for number in order.picking_ids]
            document = order.exit_document_id
            assert all(one.packing_order_for(document) == order.id for one in of_order), order
            staged = lines_for(of_order, order.exit_document_id, {})
            assert {(one.product_id, one.batch_num): one.qty for one in staged} == {
                (one.product_id, one.batch_num): one.qty for one in order.lines
            }
    assert not units, "units without an order"
    used = Counter(unit.sscc for unit in state.units if unit.sscc)
    assert not used or max(used.values()) == 1


def _nonzero(sums: Sums) -> dict[object, Decimal]:
    return {name: qty for name, qty in sums.items() if qty}
