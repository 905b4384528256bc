"""Bulk imports. The routes of reconciliations and of exports are in modules of their own."""

from typing import Any

from shared.http.api_handler import ApiHandler
from shared.http.request import Request
from shared.http.routes import (
    DeferredRoutes,
    FileResponse,
    ListResponse,
    OperationOptions,
    RedirectResponse,
    ResourceResponse,
    Routes,
)
from shared.integration.imports import service
from shared.integration.imports.context import ImportContext, import_context
from shared.integration.imports.kind_access import ensure_kind_enabled
from shared.integration.imports.models import (
    IMPORT_KINDS,
    MAX_FILE_BYTES,
    MAX_REQUEST_FILE_BYTES,
    Import,
    ImportDetail,
    ImportParameters,
    ImportUpload,
    PendingImport,
    StoredImport,
    TemplateParameters,
    UploadForm,
    UploadRequest,
    megabytes,
)
from shared.integration.imports.report.rejected_rows import REPORT_MEDIA
from shared.integration.imports.views import import_in_detail, import_in_list, import_warning
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import NotFound
from shared.kernel.validation import Checked

routes = Routes()

_READ: OperationOptions = {
    "scope": "products:read",
    "permission": "imports.run",
    "module": "bulk_import",
}
_WRITE: OperationOptions = {
    "scope": "products:write",
    "permission": "imports.run",
    "module": "bulk_import",
    "errors": ("import_refused",),
    "may_warn": True,
}
_OF_KIND: OperationOptions = {**_WRITE, "errors": ("import_refused", "transfer_orders_disabled")}


def _context(tx: Transaction | Store, request: Request[Any, Any]) -> ImportContext:
    return import_context(request.tenant, tx if isinstance(tx, Store) else tx.store)


def _response(
    record: Record[StoredImport],
    request: Request[Any, Any],
    status: int,
    location: str | None = None,
) -> ResourceResponse:
    view = import_in_detail(record.entity, request.tenant)
    return ResourceResponse(view, status, location, import_warning(record.entity))


@routes.read("/imports", "List imports", _READ, response=Import, parameters=ImportParameters)
def list_imports(
    store: Store, request: Request[None, ImportParameters]
) -> ListResponse[StoredImport]:
    """List the imports."""
    page = service.list_imports(store, request.parameters)
    return ListResponse(
        page, lambda record: import_in_list(record.entity, request.tenant, request.caller)
    )


@routes.write(
    "POST",
    "/imports",
    "Upload a file",
    _OF_KIND,
    response=ImportDetail,
    body=ImportUpload,
    is_form=True,
    statuses=(202,),
    error_statuses={"import_refused": (413, 422)},
    description="Accepts an .xlsx or .csv file of at most"
    f" {megabytes(MAX_REQUEST_FILE_BYTES)} and validates it; use `POST /imports/uploads` for a"
    " larger one. Nothing is applied before the commit. A small file is validated within the"
    " request. A larger file is `validating` in the response: poll the import until its status"
    " changes. `warning` says that the same file was uploaded before, or that documents in it"
    " exist and differ.",
)
def upload_import(tx: Transaction, request: Request[Checked[ImportUpload]]) -> ResourceResponse:
    """Create an import from a file in the request."""
    record = service.start_import(tx, _context(tx, request), request.body)
    return _response(record, request, 202, f"/imports/{record.id}")


@routes.write(
    "POST",
    "/imports/uploads",
    "Request a file upload",
    _OF_KIND,
    response=PendingImport,
    body=UploadRequest,
    statuses=(201,),
    description="Creates an import without a file, and a form for uploading a file of at most"
    f" {megabytes(MAX_FILE_BYTES)} directly to storage. Within 15 minutes, POST multipart/form-data"
    " to `upload.url` with all `upload.fields`, followed by `file`. The validation starts when the"
    " file has been uploaded.",
    may_warn=False,
)
def request_upload(tx: Transaction, request: Request[Checked[UploadRequest]]) -> ResourceResponse:
    """Create an import whose file is uploaded directly to storage."""
    record, form = service.request_upload(tx, _context(tx, request), request.body)
    view = import_in_detail(record.entity, request.tenant)
    pending = PendingImport(**dict(view), upload=UploadForm(**form))
    return ResourceResponse(pending, 201, f"/imports/{record.id}")


@routes.read(
    "/imports/templates/{kind}",
    "Get a template",
    _READ,
    response=REPORT_MEDIA,
    parameters=TemplateParameters,
    errors=("transfer_orders_disabled",),
    description="Returns a workbook to fill in, with drop-down lists, a sample row that is ignored"
    " on upload, and a sheet of instructions.",
)
def get_template(_store: Store, request: Request[None, TemplateParameters]) -> FileResponse:
    """Return the template of an import kind."""
    # Imported here because openpyxl takes 100 ms.
    from shared.integration.imports.template import template  # noqa: PLC0415

    name = request.path_values["kind"]
    for kind in IMPORT_KINDS:
        if kind == name:
            ensure_kind_enabled(request.tenant, kind)
            language = request.parameters.lang
            return FileResponse(template(kind, language), f"{kind}-{language}.xlsx")
    raise NotFound(f"The import kind {name}")


@routes.read("/imports/{id}", "Get an import", _READ, response=ImportDetail, may_warn=True)
def get_import(store: Store, request: Request) -> ResourceResponse:
    """Return one import: its status, counts and structure errors."""
    record = service.get_import(store, request.id, tenant=request.tenant, caller=request.caller)
    return _response(record, request, 200)


@routes.read(
    "/imports/{id}/error-report",
    "Get the rejected and skipped rows",
    _READ,
    response=REPORT_MEDIA,
    statuses=(200, 302),
    description="Returns a workbook with every rejected row as it was sent, and all of its errors;"
    " a second sheet has the rows of documents that exist, differ, and are left as they are."
    " The report can be corrected and uploaded. For a report larger than 4 MB, the response is a"
    " 302 to a URL that is valid for 5 minutes; request that URL without the token.",
)
def get_error_report(store: Store, request: Request) -> FileResponse | RedirectResponse:
    """Return the error report; not_found if no row was rejected or skipped."""
    report = service.error_report(_context(store, request), request.id, request.caller)
    if isinstance(report, str):
        return RedirectResponse(report)
    return FileResponse(report, f"import-{request.id}-errors.xlsx")


@routes.write(
    "POST",
    "/imports/{id}/commit",
    "Commit an import",
    _OF_KIND,
    response=ImportDetail,
    statuses=(202,),
    error_statuses={"import_refused": (409,)},
    description="Applies the valid rows. A few rows are applied within the request. A larger import"
    " is `committing` in the response: poll the import until it is `committed`. The commit of a"
    " `failed` import resumes where it stopped.",
)
def commit_import(tx: Transaction, request: Request) -> ResourceResponse:
    """Apply the valid rows."""
    record = service.commit_import(tx, _context(tx, request), request.id)
    return _response(record, request, 202, f"/imports/{record.id}")


@routes.write(
    "POST",
    "/imports/{id}/cancel",
    "Cancel an import",
    {**_WRITE, "errors": ()},
    response=ImportDetail,
)
def cancel_import(tx: Transaction, request: Request) -> ResourceResponse:
    """Cancel an import that has not been committed."""
    return _response(service.cancel_import(tx, _context(tx, request), request.id), request, 200)


lambda_handler = ApiHandler(
    routes,
    DeferredRoutes("functions.imports.exports", ("/exports",)),
    DeferredRoutes("functions.imports.reconciliations", ("/reconciliations",)),
)
