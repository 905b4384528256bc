"""Entry and exit documents."""

from shared.http.api_handler import ApiHandler
from shared.http.request import Request
from shared.http.results import created_resource
from shared.http.routes import (
    DeferredRoutes,
    Idempotency,
    ListResponse,
    OperationOptions,
    ResourceResponse,
    Routes,
)
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
from shared.warehouse.documents import service, views
from shared.warehouse.documents.actions import ACTIONS
from shared.warehouse.documents.models import (
    Document,
    EntryDocument,
    EntryDocumentDetail,
    EntryDraft,
    EntryParameters,
    ExitDocument,
    ExitDocumentDetail,
    ExitDraft,
    ExitParameters,
)

routes = Routes()

_ENTRY_READ: OperationOptions = {"scope": "receipts:read", "response": EntryDocumentDetail}
_ENTRY_WRITE: OperationOptions = {
    "scope": "receipts:write",
    "permission": "entries.manage",
    "response": EntryDocumentDetail,
}
_EXIT_READ: OperationOptions = {"scope": "pickings:read", "response": ExitDocumentDetail}
_EXIT_WRITE: OperationOptions = {
    "scope": "pickings:write",
    "permission": "exits.manage",
    "response": ExitDocumentDetail,
}
_CREATE: OperationOptions = {
    "idempotency": Idempotency.REQUIRED,
    "statuses": (200, 201),
    "errors": ("rule_blocked",),
    "may_warn": True,
    "finds_existing": True,
    "description": "Status 200 means that a document with this reference and type already exists; "
    "the response is that document, unchanged. If the request differs from it, `warning` names the"
    " fields. A client without the scope to read the document gets its id only, and a `warning`"
    " without the fields. To change a document, close it and create another one with a new"
    " reference.",
}
_ENTRY_CREATE: OperationOptions = {**_ENTRY_WRITE, **_CREATE}
_EXIT_CREATE: OperationOptions = {**_EXIT_WRITE, **_CREATE}


@routes.read(
    "/entry-documents",
    "List entry documents",
    scope="receipts:read",
    response=EntryDocument,
    parameters=EntryParameters,
)
def list_entry_documents(
    store: Store, request: Request[None, EntryParameters]
) -> ListResponse[Document]:
    """Return a page of entry documents with the progress of each line."""
    page = service.list_documents(store, "entry", request.parameters)
    return ListResponse(page, views.entry_document)


@routes.write(
    "POST",
    "/entry-documents",
    "Create an entry document",
    _ENTRY_CREATE,
    body=EntryDraft,
)
def create_entry_document(
    tx: Transaction, request: Request[Checked[EntryDraft]]
) -> ResourceResponse:
    """Create an entry document. Reference and type are unique together."""
    created = service.create_document(tx, "entry", request.body)
    view = _entry(tx.store, created.record)
    return created_resource(created, f"Document {view.external_ref}", view, "/entry-documents")


@routes.read("/entry-documents/{id}", "Get an entry document", _ENTRY_READ)
def get_entry_document(store: Store, request: Request) -> ResourceResponse:
    """Return an entry document."""
    return ResourceResponse(_entry(store, service.get_document(store, "entry", request.id)))


@routes.write(
    "POST",
    "/entry-documents/{id}/close",
    "Close an entry document",
    _ENTRY_WRITE,
    errors=("conflict",),
)
def close_entry_document(tx: Transaction, request: Request) -> ResourceResponse:
    """Close an entry document; quantities that are not received yet are cancelled."""
    return ResourceResponse(_entry(tx.store, service.close_document(tx, "entry", request.id)))


def _entry(store: Store, record: Record[Document]) -> EntryDocumentDetail:
    # Imported here because it takes 16 ms, and only this view needs it.
    from shared.warehouse.receiving.service import document_differences  # noqa: PLC0415

    return views.entry_document_in_detail(record, document_differences(store, record.entity))


@routes.read(
    "/exit-documents",
    "List exit documents",
    _EXIT_READ,
    response=ExitDocument,
    parameters=ExitParameters,
)
def list_exit_documents(
    store: Store, request: Request[None, ExitParameters]
) -> ListResponse[Document]:
    """Return a page of exit documents with the progress of each line."""
    page = service.list_documents(store, "exit", request.parameters)
    return ListResponse(page, views.exit_document)


@routes.write("POST", "/exit-documents", "Create an exit document", _EXIT_CREATE, body=ExitDraft)
def create_exit_document(tx: Transaction, request: Request[Checked[ExitDraft]]) -> ResourceResponse:
    """Create an exit document. Reference and type are unique together."""
    created = service.create_document(tx, "exit", request.body)
    view = views.exit_document_in_detail(created.record)
    return created_resource(created, f"Document {view.external_ref}", view, "/exit-documents")


@routes.read("/exit-documents/{id}", "Get an exit document", _EXIT_READ)
def get_exit_document(store: Store, request: Request) -> ResourceResponse:
    """Return an exit document."""
    return ResourceResponse(_exit(store, service.get_document(store, "exit", request.id)))


@routes.write(
    "POST",
    "/exit-documents/{id}/close",
    "Close an exit document",
    _EXIT_WRITE,
    errors=("conflict",),
)
def close_exit_document(tx: Transaction, request: Request) -> ResourceResponse:
    """Close an exit document; quantities that are not picked yet are cancelled.

    Goods that are staged for it must be dispatched, or their picking reverted, before.
    """
    record = service.close_document(tx, "exit", request.id)
    return ResourceResponse(views.exit_document_in_detail(record))


def _exit(store: Store, record: Record[Document]) -> ExitDocumentDetail:
    if not ACTIONS["exit"].admits(record.entity, "dispatch"):
        return views.exit_document_in_detail(record)
    # Imported here because only this view of a document with staged goods needs it.
    from shared.warehouse.packing.shipping import is_ready_for_dispatch  # noqa: PLC0415

    may_leave = is_ready_for_dispatch(store, record.entity)
    return views.exit_document_in_detail(record, may_leave=may_leave)


lambda_handler = ApiHandler(
    routes, DeferredRoutes("functions.documents.dispatch", ("/exit-documents/{id}/dispatch",))
)
