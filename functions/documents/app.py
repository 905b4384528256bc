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
from shared.warehouse.documents.changes import change_document
from shared.warehouse.documents.models import (
    Document,
    EntryChange,
    EntryDocument,
    EntryDocumentDetail,
    EntryDraft,
    EntryParameters,
    ExitChange,
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
    " without the fields. PATCH changes a document.",
}
_CHANGE: OperationOptions = {
    "errors": ("conflict", "stale_state", "rule_blocked"),
    "description": "Only the fields sent change, until the document is closed (`stale_state`)."
    " An entry of `lines` with `line_num` changes the ordered quantity of that line, not below what"
    " is done; 0 gives up a line of which nothing is done. An entry without `line_num` adds a line,"
    " as in the creation. While work of the document has not ended, a change of lines is refused"
    " with `conflict`, which names the work.",
}
_OVERSELL = (
    " With the setting `oversell` at `refuse`, ordering more than can be sold is `rule_blocked` on"
    " each line of the product."
)
_ENTRY_CHANGE: OperationOptions = {**_ENTRY_WRITE, **_CHANGE}
_EXIT_CHANGE: OperationOptions = {
    **_EXIT_WRITE,
    **_CHANGE,
    "description": f"{_CHANGE['description']} A changed `priority` or `due_date` also reaches the"
    " pickings of the document that have not ended, a changed `carrier_code` those of this document"
    f" alone; a picking keeps the priority and the carrier that its own body named.{_OVERSELL}",
}
_ENTRY_CREATE: OperationOptions = {**_ENTRY_WRITE, **_CREATE}
_EXIT_CREATE: OperationOptions = {
    **_EXIT_WRITE,
    **_CREATE,
    "errors": ("rule_blocked", "stale_state"),
    "description": f"{_CREATE['description']}{_OVERSELL} With `hold_id`, the document takes"
    " the goods of a hold of its warehouse, which is `used` afterwards: `rule_blocked` names each"
    " line of a product of which less is held, and `stale_state` says that the hold was used or"
    " released, or has expired.",
}


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
    "PATCH",
    "/entry-documents/{id}",
    "Change an entry document",
    _ENTRY_CHANGE,
    body=EntryChange,
)
def change_entry_document(
    tx: Transaction, request: Request[Checked[EntryChange]]
) -> ResourceResponse:
    """Change the fields and lines of an entry document that were sent."""
    return ResourceResponse(
        _entry(tx.store, change_document(tx, "entry", request.id, request.body))
    )


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
    view = _exit(tx.store, created.record)
    return created_resource(created, f"Document {view.external_ref}", view, "/exit-documents")


@routes.read("/exit-documents/{id}", "Get an exit document", _EXIT_READ)
def get_exit_document(store: Store, request: Request) -> ResourceResponse:
    """Return an exit document."""
    return ResourceResponse(_exit(store, service.get_document(store, "exit", request.id)))


@routes.write(
    "PATCH",
    "/exit-documents/{id}",
    "Change an exit document",
    _EXIT_CHANGE,
    body=ExitChange,
)
def change_exit_document(
    tx: Transaction, request: Request[Checked[ExitChange]]
) -> ResourceResponse:
    """Change the fields and lines of an exit document that were sent."""
    # Imported here as in `_entry`: only this change needs pickings.
    from shared.warehouse.picking import service as picking  # noqa: PLC0415

    record = picking.change_exit_document(tx, request.id, request.body)
    return ResourceResponse(_exit(tx.store, record))


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
    routes,
    DeferredRoutes("functions.documents.dispatch", ("/exit-documents/{id}/dispatch",)),
    DeferredRoutes("functions.documents.holds", ("/holds",)),
)
