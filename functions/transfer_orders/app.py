"""Handler and routes of transfer orders."""

from shared.http.api_handler import ApiHandler
from shared.http.request import Request
from shared.http.results import created_resource
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
from shared.warehouse.catalog.several_lines import UnappliedLines
from shared.warehouse.picking.models import PickDraft, PicksDraft
from shared.warehouse.picking.views import SEVERAL_PICKS, unapplied_picks
from shared.warehouse.scanning.models import GOODS_TEXT, WorkGoods
from shared.warehouse.scanning.service import goods_of
from shared.warehouse.transfer_orders import order_picking, service, transit, views
from shared.warehouse.transfer_orders.models import (
    Arrival,
    Departure,
    OrderClosing,
    PickerChoice,
    StoredTransferOrder,
    TransferOrder,
    TransferOrderDetail,
    TransferOrderDraft,
    TransferOrderParameters,
)

routes = Routes()

_READ: OperationOptions = {
    "scope": "transfers:read",
    "module": "transfer_orders",
    "response": TransferOrderDetail,
}
_WRITE: OperationOptions = {
    "scope": "transfers:write",
    "permission": "transfer-orders.manage",
    "module": "transfer_orders",
    "response": TransferOrderDetail,
}
_ACT: OperationOptions = {**_WRITE, "errors": ("conflict", "stale_state")}


@routes.read(
    "/transfer-orders",
    "List transfer orders",
    _READ,
    response=TransferOrder,
    parameters=TransferOrderParameters,
    description="`lines` is null.",
)
def list_transfer_orders(
    store: Store, request: Request[None, TransferOrderParameters]
) -> ListResponse[StoredTransferOrder]:
    """Return a page of transfer orders."""
    page = service.list_transfer_orders(store, request.parameters)
    return ListResponse(page, views.in_list)


@routes.write(
    "POST",
    "/transfer-orders",
    "Create a transfer order",
    _WRITE,
    body=TransferOrderDraft,
    statuses=(200, 201),
    errors=("rule_blocked",),
    description="With `release`, the order is released for picking at once; an integration client"
    " must then send `picker_id`. When an order with the reference exists, it is returned with"
    " 200, unchanged. If the request differs from it, `warning` names the fields. A client without"
    " the scope to read the order gets its id only, and a `warning` without the fields.",
    may_warn=True,
    finds_existing=True,
)
def create_transfer_order(
    tx: Transaction, request: Request[Checked[TransferOrderDraft]]
) -> ResourceResponse:
    """Create a transfer order, once per reference."""
    created = service.create_transfer_order(
        tx, request.body, by_client=request.caller.kind == "client"
    )
    view = views.in_detail(created.record)
    what = f"Transfer order {view.external_ref}"
    return created_resource(created, what, view, "/transfer-orders")


@routes.read("/transfer-orders/{id}", "Get a transfer order", _READ)
def get_transfer_order(store: Store, request: Request) -> ResourceResponse:
    """Return one transfer order with its lines."""
    return ResourceResponse(views.in_detail(service.get_transfer_order(store, request.id)))


@routes.read(
    "/transfer-orders/{id}/goods",
    "Get the goods of a transfer order",
    _READ,
    response=WorkGoods,
    description=GOODS_TEXT,
)
def get_transfer_order_goods(store: Store, request: Request) -> ResourceResponse:
    """Return what names the goods of one transfer order on labels, for those who receive it."""
    order = service.get_transfer_order(store, request.id).entity
    products = (line.product_id for line in order.lines)
    return ResourceResponse(goods_of(store, products, order.destination.code))


@routes.write(
    "POST",
    "/transfer-orders/{id}/release",
    "Release a transfer order",
    _ACT,
    body=PickerChoice,
    description="The"
    " available stock of the origin is allocated to the picking of the order, `picking_id`.",
)
def release_transfer_order(
    tx: Transaction, request: Request[Checked[PickerChoice]]
) -> ResourceResponse:
    """Release a draft for picking."""
    by_client = request.caller.kind == "client"
    return _shown(
        order_picking.release_transfer_order(tx, request.id, request.body, by_client=by_client)
    )


@routes.write(
    "POST",
    "/transfer-orders/{id}/picks",
    "Pick for a transfer order",
    _ACT,
    body=PicksDraft,
    beside=UnappliedLines,
    description="The first pick makes the order `picking`, the last one `picked`. Another position"
    " or batch than allocated is refused, unless the company's setting `pick_substitution` allows"
    " it. Other serials or batches than the order expects need the setting `any`. Expired goods are"
    " refused, unless the setting `expired_stock` allows them."
    f" {SEVERAL_PICKS}",
)
def pick_transfer_order(tx: Transaction, request: Request[Checked[PicksDraft]]) -> ResourceResponse:
    """Pick goods at a position, or at several."""
    record, refused = order_picking.pick(tx, request.id, request.body)
    return ResourceResponse(views.in_detail(record), beside=unapplied_picks(request.body, refused))


@routes.write(
    "POST",
    "/transfer-orders/{id}/picks/undo",
    "Undo a pick for a transfer order",
    _ACT,
    body=PickDraft,
    description="Takes the body of a pick. The goods"
    " return to the position that they were picked at, and are allocated to the order again; what"
    " the order lacked when it was finished is not. The order is `picking` afterwards. More than"
    " was picked there is refused.",
)
def undo_pick(tx: Transaction, request: Request[Checked[PickDraft]]) -> ResourceResponse:
    """Undo a pick."""
    return _shown(order_picking.undo_pick(tx, request.id, request.body))


@routes.write(
    "POST",
    "/transfer-orders/{id}/finish-picking",
    "Finish the picking of a transfer order",
    _ACT,
    description="Also with a shortage; remaining allocations are released."
    " An order of which nothing is picked, because every pick was undone, is refused with"
    " `conflict`.",
)
def finish_picking(tx: Transaction, request: Request) -> ResourceResponse:
    """Finish the picking of an order."""
    return _shown(order_picking.finish_picking(tx, request.id))


@routes.write(
    "POST",
    "/transfer-orders/{id}/dispatch",
    "Dispatch a transfer order",
    _ACT,
    body=Departure,
    description="The goods are not on hand in any warehouse; they are"
    " counted as in transit to the destination.",
)
def dispatch_transfer_order(
    tx: Transaction, request: Request[Checked[Departure]]
) -> ResourceResponse:
    """Dispatch the picked goods."""
    return _shown(transit.dispatch_transfer_order(tx, request.id, request.body))


@routes.write(
    "POST",
    "/transfer-orders/{id}/receive",
    "Receive a transfer order",
    _ACT,
    body=Arrival,
    description="The order is `received` when all dispatched goods have"
    " arrived, or with `final`. Receiving more than is in transit is refused with `conflict`. Goods"
    " that have expired are received only with the `inventory_status` quarantine, damaged or"
    " blocked. With the setting `capacity` at `enforce`, more than fits is `rule_blocked`. At most"
    " 8 lines per request, or one line of 30 serials.",
    errors=("conflict", "stale_state", "rule_blocked"),
)
def receive_transfer_order(tx: Transaction, request: Request[Checked[Arrival]]) -> ResourceResponse:
    """Receive goods into stock."""
    return _shown(transit.receive_transfer_order(tx, request.id, request.body))


@routes.write(
    "POST",
    "/transfer-orders/{id}/close",
    "Close a transfer order",
    _ACT,
    body=OrderClosing,
    description="Goods that were dispatched and never arrived leave the"
    " stock; `reason` is then required.",
)
def close_transfer_order(
    tx: Transaction, request: Request[Checked[OrderClosing]]
) -> ResourceResponse:
    """Close an order."""
    return _shown(transit.close_transfer_order(tx, request.id, request.body))


@routes.write(
    "POST",
    "/transfer-orders/{id}/cancel",
    "Cancel a transfer order",
    _ACT,
    description="Allocations are released; picked goods are available at their position again.",
)
def cancel_transfer_order(tx: Transaction, request: Request) -> ResourceResponse:
    """Cancel an order."""
    return _shown(order_picking.cancel_transfer_order(tx, request.id))


def _shown(record: Record[StoredTransferOrder]) -> ResourceResponse:
    return ResourceResponse(views.in_detail(record))


lambda_handler = ApiHandler(routes)
