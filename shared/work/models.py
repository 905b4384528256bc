"""What the work on documents is: receipts, pickings, transfers; stored and answered."""

from typing import Literal

from pydantic import Field

from shared.fields import Number, Stored, StoredDay, Timestamp
from shared.parameters import PeriodParameters, Text
from shared.stock.models import ShelfStatus

type WorkStatus = Literal[
    "pending", "started", "finalized", "synchronized", "cancelled", "reverted"
]
"""State of a receipt or picking."""
type PickStatus = Literal["open", "partial", "picked", "short"]
"""State of a picking's line."""
type ShortageReason = Literal["could_not_locate", "damaged", "expired", "other"]
type TransferStatus = Literal["pending", "transferred", "error"]


class Operator(Stored):
    """The person who did the work."""

    id: int
    name: str | None


class DocumentReference(Stored):
    """The document that work is done for, as it was when the work was created.

    `type` is the internal type: purchase_order, sale_order, transfer_order … Ids are unique
    among entry documents, among exit documents and among transfer orders, not over all three.
    """

    id: int
    type: str
    doc_num: str | int | None
    card_code: str | None
    external_ref: str | None


# What is stored


class _StoredWork(Stored):
    id: int
    uuid: str
    concept: str | None = None
    status: WorkStatus
    comments: str | None = None
    user_id: int | None = None
    operator: Operator | None = None
    started_at: Timestamp | None = None
    finalized_at: Timestamp | None = None
    created_at: Timestamp
    updated_at: Timestamp


class StoredReceiptLine(Stored):
    """What was received in one go.

    `document_lines` tells how much of it counts for which line of the document (by line_num);
    `stock_ids` are the stock rows that it raised, one per serial; `undone` once it has been put
    back out of stock.
    """

    product_id: int
    item_code: str
    qty: Number
    batch_num: str | None = None
    serials: list[str] = Field(default_factory=list)
    document_lines: dict[int, Number] = Field(default_factory=dict)
    position_id: int | None = None
    bin_code: str | None = None
    inventory_status: str = "available"
    expiry_date: StoredDay | None = None
    stock_ids: list[int] = Field(default_factory=list)
    undone: bool = False


class StoredReceipt(_StoredWork):
    """A receipt as stored; goods come to the warehouse of its document."""

    document: DocumentReference | None = None
    whs_code: str | None = None
    lines: list[StoredReceiptLine] = Field(default_factory=list)


class Allocation(Stored):
    """Stock that is kept for a line: so much of one stock row."""

    stock_id: int
    position_id: int
    bin_code: str
    batch_num: str | None = None
    serial: str | None = None
    qty: Number


class Pick(Stored):
    """What was taken from a position and waits there, staged, as the stock row `staged_id`."""

    staged_id: int
    position_id: int
    bin_code: str
    batch_num: str | None = None
    serial: str | None = None
    qty: Number
    dispatched: bool = False


class StoredPickingLine(Stored):
    """What is to be picked for the line `document_line` (its line_num) of a document.

    `batch_num` is the batch that the document asks for, if it does.
    """

    document_id: int
    document_line: int
    product_id: int
    item_code: str
    qty: Number
    picked_qty: Number
    status: PickStatus
    batch_num: str | None = None
    allocations: list[Allocation] = Field(default_factory=list)
    picks: list[Pick] = Field(default_factory=list)


class StoredPicking(_StoredWork):
    """A picking as stored; it may serve several documents. A lower priority goes first.

    `due_date` is the first day on which one of its documents is due. `wave_id` is the wave
    that took it last; it is in that wave unless the wave was cancelled or never came about.
    """

    priority: int | None = None
    due_date: StoredDay | None = None
    carrier_code: str | None = None
    has_shortage: bool = False
    shortage_reason: ShortageReason | None = None
    documents: list[DocumentReference] = Field(default_factory=list)
    whs_code: str
    warehouse_id: int
    wave_id: int | None = None
    lines: list[StoredPickingLine] = Field(default_factory=list)


class TransferLine(Stored):
    """What a transfer moves from one position to another."""

    product_id: int
    item_code: str
    qty: Number
    batch_num: str | None = None
    serials: list[str] = Field(default_factory=list)
    from_bin: str | None = None
    to_bin: str | None = None
    inventory_status: ShelfStatus = "available"


class StoredTransfer(Stored):
    """A movement record as stored.

    `sap_status`, `doc_entry` and `message` are the ERP's answer; in the state error `message`
    tells why nothing was moved.
    """

    id: int
    status: TransferStatus
    sap_status: str | None = None
    from_whs_code: str | None = None
    to_whs_code: str | None = None
    doc_entry: int | str | None = None
    message: str | None = None
    reason: str | None = None
    comments: str | None = None
    user_id: int | None = None
    operator: Operator | None = None
    created_at: Timestamp
    updated_at: Timestamp
    lines: list[TransferLine] = Field(default_factory=list)


# What is answered


class _WorkView(Stored):
    id: int
    uuid: str | None
    concept: str | None
    status: WorkStatus
    comments: str | None
    user_id: int | None
    operator: Operator | None
    document: DocumentReference | None
    started_at: Timestamp | None
    finalized_at: Timestamp | None
    created_at: Timestamp | None
    updated_at: Timestamp | None


class Receipt(_WorkView):
    """A receipt in a list."""


class ReceiptLine(Stored):
    """What was received in one go."""

    product_id: int
    item_code: str | None
    qty: Number
    batch_num: str | None
    serials: list[str]


class ReceiptDetail(Receipt):
    """A receipt with its lines."""

    lines: list[ReceiptLine]


class Picking(_WorkView):
    """A picking in a list; `document` is the first of those it serves."""

    code: str
    priority: int | None
    has_shortage: bool


class PickingLine(Stored):
    """What is to be picked, and from where."""

    product_id: int
    item_code: str | None
    qty: Number
    picked_qty: Number
    bin_code: str | None
    batch_num: str | None
    serials: list[str]
    status: PickStatus


class PickingDetail(Picking):
    """A picking with its lines."""

    carrier_code: str | None
    lines: list[PickingLine]


class Transfer(Stored):
    """A movement record in a list; `wms_status` is its status."""

    id: int
    status: TransferStatus
    wms_status: TransferStatus
    sap_status: str | None
    from_whs_code: str | None
    to_whs_code: str | None
    doc_entry: int | str | None
    message: str | None
    user_id: int | None
    operator: Operator | None
    created_at: Timestamp | None
    updated_at: Timestamp | None


class TransferDetail(Transfer):
    """A movement record with what it moves."""

    lines: list[TransferLine]


# Parameters


class _WorkParameters(PeriodParameters):
    status: WorkStatus | None = None
    external_ref: Text | None = None


class ReceiptParameters(_WorkParameters):
    """Parameters of the list of receipts; `external_ref` is the entry document's."""

    sort: Literal[
        "created_at", "-created_at", "updated_at", "-updated_at",
        "finalized_at", "-finalized_at",
    ] = "-created_at"  # fmt: skip


class PickingParameters(_WorkParameters):
    """Parameters of the list of pickings; `external_ref` is the first exit document's."""

    sort: Literal[
        "created_at", "-created_at", "updated_at", "-updated_at",
        "finalized_at", "-finalized_at", "priority", "-priority",
    ] = "-created_at"  # fmt: skip


class TransferParameters(PeriodParameters):
    """Parameters of the list of transfers; the warehouses are codes."""

    sort: Literal["created_at", "-created_at", "updated_at", "-updated_at"] = "-created_at"
    status: TransferStatus | None = None
    from_warehouse: Text | None = None
    to_warehouse: Text | None = None
