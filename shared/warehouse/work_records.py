"""The fields, filters, status checks and operators of receipts, pickings and transfers."""

from collections.abc import Collection, Iterator
from typing import Literal, TypeAliasType, get_args

from shared.identity.names import user_name
from shared.kernel.db.facets import Facets, id_text
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem, StaleState
from shared.kernel.fields import Stored, Timestamp
from shared.kernel.list_parameters import IdParameter, PeriodParameters, Text

type WorkStatus = Literal[
    "pending", "started", "finalized", "synchronized", "cancelled", "reverted"
]
"""Status of a receipt or picking."""


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

    status: WorkStatus | None = None
    external_ref: Text | None = None
    document_id: IdParameter | None = None


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


def ensure_status(
    noun: Literal["Picking", "Receipt"], work: StoredWork, *allowed: WorkStatus
) -> None:
    """Raise what `ensure_status_in` raises unless a receipt or picking is in one of `allowed`."""
    ensure_status_in(f"{noun} {work.id}", work.status, allowed, WorkStatus)


def ensure_status_in[S: str](
    name: str, status: S, allowed: Collection[S], type_: TypeAliasType
) -> None:
    """Raise an error unless `status`, the status of `name`, is one of those an action needs.

    `type_` lists the statuses of the subject in the order in which it gets them; those that end it
    early, such as cancelled, come last.

    Raises:
        StaleState: The action comes too late: the status comes after all of `allowed`.
        Conflict: The action comes too early.
    """
    if status in allowed:
        return
    order: tuple[S, ...] = get_args(type_.__value__)
    message = f"{name} is {status}; it must be {' or '.join(allowed)} for this action."
    if order.index(status) > max(map(order.index, allowed)):
        raise StaleState(message)
    raise Conflict(message)


# Undoing


def place_problems(
    done: str, item_code: str, named: str | None, places: Collection[str | None]
) -> Iterator[Problem]:
    """Yield a problem of an undo that names a position which is not among `places`.

    `done` says what is undone, such as "picked"; `places` are the positions where it was done.
    """
    if named is not None and named not in places:
        yield Problem("bin_code", f"nothing of {item_code} is {done} at {named}")


# Operators


def read_operator(tx: Transaction, named: int | None = None) -> Operator | None:
    """Return the user with the id `named`, or the calling user when none is named.

    Returns None when the company has no such user, and when an integration client names none.
    """
    number = named or (tx.caller.user_id if tx.caller else None)
    name = None if number is None else user_name(tx.store, number)
    return Operator(id=number, name=name) if number is not None and name is not None else None


def operator_problems(
    field: str, named: int | None, operator: Operator | None
) -> Iterator[Problem]:
    """Yield a problem of `field` when it names a user that does not exist."""
    if named is not None and operator is None:
        yield Problem(field, f"no user has the id {named}")


def operator_from_start(
    present: Operator | None, creator: int | None, acting: Operator | None
) -> Operator | None:
    """Return the operator of work that the user `acting` starts.

    A named operator is kept. The user `creator`, who has only created the work, is replaced.
    """
    is_named = present is not None and present.id != creator
    return present if is_named or acting is None else acting
