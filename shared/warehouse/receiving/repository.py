"""The items of receipts. Keys and indexes: see docs/internals/storage.md."""

from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import Facets
from shared.kernel.db.indexes import Lookup, Partition
from shared.kernel.db.search import BEGINNINGS, SEARCH, SEARCH_INDEX
from shared.warehouse.receiving.models import StoredReceipt
from shared.warehouse.work.models import searched_text, work_facets


def _facets(receipt: StoredReceipt) -> Facets:
    return {
        **work_facets(receipt, receipt.document),
        SEARCH: searched_text(None, [receipt.document]),
    }


RECEIPTS = Collection(
    kind="receipt",
    noun="Receipt",
    listed_as="receipt",
    model=StoredReceipt,
    facets=_facets,
    sorts={"created_at": 1, "updated_at": 2, "finalized_at": 3},
    partitions={"status": Partition({"created_at": 4})},
    lookups={
        "external_ref": Lookup(5, hides=("external_ref",)),
        "document_id": Lookup(6, hides=("document_id",)),
    },
    volatile=frozenset({SEARCH}),
    searched=frozenset({"created_at"}),
    search_entries=BEGINNINGS,
    since={SEARCH: 4, SEARCH_INDEX: 4},
)
