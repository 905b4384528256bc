"""The items of transfers. Keys and indexes: see docs/internals/storage.md."""

from shared.kernel.db.collection import Collection
from shared.kernel.db.counters import SHARDS
from shared.kernel.db.facets import facets_of
from shared.kernel.db.indexes import Partition
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
