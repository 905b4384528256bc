"""The items of pickings. Keys and indexes: see docs/internals/storage.md."""

from collections.abc import Iterator
from dataclasses import replace

from shared.kernel.db.collection import SHARES, Collection
from shared.kernel.db.facets import (
    Facets,
    flag_text,
    id_of,
    id_text,
    integer_of,
    integer_text,
    joined,
)
from shared.kernel.db.indexes import Lookup, Partition
from shared.kernel.db.items import Item
from shared.kernel.db.lists.listing import read_page
from shared.kernel.db.lists.page import Page
from shared.kernel.db.search import BEGINNINGS, SEARCH, SEARCH_INDEX
from shared.kernel.db.store import Store
from shared.kernel.db.table import STABLE_FACETS, index_keys, index_name
from shared.warehouse.picking.level_shares import picking_shares
from shared.warehouse.picking.models import (
    PendingPicking,
    PickingParameters,
    StoredPicking,
    picking_code,
)
from shared.warehouse.stock.level_book import add_shares
from shared.warehouse.stock.models import SHARES_SINCE
from shared.warehouse.work.models import DocumentReference, searched_text, work_facets
from shared.warehouse.work.ranks import RANK, by_rank, rank_of


def _picking_facets(picking: StoredPicking) -> Facets:
    first = next(iter(picking.documents), None)
    return {
        **work_facets(picking, first),
        **_lookups(first),
        SEARCH: searched_text(picking_code(picking.id), picking.documents),
        "document_ids": joined(filter(None, map(_exit_id, picking.documents))),
        "priority": integer_text(picking.priority),
        "has_shortage": flag_text(picking.has_shortage),
        RANK: integer_text(rank_of(picking.priority)),
        "warehouse": picking.whs_code,
        "due_date": picking.due_date,
        "carrier": picking.carrier_code,
        "wave": None if picking.wave_id is None else id_text(picking.wave_id),
    }


def _lookups(document: DocumentReference | None) -> Facets:
    return {
        "external_ref": document.external_ref if document else None,
        "document_id": _exit_id(document) if document else None,
    }


def _exit_id(document: DocumentReference) -> str | None:
    """Return the text of the id of an exit document; None for a transfer order."""
    return None if document.type == "transfer_order" else id_text(document.id)


PICKINGS = Collection(
    kind="picking",
    noun="Picking",
    listed_as="picking",
    model=StoredPicking,
    facets=_picking_facets,
    sorts={"created_at": 1, "updated_at": 2, "finalized_at": 3, "priority": 7, RANK: 8},
    partitions={"status": Partition({"created_at": 4})},
    lookups={
        "external_ref": Lookup(5, hides=("external_ref",)),
        "document_id": Lookup(6, hides=("document_id", "document_ids")),
    },
    more_lookups=lambda picking: [_lookups(document) for document in picking.documents[1:]],
    volatile=frozenset({SEARCH}),
    searched=frozenset({"created_at"}),
    search_entries=BEGINNINGS,
    since={SHARES: SHARES_SINCE, SEARCH: 4, SEARCH_INDEX: 4},
    add_shares=add_shares(picking_shares),
)


def list_pickings(store: Store, parameters: PickingParameters) -> Page[StoredPicking]:
    """Read a page of pickings; `from` and `to` are days of the company."""
    equal, contains = parameters.filters(), dict[str, str | None]()
    number, reference = parameters.document_id, parameters.external_ref
    collection = PICKINGS
    if number is not None and (reference or parameters.ids):
        # Pickings that are found otherwise, whichever of their documents has the id.
        equal["document_id"], contains["document_ids"] = None, joined([id_text(number)])
    if reference is not None and parameters.ids:
        equal["external_ref"], contains["external_refs"] = None, joined([reference])
        collection = replace(PICKINGS, facets=_facets_with_references)
    query = parameters.list_query(
        equal=equal,
        contains=contains,
        search=parameters.search,
        between=parameters.created(store.company.timezone),
    )
    return read_page(store, collection, by_rank(query))


def _facets_with_references(picking: StoredPicking) -> Facets:
    references = (one.external_ref for one in picking.documents)
    return {**_picking_facets(picking), "external_refs": joined(filter(None, references))}


def pending_pickings(store: Store, whs_code: str) -> list[PendingPicking]:
    """Find the pending pickings of exit documents in a warehouse, in no particular order."""
    return [
        PendingPicking(
            id=number,
            priority=integer_of(facets["priority"]) if "priority" in facets else None,
            due_date=facets.get("due_date"),
            carrier_code=facets.get("carrier"),
            wave_id=int(facets["wave"]) if "wave" in facets else None,
        )
        for number, facets in _with_status(store, "pending", whs_code)
        if facets.get("document_type") != "transfer_order"
    ]


def transfer_pickings(store: Store, whs_code: str) -> list[int]:
    """Find the open pickings of transfer orders in a warehouse; the index may lag by moments."""
    return [
        number
        for status in ("pending", "started")
        for number, facets in _with_status(store, status, whs_code)
        if facets.get("document_type") == "transfer_order"
    ]


def _with_status(store: Store, status: str, whs_code: str) -> Iterator[tuple[int, Item]]:
    """Yield id and facets of the pickings in a warehouse that an index has under a status."""
    index = PICKINGS.index_of("status")
    partition, sort = index_keys(index)
    entries = store.query_all(
        IndexName=index_name(index),
        KeyConditionExpression=f"{partition} = :status",
        FilterExpression="#facets.#warehouse = :warehouse",
        ProjectionExpression=f"{sort}, #facets",
        ExpressionAttributeNames={"#facets": STABLE_FACETS, "#warehouse": "warehouse"},
        values={":status": PICKINGS.partition("status", status), ":warehouse": whs_code},
    )
    return ((id_of(entry[sort]), entry[STABLE_FACETS]) for entry in entries)
