"""Routes of receipts."""

from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
from shared.warehouse.documents.models import Document
from shared.warehouse.receiving import goods_receipt, service, undo_receipt, views
from shared.warehouse.receiving.models import (
    Receipt,
    ReceiptDetail,
    ReceiptDraft,
    ReceiptLineDraft,
    ReceiptLinesDraft,
    ReceiptParameters,
    ReceivedLines,
    StoredReceipt,
)
from shared.warehouse.scanning.models import GOODS_TEXT, WorkGoods
from shared.warehouse.scanning.service import goods_of

routes = Routes()


@routes.read(
    "/receipts",
    "List receipts",
    scope="receipts:read",
    response=Receipt,
    parameters=ReceiptParameters,
    description="`external_ref` and `document_id` are the reference and the id of the entry"
    " document.",
)
def list_receipts(
    store: Store, request: Request[None, ReceiptParameters]
) -> ListResponse[StoredReceipt]:
    """Return a page of receipts."""
    page = service.list_receipts(store, request.parameters)
    return ListResponse(page, views.receipt_in_list)


@routes.read("/receipts/{id}", "Get a receipt", scope="receipts:read", response=ReceiptDetail)
def get_receipt(store: Store, request: Request) -> ResourceResponse:
    """Return one receipt with its lines."""
    return ResourceResponse(_detail(store, service.get_receipt(store, request.id)))


@routes.read(
    "/receipts/{id}/goods",
    "Get the goods of a receipt",
    scope="receipts:read",
    response=WorkGoods,
    description=GOODS_TEXT,
)
def get_receipt_goods(store: Store, request: Request) -> ResourceResponse:
    """Return what names the goods of one receipt on labels: those that its document expects."""
    receipt = service.get_receipt(store, request.id).entity
    document = service.entry_document_of(store, receipt).entity
    products = [line.product_id for line in document.lines]
    products += [line.product_id for line in receipt.lines]
    bins = (line.bin_code for line in receipt.lines)
    return ResourceResponse(goods_of(store, products, receipt.whs_code, bins))


def _detail(
    store: Store, record: Record[StoredReceipt], document: Document | None = None
) -> ReceiptDetail:
    """Return a receipt as GET shows it; `document` is its document if the request changes it."""
    differences = service.receipt_differences(store, record.entity, document)
    return views.receipt_in_detail(record, differences)


_WRITE: OperationOptions = {
    "scope": "receipts:write",
    "permission": "entries.manage",
    "response": ReceiptDetail,
    "errors": ("conflict", "stale_state"),
}


@routes.write(
    "POST",
    "/receipts",
    "Create a receipt",
    _WRITE,
    body=ReceiptDraft,
    statuses=(201,),
    description="For an entry document on which something is left to receive; a document may have"
    " several receipts.",
)
def create_receipt(tx: Transaction, request: Request[Checked[ReceiptDraft]]) -> ResourceResponse:
    """Create a receipt for an entry document."""
    record = service.create_receipt(tx, request.body)
    return ResourceResponse(_detail(tx.store, record), 201, f"/receipts/{record.id}")


@routes.write(
    "POST",
    "/receipts/{id}/start",
    "Start a receipt",
    _WRITE,
)
def start_receipt(tx: Transaction, request: Request) -> ResourceResponse:
    """Start a receipt."""
    return ResourceResponse(_detail(tx.store, service.start_receipt(tx, request.id)))


@routes.write(
    "POST",
    "/receipts/{id}/lines",
    "Receive goods",
    _WRITE,
    body=ReceiptLinesDraft,
    beside=ReceivedLines,
    description="The goods are in stock at once. They count first for"
    " the document lines that name their batch. They fill the lines of the item up to the ordered"
    " quantity, then up to the tolerance of each. When all receipts of the document together exceed"
    " that, it is refused with `approval_required`, unless a user with `approvals.grant` sends"
    " `approve`. Goods that have expired are received only with the `inventory_status` quarantine,"
    " damaged or blocked. At most 20 serials per line. `lines` are several lines, and `as_ordered`"
    " receives what is open of products that need no batch, serials or expiry date, at `bin_code`"
    " or the destinations on the document; `left` names the other open lines. All of them are"
    " checked before the first one is applied; one that another request makes impossible meanwhile"
    " is left out and named in `unapplied`. A repeat with the same Idempotency-Key continues where"
    " the request ended. With the setting `capacity` at `enforce`, more than fits is"
    " `rule_blocked`.",
    errors=("conflict", "rule_blocked", "approval_required"),
)
def receive_line(tx: Transaction, request: Request[Checked[ReceiptLinesDraft]]) -> ResourceResponse:
    """Receive goods into stock."""
    record, document, beside = goods_receipt.receive_lines(tx, request.id, request.body)
    return ResourceResponse(_detail(tx.store, record, document.entity), beside=beside)


@routes.write(
    "POST",
    "/receipts/{id}/lines/undo",
    "Undo received goods",
    _WRITE,
    body=ReceiptLineDraft,
    description="Takes the body of a line. The goods leave the stock, those that were received last"
    " first, and the entry document follows. `bin_code` may be left out when such goods were"
    " received at one position; `expiry_date` and `approve` do not matter. More than was received"
    " there is refused; `conflict` when the goods are no longer there or not free.",
)
def undo_line(tx: Transaction, request: Request[Checked[ReceiptLineDraft]]) -> ResourceResponse:
    """Take received goods out of the stock."""
    record, document = undo_receipt.undo_line(tx, request.id, request.body)
    return ResourceResponse(_detail(tx.store, record, document.entity))


@routes.write(
    "POST",
    "/receipts/{id}/finalize",
    "Finalize a receipt",
    _WRITE,
)
def finalize_receipt(tx: Transaction, request: Request) -> ResourceResponse:
    """Finalize a receipt."""
    return ResourceResponse(_detail(tx.store, service.finalize_receipt(tx, request.id)))


@routes.write(
    "POST",
    "/receipts/{id}/synchronize",
    "Synchronize a receipt",
    _WRITE,
    description="The ERP has booked the receipt.",
)
def synchronize_receipt(tx: Transaction, request: Request) -> ResourceResponse:
    """Record that the ERP has booked a receipt."""
    return ResourceResponse(_detail(tx.store, service.synchronize_receipt(tx, request.id)))


@routes.write(
    "POST",
    "/receipts/{id}/cancel",
    "Cancel a receipt",
    _WRITE,
    description="The received goods leave the stock;"
    " `conflict` when they are no longer there or not free.",
)
def cancel_receipt(tx: Transaction, request: Request) -> ResourceResponse:
    """Cancel a receipt."""
    return ResourceResponse(_detail(tx.store, undo_receipt.cancel_receipt(tx, request.id)))


@routes.write(
    "POST",
    "/receipts/{id}/revert",
    "Revert a receipt",
    _WRITE,
    description="The received goods leave the stock;"
    " `conflict` when they are no longer there or not free.",
)
def revert_receipt(tx: Transaction, request: Request) -> ResourceResponse:
    """Revert a finalized receipt."""
    return ResourceResponse(_detail(tx.store, undo_receipt.revert_receipt(tx, request.id)))
