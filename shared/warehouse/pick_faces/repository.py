"""Storage of pick faces. Keys and indexes: see docs/storage.md."""

from shared.kernel.db.collection import Collection
from shared.kernel.db.counters import SHARDS
from shared.kernel.db.facets import Facets, id_text
from shared.kernel.db.indexes import Lookup, Partition
from shared.warehouse.pick_faces.models import PickFace


def _facets(face: PickFace) -> Facets:
    return {
        "id": id_text(face.id),
        "product_id": id_text(face.product_id),
        "item_code": face.item_code,
        "whs_code": face.whs_code,
        "bin_code": face.bin_code,
        "updated_at": face.updated_at,
    }


PICK_FACES = Collection(
    kind="pick_face",
    noun="Pick face",
    model=PickFace,
    facets=_facets,
    sorts={"id": 1, "updated_at": 2},
    partitions={"whs_code": Partition({"id": 3}, own_totals=SHARDS)},
    lookups={"product_id": Lookup(4), "item_code": Lookup(5), "bin_code": Lookup(6)},
)
