"""The lists of stock rows, of stock levels and of stock movements."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from shared.warehouse.stock.models import Movement, StockRow, StoredLevel
from shared.warehouse.stock.repository import LEVELS, MOVEMENTS, STOCK, TOTALS, level_id
from tests.lists import spec
from tests.lists.warehouses import (
    WAREHOUSE_CODES,
    bin_code,
    by_warehouse,
    put_warehouses,
    warehouse_of,
)

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


# Rows


def _expiry_date(number: int) -> str:
    """Return a date that few rows share, at any number of rows."""
    return f"{2027 + number // 336}-{number // 28 % 12 + 1:02d}-{number % 28 + 1:02d}"


def _is_in_transit(number: int) -> bool:
    """Return whether a row is in transit: it has a destination warehouse but no position."""
    return number % 7 == 0


def _row(number: int, times: spec.Times) -> StockRow:
    return StockRow.model_validate(
        {
            **times.of(number),
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
            # empty rows show none
            "expiry_date": _expiry_date(number) if number % 3 and number % 4 else None,
            "inventory_status": _INVENTORY_STATUSES[5 if _is_in_transit(number) else number % 5],
            "received_at": times.created(number),
        }
    )


STOCK_LIST = spec.Listed(
    path="/stocks",
    collection=STOCK,
    make=_row,
    related_items=put_warehouses,
    hidden_values=lambda number: {"warehouse_id": warehouse_of(number)},
    fields=spec.fields("""
        integer: id product_id position.id position.warehouse_id?!
        number: qty
        string: product_name? item_code?! whs_code?! status serial_number? batch_num?
        string: position.bin_code?! position.whs_code?! position.warehouse_name?!
        string: inventory_status?!
        object: position?
        date: expiry_date?
        date-time: created_at?! updated_at?!
    """),
    filters={
        "product_id": spec.equal_id("product_id", _product),
        "item_code": spec.equal("item_code", lambda number: _item_code(_product(number))),
        "warehouse_id": spec.among(
            "warehouse_id", ("2", "1", "4"), wrong=spec.INVALID_IDS, narrow=True
        ),
        "warehouse": by_warehouse("whs_code"),
        "bin_code": spec.equal("position.bin_code", bin_code),
        "batch": spec.equal("batch_num", lambda number: _batch(number | 1)),
        "serial": spec.equal("serial_number", lambda number: _serial(number | 1)),
        "status": spec.one_of("status", ("in", "out"), wrong=("", "IN", "away")),
        "inventory_status": spec.among(
            "inventory_status", _INVENTORY_STATUSES, wrong=("", "Damaged", "free"), narrow=False
        ),
        "expires_to": spec.Filter(
            lambda count: (_expiry_date(5), _expiry_date(count // 2), "2026-12-31"),
            lambda row, value: row["expiry_date"] is not None and row["expiry_date"] <= value,
            spec.INVALID_DATES,
            selective=True,
        ),
    },
    sorts=spec.sorted_by("id qty created_at updated_at expiry_date"),
    default_sort="id",
)


# Levels


_FAR_MS = 4_000_000_000_000


def _product_of_level(number: int) -> int:
    return (number - 1) // len(WAREHOUSE_CODES) + 1


def _level(number: int, times: spec.Times, product: int, whs_code: str | None) -> StoredLevel:
    return StoredLevel.model_validate(
        {
            "event_id": number,
            "product_id": product,
            "item_code": _item_code(product),
            "whs_code": whs_code,
            "on_hand": Decimal(number % 50) + Decimal("0.5"),
            "allocated": number % 3,
            "in_transit": number % 2,
            "quarantine": number % 5,
            "committed": number % 41,
            "incoming": number % 7,
            # The stored facet has both; the first one has expired.
            "holds": [(1, 4), (_FAR_MS, number % 5)] if number % 6 == 0 else [],
            "created_at": times.created(number),
            "updated_at": times.updated(number),
        }
    )


def _level_filters(product: Callable[[int], int]) -> dict[str, spec.Filter]:
    return {
        "product_id": spec.equal_id("product_id", product),
        "item_code": spec.equal("item_code", lambda number: _item_code(product(number))),
        "sellable_below": spec.Filter(
            lambda _: ("-3.5", "0", "2.5", "12"),
            lambda row, value: row["sellable"] < float(value),
            ("", "many", "1e3", "0.1234567"),
        ),
        "shortage": spec.Filter(
            lambda _: ("true",),
            lambda row, _value: row["committed"] > row["available"],
            ("false", "perhaps", ""),
        ),
    }


_LEVEL_FIELDS = """
    integer: product_id
    number: on_hand allocated available in_transit quarantine committed incoming held sellable
    date-time: updated_at?!
"""
_LEVEL_SORTS = spec.sorted_by("item_code updated_at")
_WAREHOUSE_IDS = {code: number for number, code in WAREHOUSE_CODES.items()}

LEVEL_LIST = spec.Listed(
    by_ids=False,
    path="/stock-levels",
    collection=LEVELS,
    make=lambda number, times: _level(
        number, times, _product_of_level(number), WAREHOUSE_CODES[warehouse_of(number)]
    ),
    id_of=lambda number: level_id(_product_of_level(number), warehouse_of(number)),
    row_id=lambda row: level_id(row["product_id"], _WAREHOUSE_IDS[row["whs_code"]]),
    fields=spec.fields(f"{_LEVEL_FIELDS}string: item_code?! whs_code?!"),
    filters={
        **_level_filters(_product_of_level),
        "warehouse": by_warehouse("whs_code"),
        "totals": spec.Filter(lambda _: ("false",), lambda _row, _value: True, ("perhaps", "")),
    },
    sorts=_LEVEL_SORTS,
    default_sort="item_code",
)

TOTAL_LIST = spec.Listed(
    by_ids=False,
    path="/stock-levels",
    fixed_query={"totals": "true"},
    collection=TOTALS,
    make=lambda number, times: _level(number, times, number, None),
    row_id=lambda row: int(row["product_id"]),
    fields=spec.fields(f"{_LEVEL_FIELDS}string: item_code?! whs_code?-"),
    filters=_level_filters(lambda number: number),
    sorts=_LEVEL_SORTS,
    default_sort="item_code",
)


# The ledger

_TYPES = (
    "receipt", "receipt_undone", "pick", "pick_undone", "dispatch", "dispatch_undone", "transfer",
    "transfer_dispatch", "transfer_receipt", "transfer_loss", "adjustment", "status_change",
)  # fmt: skip
_ENDS = ("from", "to")
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


MOVEMENT_LIST = spec.Listed(
    path="/stock-movements",
    collection=MOVEMENTS,
    make=_movement,
    period=True,
    immutable=True,
    fields=spec.fields("""
        integer: id product_id document.id user_id?
        number: qty
        string: type item_code from.whs_code from.bin_code? from.inventory_status to.whs_code
        string: to.bin_code? to.inventory_status batch_num? serial_number? document.type
        string: client_id? reason?
        object: from? to? document?
        date-time: created_at
    """),
    filters={
        "type": spec.among("type", _TYPES, wrong=("", "theft"), narrow=False),
        "product_id": spec.equal_id("product_id", _product),
        "item_code": spec.equal("item_code", lambda number: _item_code(_product(number))),
        "warehouse": spec.Filter(
            lambda _: ("W2", "W4"),
            lambda row, value: value in {spec.value_at(row, f"{end}.whs_code") for end in _ENDS},
            spec.INVALID_TEXTS,
        ),
        "from_bin": spec.equal("from.bin_code", lambda number: bin_code(number | 1)),
        "to_bin": spec.equal("to.bin_code", lambda number: bin_code(number | 1)),
        "batch": spec.equal("batch_num", lambda number: _batch(number | 1)),
        "serial": spec.equal("serial_number", lambda number: _serial(number | 1)),
        "document_type": spec.among(
            "document.type", (*_CAUSES, "nothing"), wrong=spec.INVALID_TEXTS, narrow=False
        ),
        "document_id": spec.equal_id("document.id", _cause),
    },
    sorts=spec.sorted_by("created_at"),
)
