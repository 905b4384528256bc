"""Dispatch transfer orders, receive their goods at the destination, and close them.

Goods in transit are one stock row per product, batch and destination. Each order keeps its own part
on its lines, so that it cannot receive the goods of another order.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby

from shared.kernel import references
from shared.kernel.db.actions import StaleRead
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.steps import run_steps
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem, RuleBlocked, ValidationFailed
from shared.kernel.events.outbox import raise_record_event
from shared.kernel.fields import ZERO
from shared.kernel.validation import Checked, ensure_valid
from shared.warehouse.catalog.lines import parts_of
from shared.warehouse.catalog.unit_quantities import lines_in_base_units
from shared.warehouse.master_data.named_codes import MasterData, NamedCodes
from shared.warehouse.picking import service as picking_service
from shared.warehouse.picking.dispatch import mark_dispatched
from shared.warehouse.picking.models import Pick, StoredPicking
from shared.warehouse.stock.expiry import ensure_not_expired
from shared.warehouse.stock.models import (
    MovementCause,
    MovementType,
    RowKey,
    StockRefused,
    StockRow,
)
from shared.warehouse.stock.posting import StockPosting, empty_row, fence_master_data, read_ahead
from shared.warehouse.transfer_orders import progress_rules as rules
from shared.warehouse.transfer_orders import views
from shared.warehouse.transfer_orders.actions import ACTIONS
from shared.warehouse.transfer_orders.models import (
    Arrival,
    Departure,
    InTransitGoods,
    OrderClosing,
    StoredTransferOrder,
    order_code,
)
from shared.warehouse.transfer_orders.repository import TRANSFER_ORDERS

_ACTIONS_PER_ENTRY = 2
"""Actions that goods take at least when they enter or leave transit: a row and the movement."""

type _LinePick = tuple[int, int, Pick]
"""Number of a line of the order, id of its product, and a pick of it."""
type _LineGoods = tuple[int, int, InTransitGoods]
"""Number of a line of the order, id of its product, and goods of it in transit."""


def dispatch_transfer_order(
    tx: Transaction, number: int, departure: Checked[Departure]
) -> Record[StoredTransferOrder]:
    """Dispatch the goods of a picked order to its destination; raise transfer.dispatched."""
    return run_steps(tx, lambda: _dispatch_step(tx, number, departure))


def _dispatch_step(
    tx: Transaction, number: int, checked: Checked[Departure]
) -> Record[StoredTransferOrder] | None:
    """Put as many picks as fit in transit; with the last of them, dispatch the order."""
    record = TRANSFER_ORDERS.get(tx.store, number)
    ACTIONS.ensure(record.entity, "dispatch")
    departure = ensure_valid(checked)
    picking = picking_service.get_picking(tx.store, record.entity.picking_id or 0)
    picks = list(_picks_to_dispatch(picking.entity))
    dispatched = _dispatch(tx, record.entity, picking, picks)
    order = rules.with_transit(record.entity, ((line, pick) for line, _, pick in dispatched))
    if len(dispatched) < len(picks):
        TRANSFER_ORDERS.save(tx, record, order)
        return None
    facts = {"dispatched_at": tx.now, **departure.model_dump()}
    after = TRANSFER_ORDERS.save(tx, record, order, status="in_transit", **facts)
    raise_record_event(tx, "transfer.dispatched", views.TRANSFER_ORDER_EVENTS, after)
    return after


def _picks_to_dispatch(picking: StoredPicking) -> Iterator[_LinePick]:
    for line in picking.lines:
        for pick in line.picks:
            if not pick.dispatched:
                yield line.document_line, line.product_id, pick


def _dispatch(
    tx: Transaction,
    order: StoredTransferOrder,
    picking: Record[StoredPicking],
    picks: Sequence[_LinePick],
) -> list[_LinePick]:
    """Record that as many picks as fit leave the origin and are in transit; return them."""
    posting = StockPosting(tx, cause=_cause(order))
    ahead = read_ahead(picks, lambda one: one[1], lambda _: _ACTIONS_PER_ENTRY)
    posting.load(
        rows=[pick.staged_id for _, _, pick in ahead],
        targets=[
            _in_transit(order, product, pick.batch_num, pick.serial) for _, product, pick in ahead
        ],
        movements=len(ahead),
    )
    in_transit: dict[str, object] = {
        "warehouse_id": order.destination.id,
        "whs_code": order.destination.code,
        "position_id": None,
        "bin_code": None,
        "inventory_status": "in_transit",
    }

    def book(one: _LinePick) -> None:
        pick = one[2]
        row = posting.row(pick.staged_id)
        target = row.model_copy(update=in_transit)
        posting.changes.move(
            "transfer_dispatch", pick.qty, source=row, target=target, allocated=True
        )

    dispatched = posting.add_while_fitting(ahead, book)
    posting.post(later={product for _, product, _ in picks[len(dispatched) :]})
    mark_dispatched(tx, picking, [pick for _, _, pick in dispatched])
    return dispatched


def _cause(order: StoredTransferOrder) -> MovementCause:
    return MovementCause(type="transfer_order", id=order.id)


def _in_transit(
    order: StoredTransferOrder, product_id: int, batch: str | None, serial: str | None
) -> RowKey:
    """Return the key of the stock row of goods in transit to the destination."""
    return RowKey(product_id, order.destination.id or 0, None, "in_transit", batch, serial)


# At the destination


def receive_transfer_order(
    tx: Transaction, number: int, arrival: Checked[Arrival]
) -> Record[StoredTransferOrder]:
    """Receive goods of an order into stock; with the last of them, raise transfer.received.

    There is no receipt: it would be a second record of the same work, with states of its own. Goods
    have expired, and do not become available, when their day has passed.

    Raises:
        Conflict: More arrives than is in transit.
        RuleBlocked: More arrives than fits.
    """
    record, _ = run_all(
        lambda: TRANSFER_ORDERS.get(tx.store, number), lambda: fence_master_data(tx)
    )
    order = record.entity
    posting = StockPosting(tx, cause=_cause(order))
    ACTIONS.ensure(order, "receive")
    codes = NamedCodes.of_lines(order.destination.code, arrival.lines)
    found = tx.store.get_many(codes.keys)
    known = codes.known(tx, found)
    arrival = lines_in_base_units(arrival, found)
    arrival = ensure_valid(arrival, rules.examine(arrival, order, known))
    after, excess = rules.with_arrival(order, arrival, tx.now)
    if excess:
        reasons = "; ".join(one.message for one in excess)
        message = f"More is received than {order_code(order.id)} has in transit: {reasons}."
        raise Conflict(message, problems=excess)
    if arrival.lines:
        moves = _arrivals(tx, order, arrival, known)
        keys = [key for move in moves for key in (move.source, move.target.key)]
        posting.load(targets=keys, movements=len(moves))
        rows = [(move, posting.changes.find(move.source)) for move in moves]
        goods = [
            (
                f"lines.{move.line}.inventory_status",
                row.expiry_date if row else None,
                move.target.inventory_status,
            )
            for move, row in rows
        ]
        ensure_not_expired(goods, tx.company.today)
        _arrive(posting, moves)
        posting.post()
    received = TRANSFER_ORDERS.save(tx, record, after)
    if after.status == "received":
        raise_record_event(tx, "transfer.received", views.TRANSFER_ORDER_EVENTS, received)
    if arrival.lines:
        references.record_use(tx, found.values())
    return received


@dataclass(frozen=True, slots=True)
class _ArrivalMove:
    """Goods of line `line` of an arrival, from their row in transit to a row at a position."""

    line: int
    source: RowKey
    target: StockRow
    qty: Decimal


def _arrivals(
    tx: Transaction, order: StoredTransferOrder, arrival: Arrival, known: MasterData
) -> list[_ArrivalMove]:
    """Return the movements of arrived goods to positions of the destination."""
    whs_code = order.destination.code
    moves: list[_ArrivalMove] = []
    for at, line in enumerate(arrival.lines):
        product = known.products[line.item_code]
        for serial, qty in parts_of(line.qty, line.serials):
            source = _in_transit(order, product.id, line.batch, serial)
            target = empty_row(
                product,
                known.warehouses[whs_code],
                known.positions[whs_code, line.bin_code],
                status=line.inventory_status or "available",
                batch=line.batch,
                serial=serial,
                now=tx.now,
            )
            moves.append(_ArrivalMove(at, source, target, qty))
    return moves


def _arrive(posting: StockPosting, moves: Sequence[_ArrivalMove]) -> None:
    """Make the movements of arrived goods; raise RuleBlocked if more arrives than fits."""
    posting.load_room(move.target for move in moves)
    problems: list[Problem] = []
    for at, of_line in groupby(moves, lambda move: move.line):
        parts = [*of_line]
        total = sum((move.qty for move in parts), ZERO)
        if refusal := posting.room_refusal(parts[0].target, total):
            problems.append(Problem(f"lines.{at}.qty", refusal))
            continue
        for move in parts:
            _leave_transit(posting, "transfer_receipt", move.qty, move.source, move.target)
    if problems:
        raise RuleBlocked(problems)


def _leave_transit(
    posting: StockPosting,
    kind: MovementType,
    qty: Decimal,
    source: RowKey,
    target: StockRow | None = None,
) -> None:
    """Book that goods of an order are no longer in transit."""
    row = posting.changes.find(source)
    assert row is not None  # noqa: S101 - rows are kept when their stock has left
    try:
        posting.changes.move(kind, qty, source=row, target=target)
    except StockRefused as refused:
        # The order says they are in transit: another request received them after it was read.
        raise StaleRead from refused


# The end


def close_transfer_order(
    tx: Transaction, number: int, closing: Checked[OrderClosing]
) -> Record[StoredTransferOrder]:
    """Close a received order, write off goods that never arrived, and raise transfer.completed.

    It needs a reason when less was received than dispatched.
    """
    return run_steps(tx, lambda: _close_step(tx, number, closing))


def _close_step(
    tx: Transaction, number: int, checked: Checked[OrderClosing]
) -> Record[StoredTransferOrder] | None:
    """Write off as many goods as fit; with the last of them, close the order."""
    record = TRANSFER_ORDERS.get(tx.store, number)
    ACTIONS.ensure(record.entity, "close")
    closing = ensure_valid(checked)
    if rules.has_discrepancy(record.entity) and closing.reason is None:
        message = f"is required: {rules.units_missing(record.entity):f} units were not received"
        raise ValidationFailed([Problem("reason", message)])
    in_transit = list(_goods_in_transit(record.entity))
    lost = _write_off(tx, record.entity, in_transit, closing.reason)
    order = rules.without_lost_goods(record.entity, ((line, goods) for line, _, goods in lost))
    if len(lost) < len(in_transit):
        TRANSFER_ORDERS.save(tx, record, order)
        return None
    references.release_references(tx, TRANSFER_ORDERS.kind, number)
    facts = {"closed_at": tx.now, "close_reason": closing.reason}
    after = TRANSFER_ORDERS.save(tx, record, order, status="closed", **facts)
    raise_record_event(tx, "transfer.completed", views.TRANSFER_ORDER_EVENTS, after)
    return after


def _goods_in_transit(order: StoredTransferOrder) -> Iterator[_LineGoods]:
    for line in order.lines:
        yield from ((line.line_num, line.product_id, goods) for goods in line.transit)


def _write_off(
    tx: Transaction,
    order: StoredTransferOrder,
    in_transit: Sequence[_LineGoods],
    reason: str | None,
) -> list[_LineGoods]:
    """Record that as many goods as fit are lost; return them."""
    if not in_transit:
        return []
    posting = StockPosting(tx, cause=_cause(order), reason=reason)
    ahead = read_ahead(in_transit, lambda one: one[1], lambda _: _ACTIONS_PER_ENTRY)

    def row_key(one: _LineGoods) -> RowKey:
        _, product, goods = one
        return _in_transit(order, product, goods.batch_num, goods.serial)

    posting.load(targets=[row_key(one) for one in ahead], movements=len(ahead))
    lost = posting.add_while_fitting(
        ahead, lambda one: _leave_transit(posting, "transfer_loss", one[2].qty, row_key(one))
    )
    posting.post(later={product for _, product, _ in in_transit[len(lost) :]})
    return lost
