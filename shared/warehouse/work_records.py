"""The fields, filters and status checks that receipts, pickings and transfers share."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import Field

from shared.kernel.db.facets import MAX_ID, Facets, id_text
from shared.kernel.errors import Conflict
from shared.kernel.fields import Stored, Timestamp
from shared.kernel.list_parameters import Integer, PeriodParameters, Text

type WorkStatus = Literal[
    "pending", "started", "finalized", "synchronized", "cancelled", "reverted"
]
"""Status of a receipt or picking."""


class Operator(Stored):
    """The person who did the work."""

    id: int
    name: str | None


class DocumentReference(Stored):
    """The document of a receipt or picking, as it was when that was created.

    `type` is the internal type, such as purchase_order, sale_order or transfer_order. Ids are
    unique among entry documents, among exit documents and among transfer orders, but an entry
    document and an exit document may have the same id.
    """

    id: int
    type: str
    doc_num: str | int | None
    card_code: str | None
    external_ref: str | None


class StoredWork(Stored):
    """The stored fields that receipts and pickings share."""

    id: int
    uuid: str
    concept: str | None = None
    status: WorkStatus
    comments: str | None = None
    user_id: int | None = None
    operator: Operator | None = None
    started_at: Timestamp | None = None
    finalized_at: Timestamp | None = None
    created_at: Timestamp
    updated_at: Timestamp


class WorkView(Stored):
    """The fields that responses for receipts and pickings share."""

    id: int
    uuid: str | None
    concept: str | None
    status: WorkStatus
    comments: str | None
    user_id: int | None
    operator: Operator | None
    document: DocumentReference | None
    started_at: Timestamp | None
    finalized_at: Timestamp | None
    created_at: Timestamp | None
    updated_at: Timestamp | None


class WorkParameters(PeriodParameters):
    """The query parameters that the lists of receipts and pickings share."""

    status: WorkStatus | None = None
    external_ref: Text | None = None
    document_id: Annotated[Integer, Field(ge=1, le=MAX_ID)] | None = None


def work_facets(work: StoredWork, document: DocumentReference | None) -> Facets:
    """Return the facets that receipts and pickings share."""
    return {
        "status": work.status,
        "external_ref": document.external_ref if document else None,
        "document_id": id_text(document.id) if document else None,
        # The id alone is ambiguous: an exit document and a transfer order may have the same.
        "document_type": document.type if document else None,
        "created_at": work.created_at,
        "updated_at": work.updated_at,
        "finalized_at": work.finalized_at,
    }


def work_fields(work: StoredWork, document: DocumentReference | None) -> dict[str, Any]:
    """Return the values of the fields of `WorkView`."""
    return {
        "id": work.id,
        "uuid": work.uuid,
        "concept": work.concept,
        "status": work.status,
        "comments": work.comments,
        "user_id": work.user_id,
        "operator": work.operator,
        "document": document,
        "started_at": work.started_at,
        "finalized_at": work.finalized_at,
        "created_at": work.created_at,
        "updated_at": work.updated_at,
    }


def ensure_status(
    noun: Literal["Picking", "Receipt"], work: StoredWork, *allowed: WorkStatus
) -> None:
    """Raise Conflict unless the status of a receipt or picking is one of `allowed`."""
    if work.status not in allowed:
        raise Conflict(wrong_status(f"{noun} {work.id}", work.status, allowed))


def wrong_status(name: str, status: str, allowed: Iterable[str]) -> str:
    """Return the message of an action that `status`, the status of `name`, does not allow."""
    return f"{name} is {status}; it must be {' or '.join(allowed)} for this action."
