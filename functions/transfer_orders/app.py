"""Transfer orders."""

from shared.http.api_handler import ApiHandler
from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.kernel.db.collection import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.warehouse.picking.models import PickDraft
from shared.warehouse.transfer_orders import order_picking, service, transit, views
from shared.warehouse.transfer_orders.models import (
    Arrival,
    Departure,
    OrderClosing,
    PickerChoice,
    StoredTransferOrder,
    TransferOrder,
    TransferOrderDraft,
    TransferOrderParameters,
)

routes = Routes()

_READ: OperationOptions = {
    "scope": "transfers:read",
    "module": "transfer_orders",
    "response": TransferOrder,
}
_WRITE: OperationOptions = {
    "scope": "transfers:write",
    "permission": "transfer-orders.manage",
    "module": "transfer_orders",
    "response": TransferOrder,
}
_ACT: OperationOptions = {**_WRITE, "errors": ("conflict", "stale_state")}


@routes.declare(
    "GET",
    "/transfer-orders",
    "List transfer orders",
    _READ,
    parameters=TransferOrderParameters,
    description="`lines` is null.",
)
def list_transfer_orders(
    store: Store, request: Request[None, TransferOrderParameters]
) -> ListResponse[StoredTransferOrder]:
    """Page through the transfer orders."""
    page = service.list_transfer_orders(store, request.parameters, request.tenant.timezone)
    return ListResponse(page, views.in_list)


@routes.declare(
    "POST",
    "/transfer-orders",
    "Create a transfer order",
    _WRITE,
    body=TransferOrderDraft,
    collects_problems=True,
    statuses=(200, 201),
    errors=("rule_blocked",),
    description="With `release` it is released for picking at once; an integration client must"
    " then send `picker_id`. 200 answers the order that already has the reference.",
)
def create_transfer_order(
    tx: Transaction, request: Request[TransferOrderDraft]
) -> ResourceResponse:
    """Create a transfer order, once per reference."""
    created = service.create_transfer_order(
        tx, request.body, request.problems, by_client=request.caller.kind == "client"
    )
    view = views.in_detail(created.record)
    if created.new:
        return ResourceResponse(view, 201, f"/transfer-orders/{created.record.id}")
    return ResourceResponse(view)


@routes.declare("GET", "/transfer-orders/{id}", "Get a transfer order", _READ)
def get_transfer_order(store: Store, request: Request) -> ResourceResponse:
    """Read one transfer order with its lines."""
    return ResourceResponse(views.in_detail(service.get_transfer_order(store, request.id)))


@routes.declare(
    "POST",
    "/transfer-orders/{id}/release",
    "Release a transfer order",
    _ACT,
    body=PickerChoice,
    description="draft becomes released, once: `stale_state` afterwards. Its picking, `picking_id`,"
    " gets stock of the origin allocated as far as there is any.",
)
def release_transfer_order(tx: Transaction, request: Request[PickerChoice]) -> ResourceResponse:
    """Release a draft for picking."""
    by_client = request.caller.kind == "client"
    return _shown(
        order_picking.release_transfer_order(tx, request.id, request.body, by_client=by_client)
    )


@routes.declare(
    "POST",
    "/transfer-orders/{id}/picks",
    "Pick for a transfer order",
    _ACT,
    body=PickDraft,
    description="The first pick makes the order `picking`, the last one `picked`. Another position"
    " or batch than allocated is refused, unless the company's setting `pick_substitution` allows"
    " it.",
)
def pick_transfer_order(tx: Transaction, request: Request[PickDraft]) -> ResourceResponse:
    """Note what was taken from a position."""
    substitution = request.tenant.settings.pick_substitution
    return _shown(order_picking.pick(tx, request.id, request.body, substitution))


@routes.declare(
    "POST",
    "/transfer-orders/{id}/finish-picking",
    "Finish the picking of a transfer order",
    _ACT,
    description="picking becomes picked, also when short; what was not picked is released.",
)
def finish_picking(tx: Transaction, request: Request) -> ResourceResponse:
    """End the picking of an order."""
    return _shown(order_picking.finish_picking(tx, request.id))


@routes.declare(
    "POST",
    "/transfer-orders/{id}/dispatch",
    "Dispatch a transfer order",
    _ACT,
    body=Departure,
    description="picked becomes in_transit. The goods are on hand nowhere; they show as in transit"
    " of the destination.",
)
def dispatch_transfer_order(tx: Transaction, request: Request[Departure]) -> ResourceResponse:
    """Let what was picked leave."""
    return _shown(transit.dispatch_transfer_order(tx, request.id, request.body))


@routes.declare(
    "POST",
    "/transfer-orders/{id}/receive",
    "Receive a transfer order",
    _ACT,
    body=Arrival,
    collects_problems=True,
    description="in_transit becomes receiving, and received once all that was dispatched is in or"
    " `final` says that nothing more comes. More than is in transit is `conflict`. At most 10"
    " lines a call; one line alone may have 40 serials.",
)
def receive_transfer_order(tx: Transaction, request: Request[Arrival]) -> ResourceResponse:
    """Put what arrived into stock."""
    return _shown(transit.receive_transfer_order(tx, request.id, request.body, request.problems))


@routes.declare(
    "POST",
    "/transfer-orders/{id}/close",
    "Close a transfer order",
    _ACT,
    body=OrderClosing,
    description="received becomes closed. What was dispatched and never came leaves the books;"
    " then `reason` is required.",
)
def close_transfer_order(tx: Transaction, request: Request[OrderClosing]) -> ResourceResponse:
    """End an order."""
    return _shown(transit.close_transfer_order(tx, request.id, request.body))


@routes.declare(
    "POST",
    "/transfer-orders/{id}/cancel",
    "Cancel a transfer order",
    _ACT,
    description="From draft, released and picking: what was allocated is released, what was picked"
    " is available on its shelf again.",
)
def cancel_transfer_order(tx: Transaction, request: Request) -> ResourceResponse:
    """Give an order up."""
    return _shown(order_picking.cancel_transfer_order(tx, request.id))


def _shown(record: Record[StoredTransferOrder]) -> ResourceResponse:
    return ResourceResponse(views.in_detail(record))


lambda_handler = ApiHandler(routes)
