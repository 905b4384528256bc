"""What receipts, pickings and transfers have in common."""

from typing import Any, Literal, Protocol

from shared.kernel.db.facets import Facets, id_text
from shared.kernel.errors import Conflict
from shared.kernel.fields import Stored, Timestamp
from shared.kernel.list_parameters import PeriodParameters, Text

type WorkStatus = Literal[
    "pending", "started", "finalized", "synchronized", "cancelled", "reverted"
]
"""State of a receipt or picking."""


class Operator(Stored):
    """The person who did the work."""

    id: int
    name: str | None


class DocumentReference(Stored):
    """The document that work is done for, as it was when the work was created.

    `type` is the internal type: purchase_order, sale_order, transfer_order … Ids are unique
    among entry documents, among exit documents and among transfer orders, not over all three.
    """

    id: int
    type: str
    doc_num: str | int | None
    card_code: str | None
    external_ref: str | None


class StoredWork(Stored):
    """The fields that every stored receipt and picking has."""

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
    """The fields that every receipt and picking shows."""

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
    """The filters that the lists of receipts and pickings share."""

    status: WorkStatus | None = None
    external_ref: Text | None = None


def work_facets(work: StoredWork, document: DocumentReference | None) -> Facets:
    """Return the facets that receipts and pickings share."""
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


class _Work(Protocol):
    status: WorkStatus


def ensure_status(noun: str, work: _Work, *allowed: WorkStatus) -> None:
    """Refuse what a work record does not allow in its state; `noun` is what it is called."""
    if work.status not in allowed:
        wanted = " or ".join(allowed)
        message = f"The {noun} is {work.status}; this needs it to be {wanted}."
        raise Conflict(message)
