"""Bulk imports."""

from typing import Any, get_args

from shared.http.api_handler import ApiHandler
from shared.http.request import Request
from shared.http.routes import (
    FileResponse,
    ListResponse,
    OperationOptions,
    RedirectResponse,
    ResourceResponse,
    Routes,
)
from shared.integration.imports import service
from shared.integration.imports.columns import ImportKind
from shared.integration.imports.models import (
    Import,
    ImportParameters,
    ImportUpload,
    PendingImport,
    StoredImport,
    TemplateParameters,
    UploadForm,
    UploadRequest,
)
from shared.integration.imports.validating import REPORT_MEDIA
from shared.integration.imports.views import import_view
from shared.integration.imports.workspace import Workspace, workspace_of
from shared.kernel.db.collection import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import NotFound

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
_TOO_LATE = {"import_refused": (409,)}


def _space(tx: Transaction | Store, request: Request[Any, Any]) -> Workspace:
    return workspace_of(request.tenant, tx if isinstance(tx, Store) else tx.store)


def _shown(
    record: Record[StoredImport],
    request: Request[Any, Any],
    status: int,
    location: str | None = None,
) -> ResourceResponse:
    one = record.entity
    view = import_view(one, request.tenant.base_url)
    return ResourceResponse(view, status, location, one.warning)


@routes.declare(
    "GET", "/imports", "List imports", _READ, response=Import, parameters=ImportParameters
)
def list_imports(
    store: Store, request: Request[None, ImportParameters]
) -> ListResponse[StoredImport]:
    """Page through the imports."""
    page = service.list_imports(store, request.parameters, request.tenant.timezone)
    return ListResponse(page, lambda record: import_view(record.entity, request.tenant.base_url))


@routes.declare(
    "POST",
    "/imports",
    "Upload a file",
    _WRITE,
    response=Import,
    body=ImportUpload,
    is_form=True,
    statuses=(202,),
    error_statuses={"import_refused": (413, 422)},
    description="Takes an .xlsx or .csv file of at most 5 MB and validates it; nothing is applied"
    " so far. A small file is validated when the answer comes, a larger one is `validating`: ask"
    " for the import until its status changes. Files that are too large for the gateway go"
    " through `POST /imports/uploads`. `warning` tells that the same file was uploaded before.",
)
def upload_import(tx: Transaction, request: Request[ImportUpload]) -> ResourceResponse:
    """Upload a file and have it validated."""
    record = service.start_import(tx, _space(tx, request), request.body)
    return _shown(record, request, 202, f"/imports/{record.id}")


@routes.declare(
    "POST",
    "/imports/uploads",
    "Announce a file",
    _WRITE,
    response=PendingImport,
    body=UploadRequest,
    statuses=(201,),
    description="Answers an import that waits for its file, and the form with which the file, of"
    " at most 25 MB, is sent to storage within 15 minutes: POST multipart/form-data to"
    " `upload.url` with all of `upload.fields` and then `file`. Its arrival starts the"
    " validation.",
    may_warn=False,
)
def request_upload(tx: Transaction, request: Request[UploadRequest]) -> ResourceResponse:
    """Make an import whose file goes to storage directly."""
    record, form = service.request_upload(tx, _space(tx, request), request.body)
    shown = import_view(record.entity, request.tenant.base_url)
    pending = PendingImport(**dict(shown), upload=UploadForm(**form))
    return ResourceResponse(pending, 201, f"/imports/{record.id}")


@routes.declare(
    "GET",
    "/imports/templates/{kind}",
    "Get a template",
    _READ,
    response=REPORT_MEDIA,
    parameters=TemplateParameters,
    description="A workbook to fill in, with drop-downs, a sample row that is ignored when it is"
    " uploaded, and a sheet of instructions.",
)
def get_template(_store: Store, request: Request[None, TemplateParameters]) -> FileResponse:
    """Read the template of a kind of import."""
    # Lazily: openpyxl costs 100 ms.
    from shared.integration.imports.templates import template  # noqa: PLC0415

    wanted = request.path_values["kind"]
    for kind in get_args(ImportKind.__value__):
        if kind == wanted:
            language = request.parameters.lang
            return FileResponse(template(kind, language), f"{kind}-{language}.xlsx")
    raise NotFound("This kind of import")


@routes.declare("GET", "/imports/{id}", "Get an import", _READ, response=Import, may_warn=True)
def get_import(store: Store, request: Request) -> ResourceResponse:
    """Read one import: how far it is, and what is wrong with its file."""
    return _shown(service.get_import(store, request.id), request, 200)


@routes.declare(
    "GET",
    "/imports/{id}/error-report",
    "Get the rejected rows",
    _READ,
    response=REPORT_MEDIA,
    statuses=(200, 302),
    description="Every rejected row as it was sent, with all that is wrong with it; corrected, it"
    " can be uploaded as it is. A report above 4 MB is answered with 302 to where it lies for"
    " five minutes; ask there without the token.",
)
def get_error_report(store: Store, request: Request) -> FileResponse | RedirectResponse:
    """Read the report of the rejected rows; not_found when there are none."""
    report = service.error_report(_space(store, request), request.id)
    if isinstance(report, str):
        return RedirectResponse(report)
    return FileResponse(report, f"import-{request.id}-errors.xlsx")


@routes.declare(
    "POST",
    "/imports/{id}/commit",
    "Commit an import",
    _WRITE,
    response=Import,
    statuses=(202,),
    error_statuses=_TOO_LATE,
    description="A few rows are applied when the answer comes; more are `committing`: ask for the"
    " import until it is `committed`. One that has `failed` goes on where it stopped.",
)
def commit_import(tx: Transaction, request: Request) -> ResourceResponse:
    """Apply the valid rows."""
    record = service.commit_import(tx, _space(tx, request), request.id)
    return _shown(record, request, 202, f"/imports/{record.id}")


@routes.declare(
    "POST",
    "/imports/{id}/cancel",
    "Cancel an import",
    _WRITE,
    response=Import,
    error_statuses=_TOO_LATE,
)
def cancel_import(tx: Transaction, request: Request) -> ResourceResponse:
    """Give up an import that has not been committed."""
    return _shown(service.cancel_import(tx, _space(tx, request), request.id), request, 200)


lambda_handler = ApiHandler(routes)
