"""The lists of packing orders and handling units."""

from decimal import Decimal

from shared.kernel.db.transaction import Transaction
from shared.warehouse.gs1.numbers import check_digit
from shared.warehouse.packing.models import StoredPackingOrder, StoredUnit
from shared.warehouse.packing.repository import PACKING_ORDERS, UNITS
from tests.lists import spec
from tests.lists.warehouses import WAREHOUSE_CODES, by_warehouse, warehouse_of

_ORDER_STATUSES = ("open", "in_progress", "packed", "shipped", "cancelled")
_UNIT_STATUSES = ("open", "closed", "dispatched")
_TYPES = ("carton", "pallet", "tote", "other")
_UNIT = 10**9
"""Id of the unit of the orders, which no row of the list of units has."""
_ENTRY = {
    "id": _UNIT, "status": "closed", "parent_id": None, "contents": 1, "weight_kg": Decimal("7.5"),
}  # fmt: skip
_BRICK = {"product_id": 1, "item_code": "BRICK", "product_name": "Brick"}
_SHIPPING = {"sender": "Yard", "recipient": "Brindley Electrical", "external_ref": "SO-9"}


def _order(number: int, times: spec.Times) -> StoredPackingOrder:
    return StoredPackingOrder.model_validate(
        {
            **times.of(number),
            "status": _ORDER_STATUSES[number % 5],
            "exit_document_id": 1 + number // 2,
            "shipping": _SHIPPING,
            "whs_code": WAREHOUSE_CODES[warehouse_of(number)],
            "picking_ids": [number],
            "station": spec.unless(number, 2, "Table 3"),
            "operator": spec.unless(number, 3, {"id": 7, "name": "Ana"}),
            "short_reason": spec.unless(number, 4, "Too long"),
            "packed_at": spec.unless(number, 2, times.updated(number)),
            "shipped_at": spec.unless(number, 3, times.updated(number)),
            "lines": [{**_BRICK, "qty": 40, "packed_qty": 2.5}],
            "units": [_ENTRY] if number % 2 else [],
        }
    )


def _stage_unit(tx: Transaction) -> None:
    """Stage the unit that every order with a unit names."""
    values = _unit(1, spec.HOURLY).model_dump()
    staged = values | _ENTRY | {"contents": values["contents"]}
    UNITS.insert(tx, _UNIT, StoredUnit.model_validate(staged))


def _stage_orders(tx: Transaction) -> None:
    """Stage the packing orders of the first units, which their details need."""
    for number in range(1, 30):
        PACKING_ORDERS.insert(tx, number, _order(number, spec.HOURLY))


def _sscc(number: int) -> str:
    body = f"{number:017d}"
    return f"{body}{check_digit(body)}"


def _unit(number: int, times: spec.Times) -> StoredUnit:
    return StoredUnit.model_validate(
        {
            **times.of(number),
            "sscc": spec.unless(number, 3, _sscc(number)),
            "type": _TYPES[number % 4],
            "status": _UNIT_STATUSES[number % 3],
            "parent_id": spec.unless(number, 2, 1),
            "packing_order_id": 1 + number // 3,
            "exit_document_id": 1 + number // 2,
            "shipping": _SHIPPING,
            "whs_code": WAREHOUSE_CODES[warehouse_of(number)],
            "length_mm": spec.unless(number, 2, 400),
            "width_mm": spec.unless(number, 2, 300),
            "height_mm": spec.unless(number, 2, 200),
            "tare_kg": spec.unless(number, 3, 0.4),
            "weight_kg": spec.unless(number, 4, 7.5),
            "tracking_number": spec.unless(number, 7, _tracking_number(number)),
            "carrier_code": spec.unless(number, 2, "DHL"),
            "contents": [{**_BRICK, "qty": number, "batch_num": spec.unless(number, 2, "L1")}],
            "inside": [] if number % 3 else None,
        }
    )


def _tracking_number(number: int) -> str:
    return f"1Z{number:07d}"


PACKING_ORDER_LIST = spec.Listed(
    path="/packing-orders",
    collection=PACKING_ORDERS,
    make=_order,
    period=True,
    related_items=_stage_unit,
    fields=spec.fields("""
        integer: id exit_document_id units_count operator.id?!
        number: qty.to_pack qty.packed weight_kg?
        string: object code status status_label exit_doc_num warehouse_code?! station?
        string: operator.name?! short_reason?
        array: picking_ids
        object: qty operator?
        date-time: packed_at? shipped_at? created_at updated_at
    """),
    filters={
        "status": spec.one_of("status", _ORDER_STATUSES, wrong=("", "Open", "closed")),
        "warehouse": by_warehouse("warehouse_code"),
        "exit_document_id": spec.equal_id("exit_document_id", lambda number: 1 + number // 2),
    },
)

HANDLING_UNIT_LIST = spec.Listed(
    path="/handling-units",
    collection=UNITS,
    make=_unit,
    related_items=_stage_orders,
    aliases=lambda unit: [(f"sscc#{unit.sscc}", "ALIAS")] if unit.sscc else [],
    fields=spec.fields("""
        integer: id parent_id? packing_order_id length_mm? width_mm? height_mm?
        number: contents.qty weight_kg? tare_kg?
        string: object code sscc? type status warehouse_code?! tracking_number? carrier_code?
        string: contents.item_code contents.product_name contents.batch_num?
        array: contents contents.serial_numbers
        date-time: created_at updated_at
    """),
    filters={
        "sscc": spec.equal("sscc", _sscc),
        "packing_order_id": spec.equal_id("packing_order_id", lambda number: 1 + number // 3),
        "status": spec.one_of("status", _UNIT_STATUSES, wrong=("", "Open", "packed")),
        "tracking_number": spec.equal("tracking_number", _tracking_number),
    },
)
