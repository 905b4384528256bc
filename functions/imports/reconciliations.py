"""Routes of reconciliations: comparisons of an ERP's quantities with the stock."""

from typing import Any

from shared.http.request import Request
from shared.http.routes import OperationOptions, ResourceResponse, Routes
from shared.integration.imports.models import MAX_REQUEST_FILE_BYTES, megabytes
from shared.integration.reconciliations import service
from shared.integration.reconciliations.context import (
    LINK_SECONDS,
    ReconciliationContext,
    reconciliation_context,
)
from shared.integration.reconciliations.models import (
    KEPT_DAYS,
    MAX_DIFFERENCES,
    MAX_ROWS,
    Reconciliation,
    ReconciliationDraft,
    ReconciliationUpload,
    StoredReconciliation,
)
from shared.integration.reconciliations.views import reconciliation
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked

routes = Routes()

_ACCESS: OperationOptions = {
    "scope": "stocks:read",
    "permission": "inventory.manage",
    "response": Reconciliation,
    # Each response has another link.
    "volatile_fields": ("workbook_url",),
}


def _context(store: Store, request: Request[Any, Any]) -> ReconciliationContext:
    return reconciliation_context(request.tenant, store)


def _response(
    record: Record[StoredReconciliation], context: ReconciliationContext, status: int
) -> ResourceResponse:
    view = reconciliation(context, record.entity)
    return ResourceResponse(view, status, f"/reconciliations/{record.id}")


@routes.write(
    "POST",
    "/reconciliations",
    "Compare quantities with the stock",
    _ACCESS,
    body=ReconciliationDraft,
    form_path="/reconciliations/files",
    statuses=(201,),
    errors=("conflict", "gone"),
    description="Compares what another system has on hand with what is on hand here: everything in"
    " the warehouse, picked, blocked and allocated goods included, and nothing in transit. Changes"
    " no stock. `ours` are quantities of one position of the feed of changes, `position`, although"
    " the stock changes meanwhile. With `position` in the request, `movements` are those after it,"
    " and a difference is `explained` if they add up to it. Without, `open_work` is ended work"
    " that is not acknowledged: receipts and pickings that are not synchronized, transfers"
    f" without answer. The {MAX_DIFFERENCES:,} largest differences are shown; `workbook_url` leads"
    f" to all of more, for {LINK_SECONDS // 60} minutes. A position that is not kept any more, or"
    " is of another epoch, is 410 with `error.latest`. A form with a file is answered as by"
    " `POST /reconciliations/files`.",
)
def reconcile(tx: Transaction, request: Request[Checked[ReconciliationDraft]]) -> ResourceResponse:
    """Compare the quantities of another system with the stock."""
    context = _context(tx.store, request)
    return _response(service.reconcile(tx, context, request.body), context, 201)


@routes.write(
    "POST",
    "/reconciliations/files",
    "Compare a file of quantities with the stock",
    _ACCESS,
    body=ReconciliationUpload,
    is_form=True,
    statuses=(202,),
    errors=("gone", "import_refused"),
    error_statuses={"import_refused": (413, 422)},
    description=f"Accepts an .xlsx or .csv file of at most {megabytes(MAX_REQUEST_FILE_BYTES)} and"
    f" {MAX_ROWS:,} rows, with the columns `item_code`, `qty` and, if needed, `warehouse_code`,"
    " `batch` and `unit`; headers in English or Spanish, as in imports. Get it until its"
    " `status` is `completed`. With an invalid row, nothing is compared: it is `failed`, and"
    " `problems` has all problems of all rows.",
)
def reconcile_file(
    tx: Transaction, request: Request[Checked[ReconciliationUpload]]
) -> ResourceResponse:
    """Compare a file of quantities with the stock, later."""
    context = _context(tx.store, request)
    return _response(service.start_file(tx, context, request.body), context, 202)


@routes.read(
    "/reconciliations/{id}",
    "Get a reconciliation",
    _ACCESS,
    description=f"A reconciliation is kept for {KEPT_DAYS} days.",
)
def get_reconciliation(store: Store, request: Request) -> ResourceResponse:
    """Return one reconciliation, with a new link to its workbook."""
    return _response(service.get_reconciliation(store, request.id), _context(store, request), 200)
