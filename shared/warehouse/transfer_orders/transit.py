"""A transfer order on the road and at its destination: dispatched, received, closed."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice

from shared.kernel.db import references
from shared.kernel.db.collection import Record
from shared.kernel.db.items import Item, Key
from shared.kernel.db.parallel import run_both
from shared.kernel.db.transaction import StaleRead, Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Conflict, Problem, ValidationFailed
from shared.kernel.validation import Checked, ensure_valid
from shared.warehouse.catalog import service as catalog
from shared.warehouse.picking import service as picking_service
from shared.warehouse.picking.dispatch import mark_dispatched
from shared.warehouse.picking.models import Pick, StoredPicking
from shared.warehouse.stock.ledger import Ledger, blank_row, place_of
from shared.warehouse.stock.models import MovementCause, MovementType, StockRefused, StockRow
from shared.warehouse.transfer_orders import progress_rules as rules
from shared.warehouse.transfer_orders.events import raise_order_event
from shared.warehouse.transfer_orders.models import (
    Arrival,
    ArrivalLine,
    Departure,
    OrderClosing,
    Parcel,
    StoredTransferOrder,
)
from shared.warehouse.transfer_orders.repository import TRANSFER_ORDERS, holder
from shared.warehouse.warehouses import service as warehouses

_PICKS_PER_STEP = 7
"""Picks that one transaction loads: each may change two rows, two levels and three counts."""
_LOSSES_PER_STEP = 12
"""Parcels that one transaction writes off: each changes a row, a level and a count."""

type _Load = tuple[int, int, Pick]
"""Line of the order, product, and what was picked of it."""
type _Loss = tuple[int, int, Parcel]
"""Line of the order, product, and what never came of it."""


def dispatch_transfer_order(
    tx: Transaction, number: int, departure: Departure
) -> Record[StoredTransferOrder]:
    """Let what was picked for an order leave for its destination; raise transfer.dispatched.

    Raises StaleState or Conflict unless the order is picked.
    """
    while True:
        record, picking = _read(tx, number)
        loads = list(islice(_loads(picking.entity), _PICKS_PER_STEP + 1))
        if len(loads) <= _PICKS_PER_STEP:
            break
        run_transaction(tx.store, lambda own: _load_some(own, number), caller=tx.caller)
        tx.store.clear_cache()
    order = rules.departed(_load(tx, record.entity, picking, loads), departure, tx.now)
    after = TRANSFER_ORDERS.replace(tx, record, order)
    raise_order_event(tx, "transfer.dispatched", after)
    return after


def _read(
    tx: Transaction, number: int
) -> tuple[Record[StoredTransferOrder], Record[StoredPicking]]:
    """Read a picked order and its picking."""
    record = TRANSFER_ORDERS.get(tx.store, number)
    rules.ensure_state(record.entity, "picked")
    return record, picking_service.get_picking(tx.store, record.entity.picking_id or 0)


def _loads(picking: StoredPicking) -> Iterator[_Load]:
    """Yield what waits staged."""
    for line in picking.lines:
        for pick in line.picks:
            if not pick.dispatched:
                yield line.document_line, line.product_id, pick


def _load_some(own: Transaction, number: int) -> None:
    record, picking = _read(own, number)
    loads = list(islice(_loads(picking.entity), _PICKS_PER_STEP))
    TRANSFER_ORDERS.replace(own, record, _load(own, record.entity, picking, loads))


def _load(
    tx: Transaction,
    order: StoredTransferOrder,
    picking: Record[StoredPicking],
    loads: Sequence[_Load],
) -> StoredTransferOrder:
    """Stage that goods are in transit from now on; the order with them."""
    ledger = Ledger(tx, cause=_cause(order))
    ledger.load(
        rows=[pick.staged_id for _, _, pick in loads],
        targets=[
            _in_transit(order, product, pick.batch_num, pick.serial) for _, product, pick in loads
        ],
        movements=len(loads),
    )
    away: dict[str, object] = {
        "warehouse_id": order.destination.id,
        "whs_code": order.destination.code,
        "position_id": None,
        "bin_code": None,
        "inventory_status": "in_transit",
    }
    for _, _, pick in loads:
        row = ledger.row(pick.staged_id)
        target = row.model_copy(update=away)
        ledger.book.move("transfer_dispatch", pick.qty, source=row, target=target, promised=True)
    ledger.stage()
    mark_dispatched(tx, picking, [pick for _, _, pick in loads])
    return rules.loaded(order, ((number, pick) for number, _, pick in loads), tx.now)


def _cause(order: StoredTransferOrder) -> MovementCause:
    return MovementCause(type="transfer_order", id=order.id)


def _in_transit(
    order: StoredTransferOrder, product_id: int, batch: str | None, serial: str | None
) -> StockRow:
    """Describe the row of goods on their way to the destination of an order."""
    return place_of(
        product_id=product_id,
        warehouse_id=order.destination.id or 0,
        position_id=None,
        bin_code=None,
        status="in_transit",
        batch=batch,
        serial=serial,
    )


# At the destination


def receive_transfer_order(
    tx: Transaction, number: int, arrival: Checked[Arrival]
) -> Record[StoredTransferOrder]:
    """Put what arrived of an order into stock; with the last of it, raise transfer.received.

    Raises:
        NotFound: There is no such order.
        StaleState, Conflict: The order is not in transit.
        ValidationFailed: The arrival or what it names is invalid; with all problems.
        Conflict: More arrives than is in transit.
    """
    record, ledger = run_both(
        lambda: TRANSFER_ORDERS.get(tx.store, number),
        lambda: Ledger(tx, cause=MovementCause(type="transfer_order", id=number), receiving=True),
    )
    order = record.entity
    rules.ensure_state(order, "in_transit", "receiving")
    found = tx.store.get_many(_keys(order, arrival))
    known = _master_data(tx, order, arrival, found)
    arrival = ensure_valid(arrival, rules.examine(arrival, order, known))
    after, excess = rules.unloaded(order, arrival, tx.now)
    if excess:
        message = f"More arrived than was dispatched with TO-{order.id}: {'; '.join(excess)}."
        raise Conflict(message)
    if arrival.lines:
        _unload(tx, ledger, order, arrival, known, found)
    received = TRANSFER_ORDERS.replace(tx, record, after)
    if after.status == "received":
        raise_order_event(tx, "transfer.received", received)
    return received


def _keys(order: StoredTransferOrder, arrival: Checked[Arrival]) -> list[Key]:
    """Return the keys of the master data that an arrival names."""
    whs_code = order.destination.code or ""
    keys = [warehouses.warehouse_key(whs_code)]
    keys += [catalog.product_key(code) for code in _item_codes(arrival)]
    keys += [warehouses.position_key(*pair) for pair in _pairs(order, arrival)]
    return keys


def _lines(arrival: Checked[Arrival]) -> Sequence[Checked[ArrivalLine]]:
    return arrival.lines or ()


def _item_codes(arrival: Checked[Arrival]) -> set[str]:
    codes = {line.item_code for line in _lines(arrival)}
    return {code for code in codes if code is not None}


def _pairs(order: StoredTransferOrder, arrival: Checked[Arrival]) -> set[tuple[str, str]]:
    codes = {line.bin_code for line in _lines(arrival)}
    return {(order.destination.code or "", code) for code in codes if code is not None}


def _master_data(
    tx: Transaction,
    order: StoredTransferOrder,
    arrival: Checked[Arrival],
    found: Mapping[Key, Item],
) -> rules.MasterData:
    positions = warehouses.known_positions(tx, _pairs(order, arrival), found)
    return rules.MasterData(
        products=catalog.known_products(tx, _item_codes(arrival), found),
        positions={bin_code: position for (_, bin_code), position in positions.items()},
    )


def _unload(  # noqa: PLR0913, PLR0917 - what arrives, where, and what is known of it
    tx: Transaction,
    ledger: Ledger,
    order: StoredTransferOrder,
    arrival: Arrival,
    known: rules.MasterData,
    found: Mapping[Key, Item],
) -> None:
    """Stage that goods lie on the shelves of the destination."""
    whs_code = order.destination.code or ""
    warehouse = warehouses.known_warehouses(tx, [whs_code], found)[whs_code]
    moves: list[tuple[StockRow, StockRow, Decimal]] = []
    for line in arrival.lines:
        product = known.products[line.item_code]
        serials: Sequence[str | None] = line.serials or [None]
        for serial in serials:
            source = _in_transit(order, product.id, line.batch, serial)
            target = blank_row(
                product,
                warehouse,
                known.positions[line.bin_code],
                status="available",
                batch=line.batch,
                serial=serial,
                now=tx.now,
            )
            moves.append((source, target, line.qty if serial is None else Decimal(1)))
    spots = [spot for source, target, _ in moves for spot in (source, target)]
    ledger.load(targets=spots, movements=len(moves))
    for source, target, qty in moves:
        _leave_the_road(ledger, "transfer_receipt", qty, source, target)
    ledger.stage()


def _leave_the_road(
    ledger: Ledger,
    kind: MovementType,
    qty: Decimal,
    source: StockRow,
    target: StockRow | None = None,
) -> None:
    """Put into the book that goods of an order are no longer in transit."""
    row = ledger.book.at(source) or source
    try:
        ledger.book.move(kind, qty, source=row, target=target)
    except StockRefused as refused:
        # The order has its goods in transit: it was read before someone else took them in.
        raise StaleRead from refused


# The end


def close_transfer_order(
    tx: Transaction, number: int, closing: OrderClosing
) -> Record[StoredTransferOrder]:
    """Close an order and raise transfer.completed; what never came leaves the books.

    Raises StaleState or Conflict unless the order is received, ValidationFailed when less
    was received than dispatched and no reason is given.
    """
    while True:
        record = TRANSFER_ORDERS.get(tx.store, number)
        rules.ensure_state(record.entity, "received")
        if rules.differs(record.entity) and closing.reason is None:
            message = "is required: less was received than was dispatched"
            raise ValidationFailed([Problem("reason", message)])
        losses = list(islice(_losses(record.entity), _LOSSES_PER_STEP + 1))
        if len(losses) <= _LOSSES_PER_STEP:
            break
        run_transaction(
            tx.store, lambda own: _lose_some(own, number, closing.reason), caller=tx.caller
        )
        tx.store.clear_cache()
    order = rules.closed(_lose(tx, record.entity, losses, closing.reason), closing.reason, tx.now)
    references.release_references(tx, holder(number))
    after = TRANSFER_ORDERS.replace(tx, record, order)
    raise_order_event(tx, "transfer.completed", after)
    return after


def _losses(order: StoredTransferOrder) -> Iterator[_Loss]:
    for line in order.lines:
        yield from ((line.line_num, line.product_id, parcel) for parcel in line.transit)


def _lose_some(own: Transaction, number: int, reason: str | None) -> None:
    record = TRANSFER_ORDERS.get(own.store, number)
    rules.ensure_state(record.entity, "received")
    losses = list(islice(_losses(record.entity), _LOSSES_PER_STEP))
    TRANSFER_ORDERS.replace(own, record, _lose(own, record.entity, losses, reason))


def _lose(
    tx: Transaction, order: StoredTransferOrder, losses: Sequence[_Loss], reason: str | None
) -> StoredTransferOrder:
    """Stage that goods in transit are lost; the order without them."""
    if not losses:
        return order
    ledger = Ledger(tx, cause=_cause(order), reason=reason)
    spots = [
        _in_transit(order, product, parcel.batch_num, parcel.serial)
        for _, product, parcel in losses
    ]
    ledger.load(targets=spots, movements=len(losses))
    for spot, (_, _, parcel) in zip(spots, losses, strict=True):
        _leave_the_road(ledger, "transfer_loss", parcel.qty, spot)
    ledger.stage()
    return rules.without(order, ((number, parcel) for number, _, parcel in losses), tx.now)
