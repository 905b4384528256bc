"""Storage of pick faces. Keys and indexes: see docs/internals/storage.md."""

from shared.kernel.db.collection import Collection
from shared.kernel.db.counters import SHARDS
from shared.kernel.db.facets import Facets, facets_of, id_of, id_text
from shared.kernel.db.indexes import Lookup, Partition
from shared.kernel.db.store import Store
from shared.kernel.db.table import STABLE_FACETS, index_keys, index_name
from shared.warehouse.pick_faces.models import KnownPickFace, PickFace

REPLENISHED_SINCE = 4
"""Version of the schema from which on pick faces with a minimum are listed by warehouse."""

_shown = facets_of("id", "product_id", "item_code", "whs_code", "bin_code", "updated_at")


def _facets(face: PickFace) -> Facets:
    return {**_shown(face), "replenished": None if face.minimum is None else face.whs_code}


PICK_FACES = Collection(
    kind="pick_face",
    noun="Pick face",
    listed_as="pick_face",
    model=PickFace,
    facets=_facets,
    sorts={"id": 1, "updated_at": 2},
    partitions={"whs_code": Partition({"id": 3}, own_totals=SHARDS)},
    lookups={
        "product_id": Lookup(4),
        "item_code": Lookup(5),
        "bin_code": Lookup(6),
        "replenished": Lookup(7, hides=("replenished",)),
    },
    since={"replenished": REPLENISHED_SINCE, 7: REPLENISHED_SINCE},
)
"""`replenished` is the warehouse of a pick face that has a minimum."""


def faces_with_minimum(store: Store, whs_code: str, after: int, most: int) -> list[KnownPickFace]:
    """Return up to `most` pick faces of a warehouse that have a minimum, after the id `after`.

    The index can lag behind.
    """
    index = PICK_FACES.index_of("replenished")
    partition, sort = index_keys(index)
    page = store.query(
        IndexName=index_name(index),
        KeyConditionExpression=f"{partition} = :warehouse AND {sort} >= :begin",
        values={
            ":warehouse": PICK_FACES.partition("replenished", whs_code),
            ":begin": id_text(after + 1),
        },
        Limit=most,
    )
    return [
        KnownPickFace(
            id_of(entry[sort]), int(facets["product_id"]), facets["item_code"], facets["bin_code"]
        )
        for entry in page.items
        for facets in [entry[STABLE_FACETS]]
    ]
