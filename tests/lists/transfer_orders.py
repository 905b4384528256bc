"""The list of transfer orders."""

from shared.warehouse.transfer_orders.models import StoredTransferOrder
from shared.warehouse.transfer_orders.repository import TRANSFER_ORDERS
from tests.lists import spec
from tests.lists.warehouses import WAREHOUSE_CODES, WAREHOUSE_NAMES, warehouse_of

_STATUSES = (
    "draft", "released", "picking", "picked", "in_transit", "receiving", "received", "closed",
    "cancelled",
)  # fmt: skip
_SOURCES = ("web", "api", "import", "sap")


def _reference(number: int) -> str:
    return f"MOVE-{number:07d}"


def _place(number: int) -> dict[str, object]:
    code = WAREHOUSE_CODES[number]
    return {"id": number, "code": code, "name": WAREHOUSE_NAMES[code]}


def _order(number: int, times: spec.Times) -> StoredTransferOrder:
    return StoredTransferOrder.model_validate(
        {
            "id": number,
            "status": _STATUSES[number % 9],
            "origin": _place(warehouse_of(number)),
            "destination": _place(warehouse_of(number + 1 + number % 2)),
            "priority": number % 5,
            "reason": spec.unless(number, 2, "Replenish the shop"),
            "due_at": spec.unless(number, 3, "2026-03-02T07:00:00.000Z"),
            "external_ref": spec.unless(number, 4, _reference(number)),
            "source": _SOURCES[number % 4],
            "picking_id": spec.unless(number, 2, number),
            "dispatched_at": spec.unless(number, 3, times.created(number)),
            "received_at": spec.unless(number, 4, times.updated(number)),
            "closed_at": spec.unless(number, 5, times.updated(number)),
            "close_reason": spec.unless(number, 5, "Lost on the way"),
            "seal_number": spec.unless(number, 2, "SEAL-9"),
            "vehicle_plate": spec.unless(number, 3, "241-D-1"),
            "carrier_id": spec.unless(number, 4, 5),
            "created_at": times.created(number),
            "updated_at": times.updated(number),
            "lines": [
                {
                    "id": number,
                    "line_num": 1,
                    "product_id": 1,
                    "item_code": "BRICK",
                    "qty": 40,
                    "picked_qty": 2.5,
                    "dispatched_qty": 2,
                    "received_qty": number % 3,
                }
            ],
        }
    )


def _warehouse(name: str) -> spec.Filter:
    return spec.Filter(
        lambda _: ("W2", "W1", "W4"),
        lambda row, value: row[name]["code"] == value,
        spec.INVALID_TEXTS,
        selective=True,
    )


TRANSFER_ORDER_LIST = spec.Listed(
    path="/transfer-orders",
    collection=TRANSFER_ORDERS,
    make=_order,
    aliases=lambda order: [
        (f"transfer_order_ref#{reference}", "ALIAS")
        for reference in [order.external_ref]
        if reference
    ],
    period=True,
    fields=spec.fields("""
        object string
        id integer
        code string
        status string
        status_label string
        headline string?
        has_discrepancy boolean
        from object
        from.id integer?
        from.code string?
        from.name string?
        to object
        to.id integer?
        to.code string?
        to.name string?
        priority integer
        reason string?
        due_at date-time?
        lines_count integer
        units object
        units.requested number
        units.picked number
        units.dispatched number
        units.received number
        dispatched_at date-time?
        received_at date-time?
        closed_at date-time?
        close_reason string?
        seal_number string?
        vehicle_plate string?
        carrier_id integer?
        external_ref string?
        source string
        picking_id integer?
        receipt_id integer?
        sap object?
        created_at date-time
        updated_at date-time
        lines array?
    """),
    always_filled=spec.name_set("headline from.id from.code from.name to.id to.code to.name"),
    always_null=spec.name_set("receipt_id sap lines"),
    filters={
        "status": spec.among("status", _STATUSES, wrong=("", "Draft", "open"), narrow=True),
        "from_warehouse": _warehouse("from"),
        "to_warehouse": _warehouse("to"),
        "external_ref": spec.equal("external_ref", _reference),
        "has_discrepancy": spec.flag("has_discrepancy"),
    },
    sorts={"created_at": spec.by("created_at"), "updated_at": spec.by("updated_at")},
    default_sort="-created_at",
)
