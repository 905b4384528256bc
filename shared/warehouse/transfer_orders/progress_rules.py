"""Decisions about transfer orders on their way, on plain data: state by state to the end."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from shared.kernel.errors import Conflict, Problem, StaleState
from shared.kernel.validation import Checked
from shared.warehouse.catalog.lines import Claim, examine_goods
from shared.warehouse.catalog.models import KnownProduct
from shared.warehouse.picking.models import Pick, StoredPicking, StoredPickingLine
from shared.warehouse.transfer_orders.models import (
    Arrival,
    ArrivalLine,
    Departure,
    LineStatus,
    Parcel,
    Status,
    StoredTransferLine,
    StoredTransferOrder,
)
from shared.warehouse.warehouses.models import KnownPosition

NONE = Decimal(0)
_WAY: Sequence[Status] = (
    "draft", "released", "picking", "picked", "in_transit", "receiving", "received", "closed",
    "cancelled",
)  # fmt: skip
_ROOM = 90
"""Actions that one transaction leaves for what arrives: the other 10 are for the order, its
event, counters and the answer."""
_PER_LINE = 5
"""Actions for the level, its total, its event, and what product and position hold."""
_PER_ROW = 4
"""Actions for goods by quantity: two rows, the key of a new one, a movement."""
_PER_SERIAL = 2
"""Actions for a serial: its one row and a movement."""


def ensure_state(order: StoredTransferOrder, *allowed: Status) -> None:
    """Refuse what the state of an order does not allow.

    Raises StaleState when the order has gone further than that, Conflict when it is not
    there yet.
    """
    if order.status in allowed:
        return
    wanted = " or ".join(allowed)
    message = f"TO-{order.id} is {order.status}; this needs it to be {wanted}."
    gone_further = _WAY.index(order.status) > max(_WAY.index(state) for state in allowed)
    raise StaleState(message) if gone_further else Conflict(message)


# At the origin


def picking_lines(order: StoredTransferOrder) -> list[StoredPickingLine]:
    """Make the lines of the picking of an order."""
    return [
        StoredPickingLine(
            document_id=order.id,
            document_line=line.line_num,
            product_id=line.product_id,
            item_code=line.item_code,
            qty=line.qty,
            picked_qty=NONE,
            status="open",
            batch_num=line.batch_num,
        )
        for line in order.lines
    ]


def released(
    order: StoredTransferOrder, *, picking_id: int, picker_id: int | None, now: str
) -> StoredTransferOrder:
    """Return the order as released for a picking."""
    update = {"picking_id": picking_id, "picker_id": picker_id}
    return _at(order, "released", now, **update)


def picked(
    order: StoredTransferOrder, picking: StoredPicking, state: Status, now: str
) -> StoredTransferOrder:
    """Return the order in a state, with the quantities and serials that its picking has."""
    of = {line.document_line: line for line in picking.lines}
    lines = [
        line.model_copy(
            update={
                "picked_qty": of[line.line_num].picked_qty,
                "serials": [
                    pick.serial for pick in of[line.line_num].picks if pick.serial is not None
                ],
            }
        )
        for line in order.lines
    ]
    return _at(order, state, now, lines=lines)


def cancelled(order: StoredTransferOrder, now: str) -> StoredTransferOrder:
    """Return the order as given up."""
    return _at(order, "cancelled", now)


# On the road


def with_transit(
    order: StoredTransferOrder, goods: Iterable[tuple[int, Pick]], now: str
) -> StoredTransferOrder:
    """Return the order with goods in transit, each with the number of its line."""
    lines = {line.line_num: line for line in order.lines}
    for number, pick in goods:
        line = lines[number]
        lines[number] = line.model_copy(
            update={
                "dispatched_qty": line.dispatched_qty + pick.qty,
                "transit": _with(line.transit, pick),
            }
        )
    return _at(order, order.status, now, lines=list(lines.values()))


def _with(transit: Sequence[Parcel], pick: Pick) -> list[Parcel]:
    """Add a pick to what is in transit: goods of one batch are one parcel."""
    same = [one for one in transit if _names(one) == (pick.batch_num, pick.serial)]
    others = [one for one in transit if one not in same]
    qty = sum((one.qty for one in same), pick.qty)
    return [*others, Parcel(batch_num=pick.batch_num, serial=pick.serial, qty=qty)]


def _names(parcel: Parcel) -> tuple[str | None, str | None]:
    return parcel.batch_num, parcel.serial


def dispatched(order: StoredTransferOrder, departure: Departure, now: str) -> StoredTransferOrder:
    """Return the order as on its way."""
    return _at(order, "in_transit", now, dispatched_at=now, **departure.model_dump())


# At the destination


@dataclass(frozen=True, slots=True)
class MasterData:
    """What the database knows of the codes that arriving goods name."""

    products: Mapping[str, KnownProduct]
    positions: Mapping[str, KnownPosition]
    """By code, those of the destination."""


def examine(
    arrival: Checked[Arrival], order: StoredTransferOrder, known: MasterData
) -> Iterator[Problem]:
    """Yield every problem of an arrival besides those of its fields."""
    lines: Sequence[Checked[ArrivalLine]] | None = arrival.lines
    if lines is None:
        return
    if not lines and not arrival.final:
        yield Problem("lines", "is required unless final is true")
    seen: dict[tuple[str, str], str] = {}
    for at, line in enumerate(lines):
        path = f"lines.{at}"
        yield from _goods_problems(path, line, order, known)
        yield from _serial_problems(path, line, order, seen)
        yield from _bin_problems(path, line, order, known)
    if sum(_actions(line) for line in lines) > _ROOM:
        message = (
            "are more than can be received at once: send at most 10, fewer with many serials"
            " (a line alone may have 40), the others in further calls"
        )
        yield Problem("lines", message)


def _actions(line: Checked[ArrivalLine]) -> int:
    return _PER_LINE + (_PER_SERIAL * len(line.serials) if line.serials else _PER_ROW)


def _goods_problems(
    path: str, line: Checked[ArrivalLine], order: StoredTransferOrder, known: MasterData
) -> Iterator[Problem]:
    code = line.item_code
    if code is None:
        return
    sent = [one for one in order.lines if one.item_code == code and one.dispatched_qty]
    if not sent:
        yield Problem(f"{path}.item_code", f"nothing of {code} was dispatched with TO-{order.id}")
        return
    claim = Claim(path, code, line.qty, {"batch": line.batch}, ("serials", line.serials))
    yield from examine_goods(claim, known.products[code])


def _serial_problems(
    path: str,
    line: Checked[ArrivalLine],
    order: StoredTransferOrder,
    seen: dict[tuple[str, str], str],
) -> Iterator[Problem]:
    code = line.item_code
    if code is None:
        return
    sent = {serial for one in order.lines if one.item_code == code for serial in one.serials}
    for number, serial in enumerate(line.serials or ()):
        field = f"{path}.serials.{number}"
        first = seen.setdefault((code, serial), path)
        if first != path:
            yield Problem(field, f"is received already, by {first}")
        if sent and serial not in sent:
            yield Problem(field, f"serial {serial} was not dispatched with TO-{order.id}")


def _bin_problems(
    path: str, line: Checked[ArrivalLine], order: StoredTransferOrder, known: MasterData
) -> Iterator[Problem]:
    code = line.bin_code
    if code is None:
        return
    position = known.positions.get(code)
    field = f"{path}.bin_code"
    if position is None:
        yield Problem(field, f"warehouse {order.destination.code} has no position {code}")
    elif position.disabled:
        yield Problem(field, f"position {code} is disabled")
    elif position.blocked:
        yield Problem(field, f"position {code} is blocked")


def unloaded(
    order: StoredTransferOrder, arrival: Arrival, now: str
) -> tuple[StoredTransferOrder, list[str]]:
    """Return the order after what arrived, and what of it is more than is in transit."""
    lines = {line.line_num: line for line in order.lines}
    excess: list[str] = []
    for one in arrival.lines:
        parts: list[tuple[str | None, Decimal]] = [
            (serial, Decimal(1)) for serial in one.serials or ()
        ]
        for serial, qty in parts or [(None, one.qty)]:
            left = qty
            for number, line in lines.items():
                if line.item_code == one.item_code and left:
                    lines[number], left = _less(line, one.batch, serial, left)
            if left:
                excess.append(_excess(one, serial, qty - left))
    after = _at(order, "receiving", now, lines=list(lines.values()))
    if arrival.final or not any(line.transit for line in after.lines):
        after = _at(after, "received", now, received_at=now)
    return after, excess


def _less(
    line: StoredTransferLine, batch: str | None, serial: str | None, qty: Decimal
) -> tuple[StoredTransferLine, Decimal]:
    """Take goods of a batch or a serial out of what is in transit; and what is left to take."""
    transit: list[Parcel] = []
    left = qty
    for parcel in line.transit:
        part = min(left, parcel.qty) if _names(parcel) == (batch, serial) else NONE
        left -= part
        if parcel.qty > part:
            transit.append(parcel.model_copy(update={"qty": parcel.qty - part}))
    update = {"transit": transit, "received_qty": line.received_qty + qty - left}
    return line.model_copy(update=update), left


def _excess(line: ArrivalLine, serial: str | None, there: Decimal) -> str:
    if serial is not None:
        return f"serial {serial} of {line.item_code} has arrived already"
    batch = f", batch {line.batch}" if line.batch else ""
    return f"only {there.normalize():f} of {line.item_code}{batch} is in transit"


# The end


def differs(order: StoredTransferOrder) -> bool:
    """Tell whether receiving has ended with another quantity than was dispatched."""
    ended = order.status in {"received", "closed"}
    return ended and any(line.received_qty != line.dispatched_qty for line in order.lines)


def without(
    order: StoredTransferOrder, lost: Iterable[tuple[int, Parcel]], now: str
) -> StoredTransferOrder:
    """Return the order without parcels, each with the number of its line, that never came."""
    gone = [(number, id(parcel)) for number, parcel in lost]
    lines = [
        line.model_copy(
            update={
                "transit": [one for one in line.transit if (line.line_num, id(one)) not in gone]
            }
        )
        for line in order.lines
    ]
    return _at(order, order.status, now, lines=lines)


def closed(order: StoredTransferOrder, reason: str | None, now: str) -> StoredTransferOrder:
    """Return the order at its end."""
    return _at(order, "closed", now, closed_at=now, close_reason=reason)


def _at(
    order: StoredTransferOrder, state: Status, now: str, **update: object
) -> StoredTransferOrder:
    return order.model_copy(update={**update, "status": state, "updated_at": now})


# What a line shows


def state_of(order: StoredTransferOrder, line: StoredTransferLine) -> LineStatus:
    """State of a line of an order."""
    match order.status:
        case "draft" | "released":
            return "open"
        case "cancelled":
            return "cancelled"
        case "picking":
            return _picked_state(line)
        case "picked":
            return "picked" if line.picked_qty >= line.qty else "short"
        case "in_transit" | "receiving":
            return _travelling_state(line)
        case _:
            came = line.dispatched_qty and line.received_qty == line.dispatched_qty
            return "received" if came else "short"


def _picked_state(line: StoredTransferLine) -> LineStatus:
    if line.picked_qty >= line.qty:
        return "picked"
    return "partial" if line.picked_qty else "open"


def _travelling_state(line: StoredTransferLine) -> LineStatus:
    if not line.dispatched_qty:
        return "short"
    if line.received_qty >= line.dispatched_qty:
        return "received"
    return "partial" if line.received_qty else "in_transit"
