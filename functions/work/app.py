"""Work records: receipts, pickings and transfers."""

from functions.work import pickings, receiving, transfers
from shared.db.store import Store
from shared.http.door import Door
from shared.http.operations import Answer, ListAnswer, Routes
from shared.http.request import Request
from shared.work import service, views
from shared.work.models import (
    Picking,
    PickingDetail,
    PickingParameters,
    Receipt,
    ReceiptDetail,
    ReceiptParameters,
    StoredPicking,
    StoredReceipt,
    StoredTransfer,
    Transfer,
    TransferDetail,
    TransferParameters,
)

routes = Routes("work")


@routes.declare(
    "GET",
    "/receipts",
    "List receipts",
    scope="receipts:read",
    answer=Receipt,
    parameters=ReceiptParameters,
    description="`external_ref` is the reference of the entry document.",
)
def list_receipts(store: Store, request: Request) -> ListAnswer[StoredReceipt]:
    """Page through the receipts."""
    page = service.list_receipts(store, request.parameters, request.tenant.timezone)
    return ListAnswer(page, views.receipt_in_list)


@routes.declare(
    "GET", "/receipts/{id}", "Get a receipt", scope="receipts:read", answer=ReceiptDetail
)
def get_receipt(store: Store, request: Request) -> Answer:
    """Read one receipt with its lines."""
    return Answer(views.receipt_in_detail(service.get_receipt(store, request.id)))


@routes.declare(
    "GET",
    "/pickings",
    "List pickings",
    scope="pickings:read",
    answer=Picking,
    parameters=PickingParameters,
    description="`external_ref` is the reference of the exit document; of a picking that serves"
    " several, that of the first, which `document` shows. A lower priority goes first.",
)
def list_pickings(store: Store, request: Request) -> ListAnswer[StoredPicking]:
    """Page through the pickings."""
    page = service.list_pickings(store, request.parameters, request.tenant.timezone)
    return ListAnswer(page, views.picking_in_list)


@routes.declare(
    "GET", "/pickings/{id}", "Get a picking", scope="pickings:read", answer=PickingDetail
)
def get_picking(store: Store, request: Request) -> Answer:
    """Read one picking with its lines."""
    return Answer(views.picking_in_detail(service.get_picking(store, request.id)))


@routes.declare(
    "GET",
    "/transfers",
    "List transfers",
    scope="transfers:read",
    answer=Transfer,
    parameters=TransferParameters,
    description="`from_warehouse` and `to_warehouse` are warehouse codes.",
)
def list_transfers(store: Store, request: Request) -> ListAnswer[StoredTransfer]:
    """Page through the transfers."""
    page = service.list_transfers(store, request.parameters, request.tenant.timezone)
    return ListAnswer(page, views.transfer_in_list)


@routes.declare(
    "GET", "/transfers/{id}", "Get a transfer", scope="transfers:read", answer=TransferDetail
)
def get_transfer(store: Store, request: Request) -> Answer:
    """Read one transfer with its lines."""
    return Answer(views.transfer_in_detail(service.get_transfer(store, request.id)))


lambda_handler = Door(routes, receiving.routes, pickings.routes, transfers.routes)
