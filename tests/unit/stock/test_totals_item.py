"""The item of the totals of stock, which nearly every change of stock writes."""

from typing import get_args

from shared.kernel.db.counters import prefix_of
from shared.kernel.db.items import encode
from shared.kernel.fields import MAX_ID
from shared.warehouse.stock.models import InventoryStatus, MovementType
from shared.warehouse.stock.repository import LEVELS, MOVEMENTS, STOCK, TOTALS
from tests.dynamodb.capacity import item_size

_WRITE_BLOCK = 1024
"""Bytes of a write unit."""
_LAST_MS = 9_999_999_999_999
"""A time in the year 2286."""
_VALUES = {
    "status": ("in", "out"),
    "inventory_status": get_args(InventoryStatus.__value__),
    "type": get_args(MovementType.__value__),
}


def test_item_of_the_totals_of_stock_costs_one_write_unit() -> None:
    totals = {"epoch": MAX_ID}
    for collection in (STOCK, LEVELS, TOTALS, MOVEMENTS):
        prefix = prefix_of(collection.kind, collection.totals_within)
        shared = [name for name in collection.partitions if not collection.own_shards(f"{name}=")]
        counted = [f"{name}={value}" for name in shared for value in _VALUES[name]]
        totals |= {f"{prefix}{name}": -MAX_ID for name in ("n", *counted)}
        totals |= {f"{prefix}version": MAX_ID, f"{prefix}touched": _LAST_MS}
    item = {"PK": "count#stock", "SK": "15", **totals}
    assert item_size({name: encode(value) for name, value in item.items()}) <= _WRITE_BLOCK
