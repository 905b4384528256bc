"""Responses that show transfer orders."""

from collections.abc import Mapping
from typing import Any

from shared.kernel.db.records import Record
from shared.kernel.events.outbox import EventResource
from shared.kernel.fields import ZERO, dict_of
from shared.warehouse.transfer_orders import progress_rules
from shared.warehouse.transfer_orders.actions import ACTIONS
from shared.warehouse.transfer_orders.models import (
    OrderStatus,
    StoredTransferLine,
    StoredTransferOrder,
    TransferOrder,
    TransferOrderDetail,
    TransferOrderLine,
    TransferUnits,
    order_code,
)
from shared.warehouse.work.address import ShipToAddress

_LABELS: Mapping[OrderStatus, str] = {
    "draft": "Draft",
    "released": "Released for picking",
    "picking": "Being picked",
    "picked": "Picked",
    "in_transit": "In transit",
    "receiving": "Being received",
    "received": "Received",
    "closed": "Closed",
    "cancelled": "Cancelled",
}


def in_list(record: Record[StoredTransferOrder]) -> TransferOrder:
    """Return the response for a transfer order in a list, without its lines."""
    return TransferOrder.from_stored(record.entity, **_others(record.entity), lines=None)


TRANSFER_ORDER_EVENTS = EventResource("transfer_order", "/transfer-orders/{record.id}", in_list)


def in_detail(record: Record[StoredTransferOrder]) -> TransferOrderDetail:
    """Return the response for one transfer order, with its lines."""
    order = record.entity
    lines = [_line(order, line) for line in order.lines]
    admitted = ACTIONS.admitted(order)
    return TransferOrderDetail.from_stored(order, **_others(order), lines=lines, actions=admitted)


def _others(order: StoredTransferOrder) -> dict[str, Any]:
    """Return the fields of a response that are computed, not stored."""
    return {
        "code": order_code(order.id),
        "status_label": _LABELS[order.status],
        "headline": _headline(order),
        "has_discrepancy": progress_rules.has_discrepancy(order),
        "lines_count": len(order.lines),
        "units": _units(order),
        "ship_to_address": (
            dict_of(ShipToAddress, order.ship_to_address) if order.ship_to_address else None
        ),
        # Goods are received on the transfer order itself, so there is no receipt and no ERP answer.
        "receipt_id": None,
        "sap": None,
    }


def _headline(order: StoredTransferOrder) -> str:
    count = len(order.lines)
    lines = "1 line" if count == 1 else f"{count} lines"
    route = f"{order.origin.code} → {order.destination.code}, {lines}"
    if not progress_rules.has_discrepancy(order):
        return route
    units = _units(order)
    received, dispatched = units.received.normalize(), units.dispatched.normalize()
    return f"{route}: {received:f} of {dispatched:f} units received"


def _units(order: StoredTransferOrder) -> TransferUnits:
    return TransferUnits(
        requested=sum((line.qty for line in order.lines), ZERO),
        picked=sum((line.picked_qty for line in order.lines), ZERO),
        dispatched=sum((line.dispatched_qty for line in order.lines), ZERO),
        received=sum((line.received_qty for line in order.lines), ZERO),
    )


def _line(order: StoredTransferOrder, line: StoredTransferLine) -> TransferOrderLine:
    return dict_of(
        TransferOrderLine,
        line,
        serial_numbers=line.serials if line.picked_qty else line.expected_series,
        status=progress_rules.line_status(order, line),
    )
