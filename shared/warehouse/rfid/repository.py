"""The items of RFID validations. Keys and indexes: see docs/storage.md."""

from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import Facets
from shared.kernel.db.indexes import Lookup, Partition
from shared.kernel.db.listing import read_page
from shared.kernel.db.page import Page
from shared.kernel.db.store import Store
from shared.warehouse.rfid.models import (
    RfidSubjectKind,
    RfidValidationParameters,
    StoredValidation,
    TagDifferences,
)


def _facets(validation: StoredValidation) -> Facets:
    return {
        "result": validation.result,
        "subject": subject_text(validation.subject_kind, validation.subject_id),
        "created_at": validation.created_at,
        # A validation never changes, so both times are the same.
        "updated_at": validation.created_at,
    }


VALIDATIONS = Collection(
    kind="rfid_validation",
    noun="RFID validation",
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


def subject_text(kind: RfidSubjectKind, number: int) -> str:
    """Return the value of the index on the subject of a validation."""
    return f"{kind}:{number}"


def list_validations(
    store: Store, parameters: RfidValidationParameters, timezone: str
) -> Page[StoredValidation]:
    """Read a page of validations; the days of `parameters` are days in `timezone`."""
    query = parameters.list_query(
        equal={"subject": parameters.subject, "result": parameters.result},
        between=parameters.created_once(timezone),
    )
    return read_page(store, VALIDATIONS, query)
