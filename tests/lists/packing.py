"""The lists of packing orders and handling units."""

from decimal import Decimal

from shared.kernel.db.transaction import Transaction
from shared.warehouse.gs1 import check_digit
from shared.warehouse.packing.models import StoredPackingOrder, StoredUnit
from shared.warehouse.packing.repository import PACKING_ORDERS, UNITS
from tests.lists.spec import (
    HOURLY,
    INVALID_TEXTS,
    Filter,
    Listed,
    Times,
    among,
    by,
    equal,
    fields,
    name_set,
    unless,
)
from tests.lists.warehouses import WAREHOUSE_CODES, warehouse_of

_ORDER_STATUSES = ("open", "in_progress", "packed", "shipped", "cancelled")
_UNIT_STATUSES = ("open", "closed", "dispatched")
_TYPES = ("carton", "pallet", "tote", "other")
_SORTS = {"created_at": by("created_at"), "updated_at": by("updated_at")}
_UNIT = 10**9
"""Id of the unit of the orders, which no row of the list of units has."""
_ENTRY = {
    "id": _UNIT,
    "status": "closed",
    "parent_id": None,
    "contents": 1,
    "weight_kg": Decimal("7.5"),
}
_SHIPPING = {"sender": "Yard", "recipient": "Brindley Electrical", "external_ref": "SO-9"}
_WRONG_IDS = ("0", "x", "")


def _order(number: int, times: Times) -> StoredPackingOrder:
    return StoredPackingOrder.model_validate(
        {
            "id": number,
            "status": _ORDER_STATUSES[number % 5],
            "exit_document_id": 1 + number // 2,
            "shipping": _SHIPPING,
            "whs_code": WAREHOUSE_CODES[warehouse_of(number)],
            "picking_ids": [number],
            "station": unless(number, 2, "Table 3"),
            "operator": unless(number, 3, {"id": 7, "name": "Ana"}),
            "short_reason": unless(number, 4, "Too long"),
            "packed_at": unless(number, 2, times.updated(number)),
            "shipped_at": unless(number, 3, times.updated(number)),
            "created_at": times.created(number),
            "updated_at": times.updated(number),
            "lines": [
                {
                    "product_id": 1,
                    "item_code": "BRICK",
                    "product_name": "Brick",
                    "qty": 40,
                    "packed_qty": 2.5,
                }
            ],
            "units": [_ENTRY] if number % 2 else [],
        }
    )


def _stage_unit(tx: Transaction) -> None:
    """Stage the unit that every order with a unit names."""
    values = _unit(1, HOURLY).model_dump()
    staged = values | _ENTRY | {"contents": values["contents"]}
    UNITS.insert(tx, _UNIT, StoredUnit.model_validate(staged))


def _sscc(number: int) -> str:
    body = f"{number:017d}"
    return f"{body}{check_digit(body)}"


def _unit(number: int, times: Times) -> StoredUnit:
    return StoredUnit.model_validate(
        {
            "id": number,
            "sscc": unless(number, 3, _sscc(number)),
            "type": _TYPES[number % 4],
            "status": _UNIT_STATUSES[number % 3],
            "parent_id": unless(number, 2, 1),
            "packing_order_id": 1 + number // 3,
            "exit_document_id": 1 + number // 2,
            "shipping": _SHIPPING,
            "whs_code": WAREHOUSE_CODES[warehouse_of(number)],
            "length_mm": unless(number, 2, 400),
            "width_mm": unless(number, 2, 300),
            "height_mm": unless(number, 2, 200),
            "tare_kg": unless(number, 3, 0.4),
            "weight_kg": unless(number, 4, 7.5),
            "tracking_number": unless(number, 7, _tracking_number(number)),
            "carrier_code": unless(number, 2, "DHL"),
            "created_at": times.created(number),
            "updated_at": times.updated(number),
            "contents": [
                {
                    "product_id": 1,
                    "item_code": "BRICK",
                    "product_name": "Brick",
                    "qty": number,
                    "batch_num": unless(number, 2, "L1"),
                }
            ],
            "inside": [] if number % 3 else None,
        }
    )


def _tracking_number(number: int) -> str:
    return f"1Z{number:07d}"


PACKING_ORDER_LIST = Listed(
    path="/packing-orders",
    collection=PACKING_ORDERS,
    make=_order,
    period=True,
    related_items=_stage_unit,
    fields=fields("""
        object string
        id integer
        code string
        status string
        status_label string
        exit_document_id integer
        exit_doc_num string
        warehouse_code string?
        picking_ids array
        station string?
        units_count integer
        qty object
        qty.to_pack number
        qty.packed number
        weight_kg number?
        operator object?
        operator.id integer?
        operator.name string?
        short_reason string?
        packed_at date-time?
        shipped_at date-time?
        created_at date-time
        updated_at date-time
    """),
    always_filled=name_set("warehouse_code operator.id operator.name"),
    filters={
        "status": among("status", _ORDER_STATUSES, wrong=("", "Open", "closed"), narrow=True),
        "warehouse": Filter(
            lambda _: ("W2", "W1", "W4"),
            lambda row, value: row["warehouse_code"] == value,
            INVALID_TEXTS,
            selective=True,
        ),
        "exit_document_id": Filter(
            lambda _: ("4", "9", "999999"),
            lambda row, value: row["exit_document_id"] == int(value),
            _WRONG_IDS,
            selective=True,
        ),
    },
    sorts=_SORTS,
    default_sort="-created_at",
)

HANDLING_UNIT_LIST = Listed(
    path="/handling-units",
    collection=UNITS,
    make=_unit,
    aliases=lambda unit: [(f"sscc#{unit.sscc}", "ALIAS")] if unit.sscc else [],
    fields=fields("""
        object string
        id integer
        code string
        sscc string?
        type string
        status string
        parent_id integer?
        packing_order_id integer
        warehouse_code string?
        contents array
        contents.item_code string
        contents.product_name string
        contents.batch_num string?
        contents.serial_numbers array
        contents.qty number
        weight_kg number?
        length_mm integer?
        width_mm integer?
        height_mm integer?
        tare_kg number?
        tracking_number string?
        carrier_code string?
        created_at date-time
        updated_at date-time
    """),
    always_filled=name_set("warehouse_code"),
    filters={
        "sscc": equal("sscc", _sscc),
        "packing_order_id": Filter(
            lambda _: ("4", "9", "999999"),
            lambda row, value: row["packing_order_id"] == int(value),
            _WRONG_IDS,
            selective=True,
        ),
        "status": among("status", _UNIT_STATUSES, wrong=("", "Open", "packed"), narrow=True),
        "tracking_number": equal("tracking_number", _tracking_number),
    },
    sorts=_SORTS,
    default_sort="-created_at",
)
