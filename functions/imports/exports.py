"""Routes of exports: snapshots of whole lists as files."""

from typing import Any

from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.integration.exports import service
from shared.integration.exports.context import ExportContext, export_context
from shared.integration.exports.models import (
    FILE_DAYS,
    Export,
    ExportDetail,
    ExportDraft,
    ExportParameters,
    StoredExport,
)
from shared.integration.exports.views import LINK_SECONDS, export_in_detail, export_in_list
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked

routes = Routes()

_READ: OperationOptions = {"scope": "changes:read"}
_DETAIL: OperationOptions = {
    **_READ,
    "response": ExportDetail,
    # Each response has other links.
    "volatile_fields": ("files",),
}
_WRITE: OperationOptions = {
    **_DETAIL,
    "permission": "inventory.manage",
    "other_permissions": (
        "entries.manage",
        "exits.manage",
        "imports.run",
        "transfer-orders.manage",
        "users.manage",
    ),
}


def _context(store: Store, request: Request[Any, Any]) -> ExportContext:
    return export_context(request.tenant, store)


def _response(
    record: Record[StoredExport],
    context: ExportContext,
    request: Request[Any, Any],
    status: int = 200,
) -> ResourceResponse:
    view = export_in_detail(context, request.caller, record)
    return ResourceResponse(view, status, f"/exports/{record.id}")


@routes.read(
    "/exports",
    "List exports",
    _READ,
    response=Export,
    parameters=ExportParameters,
    description="`from` and `to` are days of creation.",
)
def list_exports(
    store: Store, request: Request[None, ExportParameters]
) -> ListResponse[StoredExport]:
    """Return a page of exports, without their files."""
    return ListResponse(service.list_exports(store, request.parameters), export_in_list)


@routes.write(
    "POST",
    "/exports",
    "Start an export",
    _WRITE,
    body=ExportDraft,
    statuses=(202,),
    errors=("bulk_import_disabled", "conflict", "not_found", "transfer_orders_disabled"),
    description="Writes all rows of the lists into files, each row as its list shows it to the"
    " caller, with its `version`. The token needs the rights of each list. Load the files, then"
    " follow `GET /changes?after=position&epoch=epoch`: the copy is equal, whatever changed while"
    " the files were written. Poll the export until its status is `completed`. A company makes one"
    " export at a time; `conflict` names the one in progress.",
)
def start_export(tx: Transaction, request: Request[Checked[ExportDraft]]) -> ResourceResponse:
    """Start a snapshot of whole lists, as files."""
    context = _context(tx.store, request)
    record = service.start_export(tx, context, request.caller, request.body)
    return _response(record, context, request, 202)


@routes.read(
    "/exports/{id}",
    "Get an export",
    _DETAIL,
    description="The files of a completed export are compressed with gzip; those of an object have"
    " its rows in any order. `url` downloads one without a token, for"
    f" {LINK_SECONDS // 60} minutes; get the export again for new links. It is null if the caller"
    " may not read all lists of the export, if the rows of one depend on who reads them and"
    " somebody else has started the export, after `expires_at`, and when the feed has begun again:"
    " then nobody can follow from `position`, and another export is needed. Files are kept for"
    f" {FILE_DAYS} days.",
)
def get_export(store: Store, request: Request) -> ResourceResponse:
    """Return one export, with links to its files."""
    context = _context(store, request)
    return _response(service.get_export(store, request.id), context, request)


@routes.write(
    "POST",
    "/exports/{id}/cancel",
    "Cancel an export",
    _WRITE,
    errors=("conflict", "stale_state"),
)
def cancel_export(tx: Transaction, request: Request) -> ResourceResponse:
    """Cancel an export that is not completed; its files are not shown."""
    context = _context(tx.store, request)
    return _response(service.cancel_export(tx, request.id), context, request)
