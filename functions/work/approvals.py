"""Routes of approvals."""

from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.kernel.clock import now_ms
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
from shared.warehouse.approvals import service, views
from shared.warehouse.approvals.models import (
    Approval,
    ApprovalDecision,
    ApprovalDetail,
    ApprovalParameters,
    StoredApproval,
)

routes = Routes()

_READ: OperationOptions = {"scope": "receipts:read", "response": ApprovalDetail}
_DECIDE: OperationOptions = {
    "scope": "receipts:write",
    "permission": service.PERMISSION,
    "response": ApprovalDetail,
    "errors": ("conflict", "forbidden"),
}


@routes.read(
    "/approvals",
    "List approvals",
    _READ,
    response=Approval,
    parameters=ApprovalParameters,
    description="A pending or granted approval counts as expired from `expires_at` on, in filters"
    " and totals, too.",
)
def list_approvals(
    store: Store, request: Request[None, ApprovalParameters]
) -> ListResponse[StoredApproval]:
    """Return a page of approvals."""
    now = now_ms()
    page = service.list_approvals(store, request.parameters, now)
    return ListResponse(page, views.approval_at(now))


@routes.read("/approvals/{id}", "Get an approval", _READ)
def get_approval(store: Store, request: Request) -> ResourceResponse:
    """Return one approval."""
    record = service.get_approval(store, request.id)
    return ResourceResponse(views.approval_in_detail(record, now_ms()))


@routes.write(
    "POST",
    "/approvals/{id}/grant",
    "Grant an approval",
    _DECIDE,
    body=ApprovalDecision,
    description="The same request of the same client or user passes once"
    " until `expires_at`. Only users decide; an integration client is refused with `forbidden`.",
)
def grant_approval(
    tx: Transaction, request: Request[Checked[ApprovalDecision]]
) -> ResourceResponse:
    """Let the request pass once."""
    record = service.decide(tx, request.id, request.body, "granted")
    return ResourceResponse(views.approval_in_detail(record, tx.now_ms))


@routes.write(
    "POST",
    "/approvals/{id}/deny",
    "Deny an approval",
    _DECIDE,
    body=ApprovalDecision,
    description="If the request is repeated, it requires a new approval."
    " Only users decide; an integration client is refused with `forbidden`.",
)
def deny_approval(tx: Transaction, request: Request[Checked[ApprovalDecision]]) -> ResourceResponse:
    """Refuse the request."""
    record = service.decide(tx, request.id, request.body, "denied")
    return ResourceResponse(views.approval_in_detail(record, tx.now_ms))
