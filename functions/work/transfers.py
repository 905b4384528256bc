"""Routes of transfers."""

from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
from shared.warehouse.scanning.models import GOODS_TEXT, WorkGoods
from shared.warehouse.scanning.service import goods_of
from shared.warehouse.transfers import service, views
from shared.warehouse.transfers.models import (
    ErpAnswer,
    StoredTransfer,
    Transfer,
    TransferDetail,
    TransferDraft,
    TransferParameters,
)

routes = Routes()


@routes.read(
    "/transfers",
    "List transfers",
    scope="transfers:read",
    response=Transfer,
    parameters=TransferParameters,
    description="`from_warehouse` and `to_warehouse` are warehouse codes.",
)
def list_transfers(
    store: Store, request: Request[None, TransferParameters]
) -> ListResponse[StoredTransfer]:
    """Return a page of transfers."""
    page = service.list_transfers(store, request.parameters)
    return ListResponse(page, views.transfer_in_list)


@routes.read(
    "/transfers/{id}",
    "Get a transfer",
    scope="transfers:read",
    response=TransferDetail,
    errors=("gone",),
)
def get_transfer(store: Store, request: Request) -> ResourceResponse:
    """Return one transfer with its lines."""
    return ResourceResponse(views.transfer_in_detail(service.get_transfer(store, request.id)))


_WRITE: OperationOptions = {
    "scope": "transfers:write",
    "permission": "inventory.manage",
    "response": TransferDetail,
    "errors": ("conflict",),
}
_CREATE: OperationOptions = {**_WRITE, "errors": ("conflict", "rule_blocked")}
_ONE: OperationOptions = {**_WRITE, "errors": ("conflict", "gone")}


@routes.read(
    "/transfers/{id}/goods",
    "Get the goods of a transfer",
    scope="transfers:read",
    response=WorkGoods,
    errors=("gone",),
    description=GOODS_TEXT,
)
def get_transfer_goods(store: Store, request: Request) -> ResourceResponse:
    """Return what names the goods of one transfer on labels."""
    transfer = service.get_transfer(store, request.id).entity
    products = (line.product_id for line in transfer.lines)
    bins = (line.from_bin for line in transfer.lines)
    return ResourceResponse(goods_of(store, products, transfer.from_whs_code, bins))


@routes.write(
    "POST",
    "/transfers",
    "Transfer stock",
    _CREATE,
    body=TransferDraft,
    statuses=(201,),
    description="Moves free stock between positions of one warehouse or of two, all lines at once"
    " or none: the transfer is `transferred`, or the answer is `conflict` when too little is free,"
    " and with the setting `capacity` at `enforce` `rule_blocked` when more is moved than fits."
    " With `execute` false, the transfer is `pending` until it is executed. At most 11 lines within"
    " a warehouse (9 if each has another batch), 6 between two, or one line of 30 serials.",
)
def create_transfer(tx: Transaction, request: Request[Checked[TransferDraft]]) -> ResourceResponse:
    """Create a transfer, and move its stock unless `execute` is false."""
    record = service.create_transfer(tx, request.body)
    return ResourceResponse(views.transfer_in_detail(record), 201, f"/transfers/{record.id}")


@routes.write(
    "POST",
    "/transfers/{id}/execute",
    "Execute a transfer",
    _ONE,
    description="It is `error` when the goods are not there, or do not fit with the setting"
    " `capacity` at `enforce`, with the reason in `message`. It can then be executed again.",
)
def execute_transfer(tx: Transaction, request: Request) -> ResourceResponse:
    """Move the stock of a pending transfer."""
    return ResourceResponse(views.transfer_in_detail(service.execute_transfer(tx, request.id)))


@routes.write(
    "POST",
    "/transfers/{id}/acknowledge",
    "Acknowledge a transfer",
    _ONE,
    body=ErpAnswer,
    description="Stores the answer of the ERP to a transferred transfer; replaces an earlier one.",
)
def acknowledge_transfer(tx: Transaction, request: Request[Checked[ErpAnswer]]) -> ResourceResponse:
    """Store the answer of the ERP."""
    record = service.acknowledge_transfer(tx, request.id, request.body)
    return ResourceResponse(views.transfer_in_detail(record))


@routes.write(
    "DELETE",
    "/transfers/{id}",
    "Delete a transfer",
    _ONE,
    description="Only while it is pending or error; `conflict` once it is transferred. Its products"
    " and positions can then be deleted.",
)
def delete_transfer(tx: Transaction, request: Request) -> ResourceResponse:
    """Delete a transfer that was not executed, and return its last state."""
    return ResourceResponse(views.transfer_in_detail(service.delete_transfer(tx, request.id)))
