"""The items of receipts. Keys and indexes: see docs/internals/storage.md."""

from shared.kernel.db.collection import Collection
from shared.kernel.db.indexes import Lookup, Partition
from shared.warehouse.receiving.models import StoredReceipt
from shared.warehouse.work.models import work_facets

RECEIPTS = Collection(
    kind="receipt",
    noun="Receipt",
    listed_as="receipt",
    model=StoredReceipt,
    facets=lambda receipt: work_facets(receipt, receipt.document),
    sorts={"created_at": 1, "updated_at": 2, "finalized_at": 3},
    partitions={"status": Partition({"created_at": 4})},
    lookups={
        "external_ref": Lookup(5, hides=("external_ref",)),
        "document_id": Lookup(6, hides=("document_id",)),
    },
)
