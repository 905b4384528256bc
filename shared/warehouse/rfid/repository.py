"""The items of RFID validations. Keys and indexes: see docs/internals/storage.md."""

from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import Facets
from shared.kernel.db.indexes import Lookup, Partition
from shared.warehouse.rfid.models import StoredValidation, TagDifferences


def _facets(validation: StoredValidation) -> Facets:
    return {
        "result": validation.result,
        "subject": f"{validation.subject_kind}:{validation.subject_id}",
        "created_at": validation.created_at,
        # A validation never changes, so both times are the same.
        "updated_at": validation.created_at,
    }


VALIDATIONS = Collection(
    kind="rfid_validation",
    noun="RFID validation",
    listed_as="rfid_validation",
    model=StoredValidation,
    facets=_facets,
    sorts={"created_at": 1},
    partitions={"result": Partition({"created_at": 3})},
    lookups={"subject": Lookup(4)},
)

DIFFERENCES = Collection(
    kind="rfid_differences",
    noun="The differences of RFID validation",
    model=TagDifferences,
    facets=lambda _: {},
    # They are only read by the id of their validation.
    sorts={},
    totals_within=VALIDATIONS.kind,
)
