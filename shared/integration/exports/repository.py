"""The stored items of exports. docs/internals/storage.md lists their keys and indexes."""

from shared.integration.exports.models import StoredExport
from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import facets_of
from shared.kernel.db.indexes import Partition
from shared.kernel.db.items import alias_key, item_at
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction

EXPORTS = Collection(
    kind="export",
    noun="Export",
    listed_as="export",
    model=StoredExport,
    facets=facets_of("status", "created_at", "updated_at"),
    sorts={"created_at": 1, "updated_at": 2},
    partitions={"status": Partition({"created_at": 3})},
)

_NEWEST_KEY = alias_key("export_newest", "all")
"""Key of the item with the id of the newest export."""


def newest_export(store: Store) -> int | None:
    """Return the id of the newest export; None if there was none."""
    item = store.get(_NEWEST_KEY)
    return int(item["id"]) if item else None


def put_newest(tx: Transaction, number: int, former: int | None) -> None:
    """Make an export the newest one, if that is still the former."""
    item = item_at(_NEWEST_KEY, id=number)
    if former is None:
        tx.insert(item)
    else:
        tx.put(item, condition="id = :former", values={":former": former}, as_read=True)
