"""The items of pickings. Keys and indexes: see docs/storage.md."""

from typing import Any

from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import Facets, id_of, id_text, integer_text
from shared.kernel.db.items import Item
from shared.kernel.db.listing import Page, read_page
from shared.kernel.db.store import Store
from shared.kernel.db.table import INDEX_ATTRIBUTES, index_keys, index_name
from shared.warehouse.picking.models import PickingParameters, StoredPicking
from shared.warehouse.work_records import work_facets


def _picking_facets(picking: StoredPicking) -> Facets:
    first = next(iter(picking.documents), None)
    return {
        **work_facets(picking, first),
        "priority": integer_text(picking.priority),
        "warehouse": picking.whs_code,
        "due_date": picking.due_date,
        "carrier": picking.carrier_code,
        "wave": None if picking.wave_id is None else id_text(picking.wave_id),
    }


PICKINGS = Collection(
    kind="picking",
    noun="Picking",
    model=StoredPicking,
    facets=_picking_facets,
    sorts={"created_at": 1, "updated_at": 2, "finalized_at": 3, "priority": 9},
    partitions={
        "status": {"created_at": 4, "updated_at": 5, "finalized_at": 6, "priority": 10},
    },
    lookup_indexes={"external_ref": 7, "document_id": 8},
)


def list_pickings(
    store: Store, parameters: PickingParameters, timezone: str
) -> Page[StoredPicking]:
    """Read a page of pickings; `from` and `to` are days in the time zone."""
    query = parameters.list_query(
        equal={"status": parameters.status, "external_ref": parameters.external_ref},
        between=parameters.created(timezone),
    )
    return read_page(store, PICKINGS, query)


def pending_pickings(store: Store, whs_code: str) -> list[tuple[int, Item]]:
    """Find the pending pickings of a warehouse: their ids and index attributes."""
    index = PICKINGS.partitions["status"]["priority"]
    partition, sort = index_keys(index)
    found: list[tuple[int, Item]] = []
    start = None
    while True:
        more: dict[str, Any] = {"ExclusiveStartKey": start} if start else {}
        page = store.query(
            IndexName=index_name(index),
            KeyConditionExpression=f"{partition} = :pending",
            FilterExpression="#attributes.#warehouse = :warehouse",
            ProjectionExpression=f"{sort}, #attributes",
            ExpressionAttributeNames={"#attributes": INDEX_ATTRIBUTES, "#warehouse": "warehouse"},
            values={":pending": PICKINGS.partition("status", "pending"), ":warehouse": whs_code},
            **more,
        )
        found += [(id_of(item[sort]), item[INDEX_ATTRIBUTES]) for item in page.items]
        start = page.last_key
        if start is None:
            return found
