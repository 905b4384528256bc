"""The work of moving stock between positions."""

from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
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


@routes.declare(
    "GET",
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
    """Page through the transfers."""
    page = service.list_transfers(store, request.parameters, request.tenant.timezone)
    return ListResponse(page, views.transfer_in_list)


@routes.declare(
    "GET", "/transfers/{id}", "Get a transfer", scope="transfers:read", response=TransferDetail
)
def get_transfer(store: Store, request: Request) -> ResourceResponse:
    """Read one transfer with its lines."""
    return ResourceResponse(views.transfer_in_detail(service.get_transfer(store, request.id)))


_WRITE: OperationOptions = {
    "scope": "transfers:write",
    "permission": "inventory.manage",
    "response": TransferDetail,
    "errors": ("conflict",),
}


@routes.declare(
    "POST",
    "/transfers",
    "Transfer stock",
    _WRITE,
    body=TransferDraft,
    collects_problems=True,
    statuses=(201,),
    description="Moves free stock between positions of one warehouse or of two, all lines at once"
    " or none: `transferred`, or `conflict` when too little is free. With `execute` false it is"
    " `pending` until it is executed. At most 12 lines inside a warehouse or 8 between two; one"
    " line alone may have 40 serials.",
)
def create_transfer(tx: Transaction, request: Request[TransferDraft]) -> ResourceResponse:
    """Move stock, now or later."""
    record = service.create_transfer(tx, request.body, request.problems)
    return ResourceResponse(views.transfer_in_detail(record), 201, f"/transfers/{record.id}")


@routes.declare(
    "POST",
    "/transfers/{id}/execute",
    "Execute a transfer",
    _WRITE,
    description="pending or error becomes transferred; or error, with the reason in `message`,"
    " when the goods are not there. Then it may be executed again.",
)
def execute_transfer(tx: Transaction, request: Request) -> ResourceResponse:
    """Move the stock of a transfer that waits."""
    return ResourceResponse(views.transfer_in_detail(service.execute_transfer(tx, request.id)))


@routes.declare(
    "POST",
    "/transfers/{id}/acknowledge",
    "Note the ERP's answer to a transfer",
    _WRITE,
    body=ErpAnswer,
    description="Once it is transferred. Each answer replaces the one before.",
)
def acknowledge_transfer(tx: Transaction, request: Request[ErpAnswer]) -> ResourceResponse:
    """Keep what the ERP answered."""
    record = service.acknowledge_transfer(tx, request.id, request.body)
    return ResourceResponse(views.transfer_in_detail(record))
