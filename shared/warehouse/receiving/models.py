"""Models of receipts: request bodies, stored records and responses."""

import operator
from collections.abc import Sized
from typing import Annotated, Any, Literal, TypedDict

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from shared.kernel.fields import (
    Code,
    Day,
    Identifier,
    Input,
    Line,
    Note,
    Number,
    Stored,
    StoredDay,
    Timestamp,
)
from shared.kernel.list_parameters import Beginnings, begins_with
from shared.warehouse.approvals.models import Approver
from shared.warehouse.catalog.models import GoodsDraft, OptionalGoods
from shared.warehouse.catalog.several_lines import MAX_LINES as MAX_REQUEST_LINES
from shared.warehouse.catalog.several_lines import UnappliedLines
from shared.warehouse.documents.models import Difference
from shared.warehouse.stock.models import ShelfStatus
from shared.warehouse.work.models import (
    DocumentReference,
    Fill,
    StoredWork,
    WorkParameters,
    WorkView,
)


class StoredReceiptLine(Stored):
    """Goods that were received together.

    `document_lines` is the quantity that counts for each line of the document, by line number, in
    the order in which they were filled.
    `stock_ids` are the stock rows that increased, one per serial. `undone` is true once the
    goods have left the stock again.
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


class ReceiptApproval(Stored):
    """What a user approved although a rule refuses it.

    `received_qty` is what all receipts of the document have received with the approved goods,
    `allowed_qty` the ordered quantity plus the tolerance.
    """

    code: Literal["over_receipt"]
    item_code: str
    qty: Number = Field(description="Quantity of the line that was approved.")
    ordered_qty: Number
    allowed_qty: Number
    received_qty: Number
    decided_by: Approver
    decided_at: Timestamp


class StoredReceipt(StoredWork):
    """A receipt as stored; its goods arrive at the warehouse of its document.

    `announced` is whether the document announces serials or batches; it is true for a receipt that
    was stored without it, whose document may announce some. `external_refs` has the references of
    the lines of the document that its goods filled, by line number.
    """

    document: DocumentReference
    whs_code: str
    announced: bool = True
    lines: list[StoredReceiptLine] = Field(default_factory=list)
    approvals: list[ReceiptApproval] = Field(default_factory=list)
    external_refs: dict[int, str] = Field(default_factory=dict, exclude_if=operator.not_)


class Receipt(WorkView):
    """A receipt in a list."""


class ReceiptLine(TypedDict):
    """Goods that were received together."""

    product_id: int
    item_code: str
    qty: Number
    batch_num: str | None
    serials: list[str]
    expiry_date: StoredDay | None
    bin_code: str | None
    fills: list[Fill]


class ReceiptDetail(Receipt):
    """A receipt with its lines."""

    lines: list[ReceiptLine]
    differences: list[Difference]
    approvals: list[ReceiptApproval] = Field(
        description="What users approved in this receipt, also of lines that were undone since."
    )
    actions: list[str]


class ReceiptParameters(WorkParameters):
    """Parameters of the list of receipts; a receipt is found by its entry document."""

    sort: Literal[
        "created_at", "-created_at", "updated_at", "-updated_at",
        "finalized_at", "-finalized_at",
    ] = "-created_at"  # fmt: skip
    search: Annotated[
        Beginnings | None, begins_with("`doc_num` or `external_ref` of its document")
    ] = None


MAX_SERIALS = 20
"""Maximum number of serials per request: all of their stock must fit into one transaction."""


def _limit_serials(value: Any) -> Any:
    if isinstance(value, Sized) and len(value) > MAX_SERIALS:
        raise PydanticCustomError(
            "serials",
            f"must have at most {MAX_SERIALS} entries; send the others in further requests",
        )
    return value


type _Serials = Annotated[
    list[Code], Field(max_length=MAX_SERIALS), BeforeValidator(_limit_serials)
]


class ReceiptDraft(Input):
    """A new receipt for an entry document."""

    document_id: Identifier
    operator_id: Identifier | None = None
    concept: Line | None = None
    comments: Note | None = None


class _ArrivalFields(Input):
    """What a body says of goods that arrive, besides the product and the quantity."""

    bin_code: Code | None = Field(
        default=None,
        description="Where the goods were put; default is the destination on the document.",
    )
    batch: Code | None = None
    serials: _Serials | None = None
    expiry_date: Day | None = Field(
        default=None,
        description="Default is that of the document line, if it names the same batch.",
    )
    inventory_status: ShelfStatus | None = Field(
        default=None,
        description="Default available. Goods that have expired are refused as available; they can"
        " be received as quarantine, damaged or blocked.",
    )
    approve: bool | None = Field(
        default=None,
        description="Approves, by a user with approvals.grant, more than the tolerance allows.",
    )


class ReceiptLineDraft(_ArrivalFields, GoodsDraft):
    """Goods that were received together."""


class ReceiptLinesDraft(_ArrivalFields, OptionalGoods):
    """What was received: one line, several in `lines`, or all that is open as it was ordered.

    Beside `lines`, no other field is allowed, and beside `as_ordered` only `bin_code`.
    """

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    lines: list[ReceiptLineDraft] = Field(
        default_factory=list, min_length=1, max_length=MAX_REQUEST_LINES
    )
    as_ordered: bool | None = Field(
        default=None,
        description="Whether to receive what is open of products that need no batch, serials or"
        " expiry date.",
    )


class CheckedReceiptLine(ReceiptLineDraft):
    """A line of a request in base units that is checked, and the approval that it has, if any."""

    approval: ReceiptApproval | None = None


type ReceiptNeed = Literal["batch", "serials", "expiry_date"]


class OpenReceiptLine(Stored):
    """A line of the document that `as_ordered` leaves open, and the fields that its goods need."""

    line_num: int
    item_code: str
    qty: Number
    needs: list[ReceiptNeed]


class ReceivedLines(UnappliedLines):
    """What several lines, or `as_ordered`, did not receive; `left` is empty without that."""

    left: list[OpenReceiptLine]
