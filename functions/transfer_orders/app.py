"""Transfer orders."""

from shared.db.store import Store
from shared.db.transaction import Transaction
from shared.http.door import Door
from shared.http.operations import Answer, ListAnswer, Routes
from shared.http.request import Request
from shared.transfer_orders import service, views
from shared.transfer_orders.models import (
    StoredTransferOrder,
    TransferOrder,
    TransferOrderDraft,
    TransferOrderParameters,
)

routes = Routes("transfer_orders")

_READ = {"scope": "transfers:read", "module": "transfer_orders", "answer": TransferOrder}
_WRITE = {
    "scope": "transfers:write",
    "permission": "transfer-orders.manage",
    "module": "transfer_orders",
    "answer": TransferOrder,
}


@routes.declare(
    "GET",
    "/transfer-orders",
    "List transfer orders",
    parameters=TransferOrderParameters,
    description="`lines` is null.",
    **_READ,
)
def list_transfer_orders(store: Store, request: Request) -> ListAnswer[StoredTransferOrder]:
    """Page through the transfer orders."""
    page = service.list_transfer_orders(store, request.parameters, request.tenant.timezone)
    return ListAnswer(page, views.in_list)


@routes.declare(
    "POST",
    "/transfer-orders",
    "Create a transfer order",
    body=TransferOrderDraft,
    collects_problems=True,
    statuses=(200, 201),
    errors=("rule_blocked",),
    description="With `release` it is released for picking at once; an integration client must"
    " then send `picker_id`. 200 answers the order that already has the reference.",
    **_WRITE,
)
def create_transfer_order(tx: Transaction, request: Request) -> Answer:
    """Create a transfer order, once per reference."""
    created = service.create_transfer_order(
        tx, request.body, request.problems, by_client=request.caller.kind == "client"
    )
    view = views.in_detail(created.record)
    if created.new:
        return Answer(view, 201, f"/transfer-orders/{created.record.id}")
    return Answer(view)


@routes.declare("GET", "/transfer-orders/{id}", "Get a transfer order", **_READ)
def get_transfer_order(store: Store, request: Request) -> Answer:
    """Read one transfer order with its lines."""
    return Answer(views.in_detail(service.get_transfer_order(store, request.id)))


lambda_handler = Door(routes)
