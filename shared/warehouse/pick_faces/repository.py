"""Storage of pick faces. Keys and indexes: see docs/internals/storage.md."""

from shared.kernel.db.collection import Collection
from shared.kernel.db.counters import SHARDS
from shared.kernel.db.facets import facets_of
from shared.kernel.db.indexes import Lookup, Partition
from shared.warehouse.pick_faces.models import PickFace

PICK_FACES = Collection(
    kind="pick_face",
    noun="Pick face",
    listed_as="pick_face",
    model=PickFace,
    facets=facets_of("id", "product_id", "item_code", "whs_code", "bin_code", "updated_at"),
    sorts={"id": 1, "updated_at": 2},
    partitions={"whs_code": Partition({"id": 3}, own_totals=SHARDS)},
    lookups={"product_id": Lookup(4), "item_code": Lookup(5), "bin_code": Lookup(6)},
)
