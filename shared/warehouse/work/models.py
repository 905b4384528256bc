"""The fields and filters that receipts and pickings share, and the operator of any work."""

from collections.abc import Iterable
from itertools import chain
from typing import Literal, TypedDict

from pydantic import Field

from shared.kernel.db.facets import Facets, id_text
from shared.kernel.db.search import marked_text
from shared.kernel.fields import Number, Stored, Timestamp
from shared.kernel.list_parameters import IdParameter, OneOf, PeriodParameters, Text

type WorkStatus = Literal[
    "pending", "started", "finalized", "synchronized", "cancelled", "reverted"
]
"""Status of a receipt or picking, in the order in which it gets them."""


class Operator(Stored):
    """The person who did the work, with the name that the person had then."""

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


class Fill(TypedDict):
    """The quantity of a line of work that counts for one line of a document."""

    document_id: int
    line_num: int
    external_ref: str | None
    qty: Number


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
    uuid: str
    concept: str | None
    status: WorkStatus
    comments: str | None
    user_id: int | None
    operator: Operator | None
    document: DocumentReference | None
    started_at: Timestamp | None
    finalized_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp


class WorkParameters(PeriodParameters):
    """The query parameters that the lists of receipts and pickings share."""

    status: OneOf[WorkStatus] | None = None
    external_ref: Text | None = None
    document_id: IdParameter | None = Field(
        default=None,
        description="Only the work of the document with this `id`: an entry document for a receipt,"
        " an exit document for a picking, any of its documents. Not the id of a transfer order, and"
        " not the number or reference of a document.",
    )


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


def searched_text(code: str | None, documents: Iterable[DocumentReference]) -> str:
    """Return the text of work that is searched: numbers and references of its documents.

    `code` is that of the work itself. All of them stay as they are.
    """
    names = ((one.doc_num, one.external_ref) for one in documents)
    found = (str(name) for name in chain.from_iterable(names) if name is not None)
    return marked_text(code, *found)
