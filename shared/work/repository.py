"""The items of work records. Keys and indexes: see docs/storage.md."""

from typing import Any

from shared.db.collection import Collection
from shared.db.facets import Facets, id_of, id_text, integer_text
from shared.db.items import Item
from shared.db.listing import Page, read_page
from shared.db.store import Store
from shared.db.table import SLIM, index_keys, index_name
from shared.work.models import (
    DocumentReference,
    PickingParameters,
    ReceiptParameters,
    StoredPicking,
    StoredReceipt,
    StoredTransfer,
    TransferParameters,
)


def _work_facets(work: StoredReceipt | StoredPicking, document: DocumentReference | None) -> Facets:
    return {
        "status": work.status,
        "external_ref": document.external_ref if document else None,
        "document_id": id_text(document.id) if document else None,
        # An order and a transfer order may share an id: the two facets together tell which.
        "document_type": document.type if document else None,
        "created_at": work.created_at,
        "updated_at": work.updated_at,
        "finalized_at": work.finalized_at,
    }


def _receipt_facets(receipt: StoredReceipt) -> Facets:
    return _work_facets(receipt, receipt.document)


def _picking_facets(picking: StoredPicking) -> Facets:
    first = next(iter(picking.documents), None)
    return {
        **_work_facets(picking, first),
        "priority": integer_text(picking.priority),
        "warehouse": picking.whs_code,
        "due_date": picking.due_date,
        "carrier": picking.carrier_code,
        "wave": None if picking.wave_id is None else id_text(picking.wave_id),
    }


def _transfer_facets(transfer: StoredTransfer) -> Facets:
    return {
        "status": transfer.status,
        "from_warehouse": transfer.from_whs_code,
        "to_warehouse": transfer.to_whs_code,
        "created_at": transfer.created_at,
        "updated_at": transfer.updated_at,
    }


RECEIPTS = Collection(
    kind="receipt",
    noun="Receipt",
    model=StoredReceipt,
    facets=_receipt_facets,
    sorts={"created_at": 1, "updated_at": 2, "finalized_at": 3},
    partitions={"status": {"created_at": 4, "updated_at": 5, "finalized_at": 6}},
    finders={"external_ref": 7, "document_id": 8},
)

PICKINGS = Collection(
    kind="picking",
    noun="Picking",
    model=StoredPicking,
    facets=_picking_facets,
    sorts={"created_at": 1, "updated_at": 2, "finalized_at": 3, "priority": 9},
    partitions={
        "status": {"created_at": 4, "updated_at": 5, "finalized_at": 6, "priority": 10},
    },
    finders={"external_ref": 7, "document_id": 8},
)

TRANSFERS = Collection(
    kind="transfer",
    noun="Transfer",
    model=StoredTransfer,
    facets=_transfer_facets,
    sorts={"created_at": 1, "updated_at": 2},
    partitions={
        "status": {"created_at": 3, "updated_at": 4},
        "from_warehouse": {"created_at": 5, "updated_at": 6},
        "to_warehouse": {"created_at": 7, "updated_at": 8},
    },
)


def list_receipts(
    store: Store, parameters: ReceiptParameters, timezone: str
) -> Page[StoredReceipt]:
    """Read a page of receipts; `from` and `to` are days in the time zone."""
    query = parameters.list_query(
        equal={"status": parameters.status, "external_ref": parameters.external_ref},
        between=parameters.created(timezone),
    )
    return read_page(store, RECEIPTS, query)


def list_pickings(
    store: Store, parameters: PickingParameters, timezone: str
) -> Page[StoredPicking]:
    """Read a page of pickings; `from` and `to` are days in the time zone."""
    query = parameters.list_query(
        equal={"status": parameters.status, "external_ref": parameters.external_ref},
        between=parameters.created(timezone),
    )
    return read_page(store, PICKINGS, query)


def list_transfers(
    store: Store, parameters: TransferParameters, timezone: str
) -> Page[StoredTransfer]:
    """Read a page of transfers; `from` and `to` are days in the time zone."""
    query = parameters.list_query(
        equal={
            "status": parameters.status,
            "from_warehouse": parameters.from_warehouse,
            "to_warehouse": parameters.to_warehouse,
        },
        between=parameters.created(timezone),
    )
    return read_page(store, TRANSFERS, query)


def pending_pickings(store: Store, whs_code: str) -> list[tuple[int, Item]]:
    """Find the pending pickings of a warehouse: ids, and what an index carries of each."""
    index = PICKINGS.partitions["status"]["priority"]
    partition, sort = index_keys(index)
    found: list[tuple[int, Item]] = []
    start = None
    while True:
        more: dict[str, Any] = {"ExclusiveStartKey": start} if start else {}
        page = store.query(
            IndexName=index_name(index),
            KeyConditionExpression=f"{partition} = :pending",
            FilterExpression="#slim.#warehouse = :warehouse",
            ProjectionExpression=f"{sort}, #slim",
            ExpressionAttributeNames={"#slim": SLIM, "#warehouse": "warehouse"},
            values={":pending": PICKINGS.partition("status", "pending"), ":warehouse": whs_code},
            **more,
        )
        found += [(id_of(item[sort]), item[SLIM]) for item in page.items]
        start = page.last_key
        if start is None:
            return found
