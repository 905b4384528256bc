"""The items of transfers. Keys and indexes: see docs/storage.md."""

from shared.kernel.db.collection import Collection
from shared.kernel.db.counters import SHARDS
from shared.kernel.db.facets import Facets
from shared.kernel.db.indexes import Partition
from shared.warehouse.transfers.models import StoredTransfer


def _transfer_facets(transfer: StoredTransfer) -> Facets:
    return {
        "status": transfer.status,
        "from_warehouse": transfer.from_whs_code,
        "to_warehouse": transfer.to_whs_code,
        "created_at": transfer.created_at,
        "updated_at": transfer.updated_at,
    }


TRANSFERS = Collection(
    kind="transfer",
    noun="Transfer",
    model=StoredTransfer,
    facets=_transfer_facets,
    sorts={"created_at": 1, "updated_at": 2},
    partitions={
        "status": Partition({"created_at": 3}),
        "from_warehouse": Partition({"created_at": 4}, own_totals=SHARDS),
        "to_warehouse": Partition({"created_at": 5}, own_totals=SHARDS),
    },
)
