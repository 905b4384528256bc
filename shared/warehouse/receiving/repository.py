"""The items of receipts. Keys and indexes: see docs/storage.md."""

from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import Facets, id_text
from shared.kernel.db.indexes import Lookup, Partition
from shared.kernel.db.listing import read_page
from shared.kernel.db.page import Page
from shared.kernel.db.store import Store
from shared.warehouse.receiving.models import ReceiptParameters, StoredReceipt
from shared.warehouse.work_records import work_facets


def _receipt_facets(receipt: StoredReceipt) -> Facets:
    return work_facets(receipt, receipt.document)


RECEIPTS = Collection(
    kind="receipt",
    noun="Receipt",
    model=StoredReceipt,
    facets=_receipt_facets,
    sorts={"created_at": 1, "updated_at": 2, "finalized_at": 3},
    partitions={"status": Partition({"created_at": 4})},
    lookups={
        "external_ref": Lookup(5, hides=("external_ref",)),
        "document_id": Lookup(6, hides=("document_id",)),
    },
)


def list_receipts(
    store: Store, parameters: ReceiptParameters, timezone: str
) -> Page[StoredReceipt]:
    """Read a page of receipts; the days of `parameters` are days in `timezone`."""
    query = parameters.list_query(
        equal={
            "status": parameters.status,
            "external_ref": parameters.external_ref,
            "document_id": None
            if parameters.document_id is None
            else id_text(parameters.document_id),
        },
        between=parameters.created(timezone),
    )
    return read_page(store, RECEIPTS, query)
