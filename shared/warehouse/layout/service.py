"""Use cases of the map of a warehouse; a warehouse is deleted together with its map."""

from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.events.outbox import EventResource, raise_record_event
from shared.kernel.validation import Checked, ensure_valid
from shared.warehouse.layout.models import (
    Layout,
    LayoutDraft,
    LayoutHeading,
    StoredLayout,
)
from shared.warehouse.layout.repository import LAYOUTS, published_layout
from shared.warehouse.layout.rules import layout_problems
from shared.warehouse.warehouses import service as warehouses
from shared.warehouse.warehouses.models import StoredWarehouse, WarehouseDetail

LAYOUT_EVENTS = EventResource[Layout](
    "layout",
    "/warehouses/{record.id}/layout",
    lambda record: LayoutHeading.from_stored(record.entity),
)


def publish(tx: Transaction, number: int, draft: Checked[LayoutDraft]) -> Layout:
    """Publish a map of a warehouse as the next version and raise layout.published."""
    warehouse = warehouses.stored_warehouse(tx.store, number)
    draft = ensure_valid(draft, layout_problems(draft))
    layout = StoredLayout(id=number, published_at=tx.now, **draft.model_dump())
    before = published_layout(tx.store, number)
    record = LAYOUTS.replace(tx, before, layout) if before else LAYOUTS.insert(tx, number, layout)
    warehouses.keep_warehouse(tx, warehouse)
    published = _view(record, warehouse.entity)
    shown = Record(record.id, record.version, published)
    raise_record_event(tx, "layout.published", LAYOUT_EVENTS, shown)
    return published


def get_layout(store: Store, number: int) -> tuple[Layout, str]:
    """Return the published map of a warehouse, and the name of the warehouse."""
    warehouse, record = run_all(
        lambda: warehouses.stored_warehouse(store, number), lambda: LAYOUTS.get(store, number)
    )
    return _view(record, warehouse.entity), warehouse.entity.name


def delete_warehouse(tx: Transaction, number: int) -> Record[WarehouseDetail]:
    """Delete a warehouse with its map; see `delete_warehouse` of warehouses."""
    deleted = warehouses.delete_warehouse(tx, number)
    layout = published_layout(tx.store, number)
    if layout:
        LAYOUTS.remove(tx, layout)
    return deleted


def _view(record: Record[StoredLayout], warehouse: StoredWarehouse) -> Layout:
    return Layout(warehouse_code=warehouse.whs_code, version=record.version, **dict(record.entity))
