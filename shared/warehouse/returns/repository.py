"""The items of returns. Keys and indexes: see docs/internals/storage.md."""

from shared.kernel.db.collection import Collection
from shared.kernel.db.counters import SHARDS
from shared.kernel.db.facets import Facets, facets_of
from shared.kernel.db.indexes import Lookup, Partition
from shared.kernel.db.search import BEGINNINGS, SEARCH, SEARCH_INDEX, marked_text
from shared.kernel.references import ExternalReferences
from shared.warehouse.returns.models import ReturnedGoods, StoredReturn, return_code

LINE_SEQUENCE = "return_line"
"""Sequence of the ids of the lines of all returns."""


REFERENCES = ExternalReferences("return_ref")

_listed = facets_of(
    "status", "external_ref", "exit_document_id", "created_at", "updated_at", warehouse="whs_code"
)


def _facets(one: StoredReturn) -> Facets:
    text = marked_text(return_code(one.id), one.external_ref, one.card_code, one.card_name)
    return {**_listed(one), SEARCH: text}


RETURNS = Collection(
    kind="return",
    noun="Return",
    listed_as="return",
    model=StoredReturn,
    facets=_facets,
    sorts={"created_at": 1, "updated_at": 2},
    partitions={
        "status": Partition({"created_at": 3}),
        "warehouse": Partition({"created_at": 4}, own_totals=SHARDS),
    },
    lookups={
        "external_ref": REFERENCES.keys,
        "exit_document_id": Lookup(5),
    },
    volatile=frozenset({SEARCH}),
    searched=frozenset({"created_at"}),
    search_entries=BEGINNINGS,
    since={SEARCH: 4, SEARCH_INDEX: 4},
)

RETURNED = Collection(
    kind="returned",
    noun="The returned goods of exit document",
    model=ReturnedGoods,
    facets=lambda _: {},
    # They are only read by the id of their exit document.
    sorts={},
    totals_within=RETURNS.kind,
)
