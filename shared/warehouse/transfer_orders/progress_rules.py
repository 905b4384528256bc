"""Rules of the progress of transfer orders, as pure functions, from release to close."""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from shared.kernel.db.actions import MAX_PLANNED_ACTIONS
from shared.kernel.errors import Problem
from shared.kernel.fields import ZERO, plain
from shared.kernel.validation import Checked
from shared.warehouse.catalog.lines import (
    GoodsLine,
    examine_goods,
    numbered,
    parts_of,
    repeated_serials,
)
from shared.warehouse.master_data.named_codes import MasterData
from shared.warehouse.picking.models import Pick, StoredPicking, StoredPickingLine
from shared.warehouse.transfer_orders.models import (
    Arrival,
    ArrivalLine,
    InTransitGoods,
    OrderLineStatus,
    PickerChoice,
    StoredTransferLine,
    StoredTransferOrder,
    TransferOrderDraft,
    order_code,
)

_MAX_LINE_ACTIONS = MAX_PLANNED_ACTIONS - 8
"""Actions for the lines of one request. The other 8 are for the order, its event, the counters and
the stored response."""
_ACTIONS_PER_LINE = 4
"""The level, the total, the event, and the stock count of the position."""
_ACTIONS_PER_ROW = 4
"""Goods without serial: two rows, the alias of a new row, and a movement."""
_ACTIONS_PER_SERIAL = 2
"""A serial: its row and a movement. Goods of a batch also take one action per batch."""


# At the origin


def missing_picker(
    choice: Checked[PickerChoice] | Checked[TransferOrderDraft], *, by_client: bool
) -> Iterator[Problem]:
    """Yield a problem when an integration client releases an order and names no picker."""
    if by_client and choice.picker_id is None:
        yield Problem("picker_id", "is required when an integration client releases an order")


def picking_lines(order: StoredTransferOrder) -> list[StoredPickingLine]:
    """Return the lines of the picking of an order."""
    return [
        StoredPickingLine(
            document_id=order.id,
            document_line=line.line_num,
            external_ref=line.external_ref,
            product_id=line.product_id,
            item_code=line.item_code,
            qty=line.qty,
            batch_num=line.batch_num,
            batches=line.expected_batches,
            serials=line.expected_series,
        )
        for line in order.lines
    ]


def picked(order: StoredTransferOrder, picking: StoredPicking) -> StoredTransferOrder:
    """Return the order with the picked quantities and serials."""
    picked_lines = {line.document_line: line for line in picking.lines}
    lines = [
        line.model_copy(
            update={
                "picked_qty": picked_lines[line.line_num].picked_qty,
                "serials": [
                    pick.serial
                    for pick in picked_lines[line.line_num].picks
                    if pick.serial is not None
                ],
            }
        )
        for line in order.lines
    ]
    return order.model_copy(update={"lines": lines})


# In transit


def with_transit(
    order: StoredTransferOrder, goods: Iterable[tuple[int, Pick]]
) -> StoredTransferOrder:
    """Return the order with more goods in transit: line numbers and picks."""
    lines = {line.line_num: line for line in order.lines}
    for number, pick in goods:
        line = lines[number]
        lines[number] = line.model_copy(
            update={
                "dispatched_qty": line.dispatched_qty + pick.qty,
                "transit": _with_goods_in_transit(line.transit, pick),
            }
        )
    return order.model_copy(update={"lines": list(lines.values())})


def _with_goods_in_transit(transit: Sequence[InTransitGoods], pick: Pick) -> list[InTransitGoods]:
    """Return the goods in transit with a pick added; goods of one batch are one entry."""
    same = [one for one in transit if _batch_and_serial(one) == (pick.batch_num, pick.serial)]
    others = [one for one in transit if one not in same]
    qty = sum((one.qty for one in same), pick.qty)
    goods = InTransitGoods(batch_num=pick.batch_num, serial=pick.serial, qty=qty)
    return [*others, goods.in_place_of(same[0]) if same else goods]


def _batch_and_serial(goods: InTransitGoods) -> tuple[str | None, str | None]:
    return goods.batch_num, goods.serial


# At the destination


def examine(
    arrival: Checked[Arrival], order: StoredTransferOrder, known: MasterData
) -> Iterator[Problem]:
    """Yield every problem of an arrival other than those of its fields."""
    lines: Sequence[Checked[ArrivalLine]] | None = arrival.lines
    if lines is None:
        return
    if not lines and not arrival.final:
        yield Problem("lines", "is required unless final is true")
    seen: dict[tuple[str, str], str] = {}
    for path, line in numbered(lines):
        yield from _goods_problems(path, line, order, known)
        yield from repeated_serials(path, line.item_code, line.serials, seen)
        yield from _unsent_serials(path, line, order)
        field = f"{path}.bin_code"
        yield from known.placing_problems(field, order.destination.code, line.bin_code)
    batches = {(line.item_code, line.batch) for line in lines if line.batch is not None}
    if sum(_actions(line) for line in lines) + len(batches) > _MAX_LINE_ACTIONS:
        serials = sum(len(line.serials or ()) for line in lines)
        message = (
            f"{len(lines)} lines with {serials} serials and {len(batches)} batches do not fit into"
            " one request; send at most 9 lines without serials (8 if each has another batch), or"
            " one line with 30 serials, and the rest in further requests"
        )
        yield Problem("lines", message)


def _actions(line: Checked[ArrivalLine]) -> int:
    return _ACTIONS_PER_LINE + (
        _ACTIONS_PER_SERIAL * len(line.serials) if line.serials else _ACTIONS_PER_ROW
    )


def _goods_problems(
    path: str, line: Checked[ArrivalLine], order: StoredTransferOrder, known: MasterData
) -> Iterator[Problem]:
    code = line.item_code
    if code is None:
        return
    sent = [one for one in order.lines if one.item_code == code and one.dispatched_qty]
    if not sent:
        message = f"{code} was not dispatched with {order_code(order.id)}"
        yield Problem(f"{path}.item_code", message)
        return
    yield from examine_goods(GoodsLine.of(path, line), known.products[code])


def _unsent_serials(
    path: str, line: Checked[ArrivalLine], order: StoredTransferOrder
) -> Iterator[Problem]:
    code = line.item_code
    sent = {serial for one in order.lines if one.item_code == code for serial in one.serials}
    for number, serial in enumerate(line.serials or ()):
        if sent and serial not in sent:
            message = f"serial {serial} was not dispatched with {order_code(order.id)}"
            yield Problem(f"{path}.serials.{number}", message)


def with_arrival(
    order: StoredTransferOrder, arrival: Arrival, now: str
) -> tuple[StoredTransferOrder, list[Problem]]:
    """Return the order after goods arrived, and a problem for each quantity not in transit."""
    lines = {line.line_num: line for line in order.lines}
    excess: list[Problem] = []
    for at, one in enumerate(arrival.lines):
        for serial, qty in parts_of(one.qty, one.serials):
            left = qty
            for number, line in lines.items():
                if line.item_code == one.item_code and left:
                    lines[number], left = _without_arrived(line, one.batch, serial, left)
            if left:
                field = "qty" if serial is None else "serials"
                message = _excess(one, serial, qty - left)
                excess.append(Problem(f"lines.{at}.{field}", message))
    update: dict[str, object] = {"status": "receiving", "lines": list(lines.values())}
    if arrival.final or not any(line.transit for line in lines.values()):
        update |= {"status": "received", "received_at": now}
    return order.model_copy(update=update), excess


def _without_arrived(
    line: StoredTransferLine, batch: str | None, serial: str | None, qty: Decimal
) -> tuple[StoredTransferLine, Decimal]:
    """Return the line with less in transit, and the rest of `qty` that was not in transit."""
    transit: list[InTransitGoods] = []
    left = qty
    for goods in line.transit:
        part = min(left, goods.qty) if _batch_and_serial(goods) == (batch, serial) else ZERO
        left -= part
        if goods.qty > part:
            transit.append(goods.model_copy(update={"qty": goods.qty - part}))
    update = {"transit": transit, "received_qty": line.received_qty + qty - left}
    return line.model_copy(update=update), left


def _excess(line: ArrivalLine, serial: str | None, there: Decimal) -> str:
    if serial is not None:
        return f"serial {serial} of {line.item_code} is not in transit"
    batch = f", batch {line.batch}" if line.batch else ""
    received = f"{plain(line.qty)} of {line.item_code}{batch} received"
    return f"{received}, {plain(there)} in transit"


# The end


def has_discrepancy(order: StoredTransferOrder) -> bool:
    """Return whether another quantity was received in the end than was dispatched.

    Before the end, goods in transit would look like missing ones. The reason of a closed order
    explains the difference and does not remove it.
    """
    ended = order.status in {"received", "closed"}
    return ended and any(line.received_qty != line.dispatched_qty for line in order.lines)


def units_missing(order: StoredTransferOrder) -> Decimal:
    """Return the number of units that were dispatched and not received."""
    missing = sum((line.dispatched_qty - line.received_qty for line in order.lines), ZERO)
    return missing.normalize()


def without_lost_goods(
    order: StoredTransferOrder, lost: Iterable[tuple[int, InTransitGoods]]
) -> StoredTransferOrder:
    """Return the order without the goods that never arrived: line numbers and goods."""
    gone = [(number, id(goods)) for number, goods in lost]
    lines = [
        line.model_copy(
            update={
                "transit": [one for one in line.transit if (line.line_num, id(one)) not in gone]
            }
        )
        for line in order.lines
    ]
    return order.model_copy(update={"lines": lines})


# Status of lines


def line_status(order: StoredTransferOrder, line: StoredTransferLine) -> OrderLineStatus:
    """Return the status of a line of an order."""
    match order.status:
        case "draft" | "released":
            return "open"
        case "cancelled":
            return "cancelled"
        case "picking":
            return _picking_line_status(line)
        case "picked":
            return "picked" if line.picked_qty >= line.qty else "short"
        case "in_transit" | "receiving":
            return _transit_line_status(line)
        case _:
            is_complete = line.dispatched_qty and line.received_qty == line.dispatched_qty
            return "received" if is_complete else "short"


def _picking_line_status(line: StoredTransferLine) -> OrderLineStatus:
    if line.picked_qty >= line.qty:
        return "picked"
    return "partial" if line.picked_qty else "open"


def _transit_line_status(line: StoredTransferLine) -> OrderLineStatus:
    if not line.dispatched_qty:
        return "short"
    if line.received_qty >= line.dispatched_qty:
        return "received"
    return "partial" if line.received_qty else "in_transit"
