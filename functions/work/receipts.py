"""The work of receiving."""

from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.warehouse.receiving import service, undo_receipt, views
from shared.warehouse.receiving.models import (
    Receipt,
    ReceiptDetail,
    ReceiptDraft,
    ReceiptLineDraft,
    ReceiptParameters,
    StoredReceipt,
)

routes = Routes()


@routes.declare(
    "GET",
    "/receipts",
    "List receipts",
    scope="receipts:read",
    response=Receipt,
    parameters=ReceiptParameters,
    description="`external_ref` is the reference of the entry document.",
)
def list_receipts(
    store: Store, request: Request[None, ReceiptParameters]
) -> ListResponse[StoredReceipt]:
    """Page through the receipts."""
    page = service.list_receipts(store, request.parameters, request.tenant.timezone)
    return ListResponse(page, views.receipt_in_list)


@routes.declare(
    "GET", "/receipts/{id}", "Get a receipt", scope="receipts:read", response=ReceiptDetail
)
def get_receipt(store: Store, request: Request) -> ResourceResponse:
    """Read one receipt with its lines."""
    return ResourceResponse(views.receipt_in_detail(service.get_receipt(store, request.id)))


_WORK: OperationOptions = {
    "scope": "receipts:write",
    "permission": "entries.manage",
    "response": ReceiptDetail,
    "errors": ("conflict",),
}


@routes.declare(
    "POST",
    "/receipts",
    "Create a receipt",
    _WORK,
    body=ReceiptDraft,
    statuses=(201,),
    description="For an entry document on which something is left to receive; a document may have"
    " several receipts.",
)
def create_receipt(tx: Transaction, request: Request[ReceiptDraft]) -> ResourceResponse:
    """Begin the work on an entry document."""
    record = service.create_receipt(tx, request.body)
    return ResourceResponse(views.receipt_in_detail(record), 201, f"/receipts/{record.id}")


@routes.declare(
    "POST",
    "/receipts/{id}/start",
    "Start a receipt",
    _WORK,
    description="pending becomes started.",
)
def start_receipt(tx: Transaction, request: Request) -> ResourceResponse:
    """Begin to receive."""
    return ResourceResponse(views.receipt_in_detail(service.start_receipt(tx, request.id)))


@routes.declare(
    "POST",
    "/receipts/{id}/lines",
    "Receive goods",
    _WORK,
    body=ReceiptLineDraft,
    collects_problems=True,
    description="While the receipt is started. The goods are in stock at once, and count for the"
    " lines of the document that name their batch first. Beyond the tolerance of the company,"
    " over all receipts of the document, the answer is `approval_required` unless a user with"
    " `approvals.grant` sends `approve`. At most 25 serials a call: send more in several calls.",
    errors=("conflict", "approval_required"),
)
def receive_line(tx: Transaction, request: Request[ReceiptLineDraft]) -> ResourceResponse:
    """Take goods into stock."""
    record = service.receive_line(
        tx, request.id, request.body, request.problems, tenant=request.tenant
    )
    return ResourceResponse(views.receipt_in_detail(record))


@routes.declare(
    "POST",
    "/receipts/{id}/finalize",
    "Finalize a receipt",
    _WORK,
    description="started becomes finalized.",
)
def finalize_receipt(tx: Transaction, request: Request) -> ResourceResponse:
    """End the work in the warehouse."""
    return ResourceResponse(views.receipt_in_detail(service.finalize_receipt(tx, request.id)))


@routes.declare(
    "POST",
    "/receipts/{id}/synchronize",
    "Synchronize a receipt",
    _WORK,
    description="finalized becomes synchronized: the ERP knows of it.",
)
def synchronize_receipt(tx: Transaction, request: Request) -> ResourceResponse:
    """Note that the ERP knows of the receipt."""
    return ResourceResponse(views.receipt_in_detail(service.synchronize_receipt(tx, request.id)))


@routes.declare(
    "POST",
    "/receipts/{id}/cancel",
    "Cancel a receipt",
    _WORK,
    description="pending or started becomes cancelled. What was received is put back out of"
    " stock; `conflict` when it is no longer there or not free.",
)
def cancel_receipt(tx: Transaction, request: Request) -> ResourceResponse:
    """Give the receipt up."""
    return ResourceResponse(views.receipt_in_detail(undo_receipt.cancel_receipt(tx, request.id)))


@routes.declare(
    "POST",
    "/receipts/{id}/revert",
    "Revert a receipt",
    _WORK,
    description="finalized or synchronized becomes reverted. What was received is put back out"
    " of stock; `conflict` when it is no longer there or not free.",
)
def revert_receipt(tx: Transaction, request: Request) -> ResourceResponse:
    """Take back a receipt that had ended."""
    return ResourceResponse(views.receipt_in_detail(undo_receipt.revert_receipt(tx, request.id)))
