"""The list of transfer orders."""

from shared.warehouse.transfer_orders.models import StoredTransferOrder
from shared.warehouse.transfer_orders.repository import TRANSFER_ORDERS
from tests.lists import spec
from tests.lists.warehouses import (
    WAREHOUSE_CODES,
    WAREHOUSE_NAMES,
    by_warehouse,
    warehouse_of,
)

_STATUSES = (
    "draft", "released", "picking", "picked", "in_transit", "receiving", "received", "closed",
    "cancelled",
)  # fmt: skip
_SOURCES = ("web", "api", "import", "sap")
_LINE = {
    "line_num": 1, "product_id": 1, "item_code": "BRICK", "qty": 40, "picked_qty": 2.5,
    "dispatched_qty": 2,
}  # fmt: skip


def _reference(number: int) -> str:
    return f"MOVE-{number:07d}"


def _place(number: int) -> dict[str, object]:
    code = WAREHOUSE_CODES[number]
    return {"id": number, "code": code, "name": WAREHOUSE_NAMES[code]}


def _order(number: int, times: spec.Times) -> StoredTransferOrder:
    return StoredTransferOrder.model_validate(
        {
            **times.of(number),
            "status": _STATUSES[number % 9],
            "origin": _place(warehouse_of(number)),
            "destination": _place(warehouse_of(number + 1 + number % 2)),
            "priority": number % 5,
            "reason": spec.unless(number, 2, "Replenish the shop"),
            "due_at": spec.unless(number, 3, "2026-03-02T07:00:00.000Z"),
            "external_ref": spec.unless(number, 4, _reference(number)),
            "ship_to_address": spec.unless(number, 3, spec.address_of(number)),
            "carrier_code": spec.unless(number, 2, "DHL"),
            "service_code": spec.unless(number, 4, "EXPRESS"),
            "source": _SOURCES[number % 4],
            "picking_id": spec.unless(number, 2, number),
            "dispatched_at": spec.unless(number, 3, times.created(number)),
            "received_at": spec.unless(number, 4, times.updated(number)),
            "closed_at": spec.unless(number, 5, times.updated(number)),
            "close_reason": spec.unless(number, 5, "Lost on the way"),
            "metadata": {"erp_id": str(number)},
            "seal_number": spec.unless(number, 2, "SEAL-9"),
            "vehicle_plate": spec.unless(number, 3, "241-D-1"),
            "carrier_id": spec.unless(number, 4, 5),
            "lines": [{**_LINE, "id": number, "received_qty": number % 3}],
        }
    )


TRANSFER_ORDER_LIST = spec.Listed(
    path="/transfer-orders",
    collection=TRANSFER_ORDERS,
    make=_order,
    aliases=lambda one: (
        [(f"transfer_order_ref#{one.external_ref}", "ALIAS")] if one.external_ref else []
    ),
    period=True,
    fields=spec.fields(f"""{spec.ADDRESS_FIELDS}
        integer: id from.id?! to.id?! priority lines_count carrier_id? picking_id? receipt_id?-
        number: units.requested units.picked units.dispatched units.received
        string: object code status status_label headline?! from.code?! from.name?! to.code?!
        string: to.name?! reason? close_reason? seal_number? vehicle_plate? external_ref? source
        string: carrier_code? service_code?
        boolean: has_discrepancy
        array: lines?-
        string: metadata.erp_id
        object: from to units sap?- metadata
        date-time: due_at? dispatched_at? received_at? closed_at? created_at updated_at
    """),
    filters={
        "status": spec.one_of("status", _STATUSES, wrong=("", "Draft", "open")),
        "from_warehouse": by_warehouse("from.code"),
        "to_warehouse": by_warehouse("to.code"),
        "external_ref": spec.equal("external_ref", _reference),
        "search": spec.begins_words(
            lambda row: (row["code"], row["external_ref"]),
            values=("TO-1", "move-00", "to move", "1", "OVE-1"),
            code=_reference,
        ),
        "has_discrepancy": spec.flag("has_discrepancy"),
    },
)
