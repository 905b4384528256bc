"""Responses that show packing orders and handling units."""

from collections.abc import Mapping
from typing import Any

from shared.kernel.db.records import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.events.outbox import EventResource, raise_record_event
from shared.kernel.fields import ZERO, dict_of
from shared.warehouse.documents.vocabulary import doc_num
from shared.warehouse.packing import rules
from shared.warehouse.packing.actions import ACTIONS
from shared.warehouse.packing.models import (
    HandlingUnit,
    HandlingUnitDetail,
    PackingLine,
    PackingOrder,
    PackingOrderDetail,
    PackingQuantities,
    PackingStatus,
    ShippedUnit,
    StoredPackingOrder,
    StoredUnit,
    UnitContents,
    unit_code,
)
from shared.warehouse.packing.reading import OrderWithUnits, UnitInOrder
from shared.warehouse.picking.models import packing_order_code

_LABELS: Mapping[PackingStatus, str] = {
    "open": "Open",
    "in_progress": "Being packed",
    "packed": "Packed",
    "shipped": "Shipped",
    "cancelled": "Cancelled",
}


def order_in_list(record: Record[StoredPackingOrder]) -> PackingOrder:
    """Return the response for a packing order in a list, without lines and handling units."""
    return PackingOrder.from_stored(record.entity, **_others(record.entity))


_EVENTS = EventResource("packing_order", "/packing-orders/{record.id}", order_in_list)


def raise_transition(
    tx: Transaction, record: Record[StoredPackingOrder], before: PackingStatus
) -> None:
    """Raise packing_order.transitioned if the status of a changed packing order is new."""
    after = record.entity.status
    if after != before:
        more = {"from": before, "to": after}
        raise_record_event(tx, "packing_order.transitioned", _EVENTS, record, more)


def order_in_detail(found: OrderWithUnits) -> PackingOrderDetail:
    """Return the response for one packing order, with its lines and handling units."""
    order = found.record.entity
    lines = [dict_of(PackingLine, line, serial_numbers=line.serials) for line in order.lines]
    admitted = ACTIONS.admitted(order)
    return PackingOrderDetail.from_stored(
        order,
        **_others(order),
        lines=lines,
        handling_units=[unit_shown(one) for one in found.units],
        actions=[one for one in admitted if one != "cancel" or not found.is_leaving],
    )


def unit_shown(record: Record[StoredUnit]) -> HandlingUnit:
    """Return the response for a handling unit in a list, or in its packing order."""
    return HandlingUnit.from_stored(record.entity, **_of_unit(record.entity))


def unit_in_detail(found: UnitInOrder) -> HandlingUnitDetail:
    """Return the response for one handling unit."""
    unit = found.record.entity
    admitted = rules.admitted_actions(found.order, unit)
    return HandlingUnitDetail.from_stored(unit, **_of_unit(unit), actions=admitted)


def _of_unit(unit: StoredUnit) -> dict[str, Any]:
    """Return the fields of a unit in a response that are computed, not stored."""
    contents = [dict_of(UnitContents, one, serial_numbers=one.serials) for one in unit.contents]
    return {"code": unit_code(unit.id), "warehouse_code": unit.whs_code, "contents": contents}


def shipped_unit(unit: StoredUnit) -> ShippedUnit:
    """Return what the event shipment.dispatched shows of a handling unit."""
    return dict_of(ShippedUnit, unit, code=unit_code(unit.id))


def _others(order: StoredPackingOrder) -> dict[str, Any]:
    """Return the fields of a response that are computed, not stored."""
    quantities = PackingQuantities(
        to_pack=sum((line.qty for line in order.lines), ZERO),
        packed=sum((line.packed_qty for line in order.lines), ZERO),
    )
    return {
        "code": packing_order_code(order.id),
        "status_label": _LABELS[order.status],
        "exit_doc_num": doc_num("exit", order.exit_document_id),
        "warehouse_code": order.whs_code,
        "units_count": len(order.units),
        "qty": quantities,
        "weight_kg": rules.weight_of(order),
    }
