"""The actions of entry and exit documents; `receive` and `pick` create the work on them."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from shared.kernel.action_table import ActionTable, StateAction
from shared.kernel.errors import StaleState
from shared.kernel.fields import ZERO, plain
from shared.warehouse.documents.models import Document, DocumentStatus
from shared.warehouse.documents.vocabulary import DocumentKind

_WORKABLE: Sequence[DocumentStatus] = ("open", "assigned", "partial-complete")
_NOT_CLOSED: Sequence[DocumentStatus] = (*_WORKABLE, "completed")


def _label(document: Document) -> str:
    return f"Document {document.external_ref}"


def _works(noun: str, numbers: Sequence[int]) -> str:
    return ", ".join(f"{noun} {number}" for number in numbers)


def _in_progress(document: Document, noun: str) -> str | None:
    if not document.works:
        return None
    works = _works(noun, document.works)
    return f"{_label(document)} has work in progress: {works}; end or cancel it first."


def work_in_progress(kind: DocumentKind, document: Document) -> str | None:
    """Return that work on a document has not ended, naming it; None when there is none."""
    return _in_progress(document, "receipt" if kind == "entry" else "picking")


def ensure_changeable(document: Document) -> None:
    """Raise StaleState when a document is closed."""
    if document.status == "closed":
        raise StaleState(f"{_label(document)} is closed; it cannot be changed.")


def _is_being_received(document: Document) -> str | None:
    return _in_progress(document, "receipt")


def _is_being_picked(document: Document) -> str | None:
    return _in_progress(document, "picking")


def _units_staged(document: Document) -> Decimal:
    return sum((line.staged_qty for line in document.lines), ZERO)


def _cannot_be_dispatched(document: Document) -> str | None:
    if document.works or _units_staged(document):
        return _is_being_picked(document)
    return f"{_label(document)} is {document.status} and nothing is staged for it."


def _cannot_be_given_up(document: Document) -> str | None:
    staged = _units_staged(document)
    if document.works or not staged:
        return _is_being_picked(document)
    return (
        f"{_label(document)} has {plain(staged)} picked units that wait for its dispatch. Dispatch"
        f" it, or revert its pickings: {_works('picking', document.finished)}."
    )


ACTIONS: Mapping[DocumentKind, ActionTable[Document, DocumentStatus]] = {
    "entry": ActionTable(
        DocumentStatus,
        _label,
        StateAction("receive", _WORKABLE),
        StateAction("close", _NOT_CLOSED, ["closed"], _is_being_received),
    ),
    "exit": ActionTable(
        DocumentStatus,
        _label,
        StateAction("pick", _WORKABLE, unless=_is_being_picked),
        StateAction("dispatch", _NOT_CLOSED, ["closed", "partial-complete"], _cannot_be_dispatched),
        StateAction("close", _NOT_CLOSED, ["closed"], _cannot_be_given_up),
    ),
}
