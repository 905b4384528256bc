"""Storage of maps of warehouses. Keys and indexes: see docs/internals/storage.md."""

from shared.kernel.db.collection import Collection
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.errors import NotFound
from shared.warehouse.layout.models import StoredLayout

LAYOUTS = Collection(
    kind="layout",
    noun="The map of warehouse",
    model=StoredLayout,
    facets=lambda _: {},
    # A map is only read by the id of its warehouse.
    sorts={},
)


def published_layout(store: Store, warehouse_id: int) -> Record[StoredLayout] | None:
    """Return the published map of a warehouse, or None."""
    try:
        return LAYOUTS.get(store, warehouse_id)
    except NotFound:
        return None
