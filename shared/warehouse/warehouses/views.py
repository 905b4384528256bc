"""Responses that show warehouses and positions."""

from shared.kernel.db.lists.page import Page
from shared.kernel.db.records import Record
from shared.warehouse.warehouses.models import (
    KnownWarehouse,
    Position,
    StoredPosition,
    StoredWarehouse,
    Warehouse,
    WarehouseDetail,
    WarehouseReference,
)


def warehouse(record: Record[StoredWarehouse], positions: int) -> Record[Warehouse]:
    """Return a warehouse in a list, with the number of its positions."""
    shown = Warehouse.from_stored(record.entity, positions_count=positions)
    return Record(record.id, record.version, shown)


def warehouse_detail(
    record: Record[StoredWarehouse], positions: Page[StoredPosition] | None = None
) -> Record[WarehouseDetail]:
    """Return a warehouse with its first positions; it has none if `positions` is None."""
    named, first = reference(record.entity), positions.records if positions else []
    detail = WarehouseDetail.from_stored(
        record.entity,
        positions_count=positions.total if positions else 0,
        positions=[position(each, named).entity for each in first],
    )
    return Record(record.id, record.version, detail)


def position(
    record: Record[StoredPosition], warehouse: WarehouseReference | None
) -> Record[Position]:
    """Return a position with its warehouse."""
    shown = Position.from_stored(record.entity, warehouse=warehouse)
    return Record(record.id, record.version, shown)


def reference(warehouse: KnownWarehouse | StoredWarehouse) -> WarehouseReference:
    """Return the representation of a warehouse in its positions."""
    return WarehouseReference(id=warehouse.id, whs_code=warehouse.whs_code, name=warehouse.name)
