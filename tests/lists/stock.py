"""The lists of stock rows, of stock levels and of stock movements."""

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

from shared.warehouse.stock.models import Movement, StockRow, StoredLevel
from shared.warehouse.stock.repository import LEVELS, MOVEMENTS, STOCK, TOTALS, level_id
from tests.lists import spec
from tests.lists.warehouses import WAREHOUSE_CODES, bin_code, put_warehouses, warehouse_of

_PER_PRODUCT = 8
"""Number of rows per product, independent of the number of rows."""
_INVENTORY_STATUSES = ("available", "quarantine", "staged", "damaged", "blocked", "in_transit")


def _product(number: int) -> int:
    return number // _PER_PRODUCT + 1


def _item_code(product: int) -> str:
    return f"ITEM-{product * 7919 % 10**7:07d}"


def _batch(number: int) -> str:
    return f"LOT-{number // 4:06d}"


def _serial(number: int) -> str:
    return f"SN-{number:07d}"


def _id_filter(value: Callable[[int], int], holds: Callable[[spec.Row, int], bool]) -> spec.Filter:
    return spec.Filter(
        lambda count: (str(value(max(1, count // 2))), str(value(max(1, count))), "999999999"),
        lambda row, value_given: holds(row, int(value_given)),
        spec.INVALID_IDS,
        selective=True,
    )


def _optional_text(name: str, value: Callable[[int], str]) -> spec.Filter:
    """Return a filter by a field that only odd rows have."""
    return spec.Filter(
        lambda count: (value(count // 2 | 1), value(count), "no such value"),
        lambda row, value_given: row[name] == value_given,
        spec.INVALID_TEXTS,
        selective=True,
    )


# Rows


def _is_in_transit(number: int) -> bool:
    """Return whether a row is in transit: it has a destination warehouse but no position."""
    return number % 7 == 0


def _row(number: int, times: spec.Times) -> StockRow:
    return StockRow.model_validate(
        {
            "id": number,
            "product_id": _product(number),
            "product_name": spec.unless(number, 6, f"Brick {_product(number)}"),
            "item_code": _item_code(_product(number)),
            "qty": Decimal(number % 23 + 1) / 4 if number % 4 else Decimal(0),
            "status": "out" if number % 4 == 0 else "in",
            "serial_number": spec.unless(number, 2, _serial(number)),
            "batch_num": spec.unless(number, 4, _batch(number)),
            "warehouse_id": warehouse_of(number),
            "whs_code": WAREHOUSE_CODES[warehouse_of(number)],
            "position_id": None if _is_in_transit(number) else number,
            "bin_code": None if _is_in_transit(number) else bin_code(number),
            "expiry_date": spec.unless(number, 3, f"2027-01-{number % 28 + 1:02d}"),
            "inventory_status": _INVENTORY_STATUSES[5 if _is_in_transit(number) else number % 5],
            "received_at": times.created(number),
            "created_at": times.created(number),
            "updated_at": times.updated(number),
        }
    )


STOCK_LIST = spec.Listed(
    path="/stocks",
    collection=STOCK,
    make=_row,
    related_items=put_warehouses,
    hidden_values=lambda number: {"warehouse_id": warehouse_of(number)},
    fields=spec.fields("""
        id integer
        product_id integer
        product_name string?
        item_code string?
        whs_code string?
        qty number
        status string
        serial_number string?
        batch_num string?
        position object?
        position.id integer
        position.bin_code string?
        position.whs_code string?
        position.warehouse_id integer?
        position.warehouse_name string?
        expiry_date date?
        inventory_status string?
        created_at date-time?
        updated_at date-time?
    """),
    always_filled=spec.name_set(
        "item_code whs_code inventory_status created_at updated_at"
        " position.bin_code position.whs_code position.warehouse_id position.warehouse_name"
    ),
    filters={
        "product_id": _id_filter(_product, lambda row, value: row["product_id"] == value),
        "item_code": spec.equal("item_code", lambda number: _item_code(_product(number))),
        "warehouse_id": spec.Filter(
            lambda _: ("2", "1", "4"),
            lambda row, value: row["warehouse_id"] == int(value),
            spec.INVALID_IDS,
            selective=True,
        ),
        "warehouse": spec.Filter(
            lambda _: ("W2", "W1", "W4"),
            lambda row, value: row["whs_code"] == value,
            spec.INVALID_TEXTS,
            selective=True,
        ),
        "bin_code": spec.Filter(
            lambda count: (bin_code(max(1, count // 2)), bin_code(count), "no such value"),
            lambda row, value: (row["position"] or {}).get("bin_code") == value,
            spec.INVALID_TEXTS,
            selective=True,
        ),
        "batch": _optional_text("batch_num", _batch),
        "serial": _optional_text("serial_number", _serial),
        "status": spec.among("status", ("in", "out"), wrong=("", "IN", "away"), narrow=True),
        "inventory_status": spec.among(
            "inventory_status", _INVENTORY_STATUSES, wrong=("", "Damaged", "free"), narrow=False
        ),
    },
    sorts={
        "id": spec.by("id"),
        "qty": spec.by("qty"),
        "created_at": spec.by("created_at"),
        "updated_at": spec.by("updated_at"),
    },
    default_sort="id",
)


# Levels


def _level_number(number: int) -> int:
    return level_id((number - 1) // len(WAREHOUSE_CODES) + 1, warehouse_of(number))


def _quantities(number: int) -> dict[str, Any]:
    return {
        "on_hand": Decimal(number % 50) + Decimal("0.5"),
        "allocated": number % 3,
        "in_transit": number % 2,
        "quarantine": number % 5,
    }


def _level(number: int, times: spec.Times, product: int, whs_code: str | None) -> StoredLevel:
    return StoredLevel.model_validate(
        {
            "event_id": number,
            "product_id": product,
            "item_code": _item_code(product),
            "whs_code": whs_code,
            **_quantities(number),
            "created_at": times.created(number),
            "updated_at": times.updated(number),
        }
    )


def _warehouse_level(number: int, times: spec.Times) -> StoredLevel:
    return _level(
        number,
        times,
        (number - 1) // len(WAREHOUSE_CODES) + 1,
        WAREHOUSE_CODES[warehouse_of(number)],
    )


def _total(number: int, times: spec.Times) -> StoredLevel:
    return _level(number, times, number, None)


_LEVEL_FIELDS = spec.fields("""
    product_id integer
    item_code string?
    whs_code string?
    on_hand number
    allocated number
    available number
    in_transit number
    quarantine number
    updated_at date-time?
""")
_LEVEL_SORTS = {"item_code": spec.by("item_code"), "updated_at": spec.by("updated_at")}


def _flag(value: str) -> spec.Filter:
    return spec.Filter(lambda _: (value,), lambda _row, _value: True, ("perhaps", ""))


def _level_filters(product: Callable[[int], int], *, by_warehouse: bool) -> dict[str, spec.Filter]:
    return {
        "product_id": _id_filter(product, lambda row, value: row["product_id"] == value),
        "item_code": spec.equal("item_code", lambda number: _item_code(product(number))),
        "warehouse": spec.Filter(
            lambda _: ("W2", "W1", "W4"),
            lambda row, value: row["whs_code"] == value,
            spec.INVALID_TEXTS,
            selective=by_warehouse,
        ),
    }


def _id_of_level(row: spec.Row) -> int:
    warehouses = {code: number for number, code in WAREHOUSE_CODES.items()}
    return level_id(row["product_id"], warehouses[row["whs_code"]])


LEVEL_LIST = spec.Listed(
    path="/stock-levels",
    collection=LEVELS,
    make=_warehouse_level,
    id_of=_level_number,
    row_id=_id_of_level,
    fields=_LEVEL_FIELDS,
    always_filled=frozenset({"item_code", "whs_code", "updated_at"}),
    filters={
        **_level_filters(
            lambda number: (number - 1) // len(WAREHOUSE_CODES) + 1, by_warehouse=True
        ),
        "totals": _flag("false"),
    },
    sorts=_LEVEL_SORTS,
    default_sort="item_code",
)

TOTAL_LIST = spec.Listed(
    path="/stock-levels",
    fixed_query={"totals": "true"},
    collection=TOTALS,
    make=_total,
    row_id=lambda row: int(row["product_id"]),
    fields=_LEVEL_FIELDS,
    always_filled=frozenset({"item_code", "updated_at"}),
    always_null=frozenset({"whs_code"}),
    filters={
        name: one
        for name, one in _level_filters(lambda number: number, by_warehouse=False).items()
        if name != "warehouse"
    },
    sorts=_LEVEL_SORTS,
    default_sort="item_code",
)


# The ledger

_TYPES = (
    "receipt", "receipt_undone", "pick", "pick_undone", "dispatch", "dispatch_undone", "transfer",
    "transfer_dispatch", "transfer_receipt", "transfer_loss", "adjustment", "status_change",
)  # fmt: skip
_CAUSES = ("receipt", "picking", "transfer")


def _end(number: int) -> dict[str, Any]:
    return {
        "whs_code": WAREHOUSE_CODES[warehouse_of(number)],
        "bin_code": spec.unless(number, 5, bin_code(number)),
        "inventory_status": _INVENTORY_STATUSES[number % 6],
    }


def _cause(number: int) -> int:
    return number // 6 + 1


def _movement(number: int, times: spec.Times) -> Movement:
    return Movement.model_validate(
        {
            "id": number,
            "type": _TYPES[number % 12],
            "product_id": _product(number),
            "item_code": _item_code(_product(number)),
            "qty": Decimal(number % 9) + Decimal("0.25"),
            "from": spec.unless(number, 3, _end(number)),
            "to": spec.unless(number, 4, _end(number + 4)),
            "batch_num": spec.unless(number, 4, _batch(number)),
            "serial_number": spec.unless(number, 2, _serial(number)),
            "document": spec.unless(number, 5, {"type": _CAUSES[number % 3], "id": _cause(number)}),
            "user_id": spec.unless(number, 2, 7),
            "client_id": None if number % 2 else "erp",
            "reason": spec.unless(number, 3, "Count"),
            "created_at": times.created(number),
        }
    )


def _has_end(name: str, row: spec.Row, value: str) -> bool:
    return any(end is not None and end[name] == value for end in (row["from"], row["to"]))


def _has_cause(name: str, row: spec.Row, value: str) -> bool:
    return row["document"] is not None and str(row["document"][name]) == value


def _bin_filter(end: str) -> spec.Filter:
    def fits(row: spec.Row, value: str) -> bool:
        return row[end] is not None and row[end]["bin_code"] == value

    return spec.Filter(
        lambda count: (bin_code(count // 2 | 1), "no such value"),
        fits,
        spec.INVALID_TEXTS,
        selective=True,
    )


MOVEMENT_LIST = spec.Listed(
    path="/stock-movements",
    collection=MOVEMENTS,
    make=_movement,
    period=True,
    immutable=True,
    fields=spec.fields("""
        id integer
        type string
        product_id integer
        item_code string
        qty number
        from object?
        from.whs_code string
        from.bin_code string?
        from.inventory_status string
        to object?
        to.whs_code string
        to.bin_code string?
        to.inventory_status string
        batch_num string?
        serial_number string?
        document object?
        document.type string
        document.id integer
        user_id integer?
        client_id string?
        reason string?
        created_at date-time
    """),
    filters={
        "type": spec.among("type", _TYPES, wrong=("", "theft"), narrow=False),
        "product_id": _id_filter(_product, lambda row, value: row["product_id"] == value),
        "item_code": spec.equal("item_code", lambda number: _item_code(_product(number))),
        "warehouse": spec.Filter(
            lambda _: ("W2", "W4"), partial(_has_end, "whs_code"), spec.INVALID_TEXTS
        ),
        "from_bin": _bin_filter("from"),
        "to_bin": _bin_filter("to"),
        "batch": _optional_text("batch_num", _batch),
        "serial": _optional_text("serial_number", _serial),
        "document_type": spec.Filter(
            lambda _: (*_CAUSES, "nothing"), partial(_has_cause, "type"), spec.INVALID_TEXTS
        ),
        "document_id": spec.Filter(
            lambda count: (str(_cause(max(1, count // 2))), "999999"),
            partial(_has_cause, "id"),
            spec.INVALID_IDS,
            selective=True,
        ),
    },
    sorts={"created_at": spec.by("created_at")},
    default_sort="-created_at",
)
