"""Representations of stock in responses and events."""

from collections.abc import Callable, Mapping

from shared.kernel.db.records import Record
from shared.kernel.db.schema import TableVersion
from shared.kernel.events.outbox import EventResource
from shared.warehouse.stock.models import (
    SHARES_SINCE,
    Movement,
    Stock,
    StockLevel,
    StockPosition,
    StockRow,
    StoredLevel,
)
from shared.warehouse.warehouses.models import KnownWarehouse


def stock_row(warehouses: Mapping[int, KnownWarehouse]) -> Callable[[Record[StockRow]], Stock]:
    """Return a function that converts a row, with the current names of the warehouses."""

    def convert(record: Record[StockRow]) -> Stock:
        row = record.entity
        warehouse = warehouses.get(row.warehouse_id)
        whs_code = warehouse.whs_code if warehouse else row.whs_code
        position = _position(row, whs_code, warehouse)
        return Stock.from_stored(
            row, whs_code=whs_code, position=position, expiry_date=row.expiry_in_stock
        )

    return convert


def _position(
    row: StockRow, whs_code: str, warehouse: KnownWarehouse | None
) -> StockPosition | None:
    if row.position_id is None or row.bin_code is None:
        return None
    return StockPosition.model_construct(
        id=row.position_id,
        bin_code=row.bin_code,
        whs_code=whs_code,
        warehouse_id=row.warehouse_id,
        warehouse_name=warehouse.name if warehouse else None,
    )


def level(version: TableVersion, now_ms: int) -> Callable[[Record[StoredLevel]], StockLevel]:
    """Return a function that converts a level, as it is now, of a table of a version.

    An older table does not have all shares, so they are not shown.
    """
    is_complete = version.complete >= SHARES_SINCE

    def convert(record: Record[StoredLevel]) -> StockLevel:
        entity = record.entity
        shares = {
            "committed": entity.committed,
            "incoming": entity.incoming,
            "held": entity.held_at(now_ms),
            "sellable": entity.sellable_at(now_ms),
        }
        shown = shares if is_complete else dict.fromkeys(shares)
        return StockLevel.from_stored(entity, available=entity.available, **shown)

    return convert


def level_events(version: TableVersion, now_ms: int) -> EventResource[StoredLevel]:
    """Return how events describe the levels, as they are now, of a table of a version."""
    href = "/stock-levels?product_id={record.entity.product_id}"
    return EventResource("stock_level", href, level(version, now_ms))


def movement(record: Record[Movement]) -> Movement:
    """Return the representation of a movement."""
    return record.entity
