"""The items of transfers. Keys and indexes: see docs/internals/storage.md."""

from shared.kernel.db.collection import Collection
from shared.kernel.db.counters import SHARDS
from shared.kernel.db.facets import SEPARATOR, facets_of, id_text
from shared.kernel.db.indexes import Partition
from shared.kernel.db.items import Key
from shared.kernel.db.records import HEAD
from shared.warehouse.transfers.models import StoredTransfer

TRANSFERS = Collection(
    kind="transfer",
    noun="Transfer",
    listed_as="transfer",
    model=StoredTransfer,
    facets=facets_of(
        "status",
        "created_at",
        "updated_at",
        from_warehouse="from_whs_code",
        to_warehouse="to_whs_code",
    ),
    sorts={"created_at": 1, "updated_at": 2},
    partitions={
        "status": Partition({"created_at": 3}),
        "from_warehouse": Partition({"created_at": 4}, own_totals=SHARDS),
        "to_warehouse": Partition({"created_at": 5}, own_totals=SHARDS),
    },
)


def replenished_key(whs_code: str, product_id: int) -> Key:
    """Return the key of the item with the waiting replenishments of a product in a warehouse.

    Both codes of the key stay as they are while a transfer refers to them.
    """
    return (f"replenished#{whs_code}{SEPARATOR}{id_text(product_id)}", HEAD)
