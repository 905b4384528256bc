"""Models of returns: request bodies, stored records and responses."""

import operator
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Literal, TypedDict

from pydantic import Field

from shared.kernel.fields import (
    ZERO,
    Code,
    Day,
    Identifier,
    Input,
    LineReference,
    Note,
    Number,
    Reference,
    Stored,
    Timestamp,
)
from shared.kernel.list_parameters import (
    Beginnings,
    IdParameter,
    OneOf,
    PeriodParameters,
    Text,
    begins_with,
)
from shared.kernel.metadata import LineMetadata, Metadata, stored_metadata
from shared.warehouse.catalog.models import CountedLine, GoodsDraft
from shared.warehouse.documents.models import Source
from shared.warehouse.work.models import Operator


def return_code(number: int) -> str:
    """Return the code of a return that people see."""
    return f"RT-{number}"


MAX_LINES = 1000
MAX_GOODS_LINES = 8
MAX_DISPOSITION_LINES = 6
MAX_SERIALS = 20
"""Maximum number of lines of one arrival or of one request with dispositions, and of serials of a
line of it. `rules` limits them together."""
DEFAULT_PROVIDER = "PROVIDER"
"""Partner of the exit documents for goods that go back to their provider."""

LOST = "lost"
"""Reason of the movements of lost goods."""

type ReturnStatus = Literal["expected", "receiving", "received", "dispositioned", "cancelled"]
"""Status of a return, in the order in which a return gets them."""
type ReturnLineStatus = Literal[
    "open", "partial", "received", "short", "dispositioned", "cancelled"
]
type ReturnReason = Literal["damaged", "defective", "wrong_item", "not_wanted", "other"]
type Disposition = Literal["restock", "quarantine", "scrap", "lost", "return_to_provider"]


class ReturnLineDraft(GoodsDraft):
    """Goods that a customer has announced to send back."""

    reason: ReturnReason | None = None
    batch: Code | None = None
    serials: list[Code] | None = None
    external_ref: LineReference | None = None
    metadata: LineMetadata = Field(default={})


class ReturnDraft(Input):
    """A new return."""

    exit_document_id: Identifier | None = Field(
        default=None,
        description="Id of the exit document with which the goods left. Null for a blind return,"
        " which the company's setting `blind_returns` must allow.",
    )
    external_ref: Reference | None = None
    warehouse_code: Code | None = Field(
        default=None,
        description="Where the goods arrive; default is the warehouse of the exit document."
        " Required for a blind return.",
    )
    partner_code: Code | None = Field(
        default=None,
        description="The customer; default is the partner of the exit document. Required for a"
        " blind return.",
    )
    reason: Note | None = None
    metadata: Metadata = Field(default={})
    lines: Annotated[list[ReturnLineDraft], Field(min_length=1, max_length=MAX_LINES)]


class ReturnGoodsDraft(GoodsDraft):
    """Goods of a return that arrived, and the position where they were put."""

    bin_code: Code
    batch: Code | None = None
    serials: Annotated[list[Code], Field(max_length=MAX_SERIALS)] | None = None
    expiry_date: Day | None = Field(
        default=None, description="Default is that of the batch. It may have passed."
    )


class ReturnArrival(Input):
    """Goods of a return that arrived together."""

    lines: Annotated[list[ReturnGoodsDraft], Field(min_length=1, max_length=MAX_GOODS_LINES)]


class DispositionDraft(GoodsDraft):
    """What happens to received goods of a return."""

    action: Disposition
    batch: Code | None = None
    serials: Annotated[list[Code], Field(max_length=MAX_SERIALS)] | None = None
    bin_code: Code | None = Field(
        default=None,
        description="Where restocked goods, and those that go back to the provider, are put;"
        " default is where they are.",
    )


class DispositionsDraft(Input):
    """What happens to received goods of a return, all of them or none."""

    partner_code: Code | None = Field(
        default=None,
        description=f"Partner of the exit document for `return_to_provider`; default"
        f" {DEFAULT_PROVIDER}.",
    )
    lines: Annotated[list[DispositionDraft], Field(min_length=1, max_length=MAX_DISPOSITION_LINES)]


# As stored


class ReturnedStock(Stored):
    """Goods of a line that were received at one position, of one batch.

    `open_qty` and `open_serials` are those of them without a disposition.
    """

    position_id: int
    bin_code: str
    batch_num: str | None = None
    qty: Number
    open_qty: Number
    serials: list[str] = Field(default_factory=list)
    open_serials: list[str] = Field(default_factory=list)


class StoredReturnLine(CountedLine):
    """A line as stored. `qty`, `batch_num` and `serials` are what was announced.

    `wrong_item` is whether the product is not on the exit document, which does not limit it then.
    """

    id: int
    line_num: int
    external_ref: str | None = Field(default=None, exclude_if=operator.not_)
    product_id: int
    item_code: str
    product_name: str | None = None
    reason: ReturnReason | None = None
    wrong_item: bool = Field(default=False, exclude_if=operator.not_)
    batch_num: str | None = None
    serials: list[str] = Field(default_factory=list)
    goods: list[ReturnedStock] = Field(default_factory=list)
    restocked_qty: Number = ZERO
    quarantined_qty: Number = ZERO
    scrapped_qty: Number = ZERO
    lost_qty: Number = ZERO
    returned_to_provider_qty: Number = ZERO
    metadata: dict[str, str] = stored_metadata()

    @property
    def received_qty(self) -> Decimal:
        """Quantity that arrived."""
        return sum((goods.qty for goods in self.goods), ZERO)

    @property
    def open_qty(self) -> Decimal:
        """Received quantity without a disposition."""
        return sum((goods.open_qty for goods in self.goods), ZERO)


class StoredReturn(Stored):
    """A return as stored.

    `provider_documents` are the ids of the exit documents with which goods of it go back to their
    provider.
    """

    id: int
    status: ReturnStatus
    external_ref: str | None = None
    exit_document_id: int | None = None
    card_code: str
    card_name: str | None = None
    warehouse_id: int
    whs_code: str
    source: Source
    reason: str | None = None
    operator: Operator | None = None
    received_at: Timestamp | None = None
    dispositioned_at: Timestamp | None = None
    created_at: Timestamp
    updated_at: Timestamp
    import_id: int | None = None
    provider_documents: list[int] = Field(default_factory=list)
    metadata: dict[str, str] = stored_metadata()
    lines: list[StoredReturnLine]


class ReturnedGoods(Stored):
    """What returns have taken of the goods of an exit document.

    A return takes what it has received and, until its receiving ends, what it has announced. The
    mappings are by the id of the product: quantities, those of its batches, and serials.
    """

    qty: dict[int, Number] = Field(default_factory=dict)
    batches: dict[int, dict[str, Number]] = Field(default_factory=dict)
    serials: dict[int, list[str]] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Part:
    """Goods at one position that a disposition or an undo takes, of line `at` of the body.

    Of a product that is managed by serial, it has one serial.
    """

    at: int
    product_id: int
    position_id: int
    bin_code: str
    batch_num: str | None
    serial: str | None
    qty: Decimal


# As answered


class ReturnLine(TypedDict):
    """A line of a return."""

    id: int
    line_num: int
    external_ref: str | None
    product_id: int
    item_code: str
    product_name: str | None
    reason: ReturnReason | None
    qty: Number
    unit: str | None
    unit_qty: Number | None
    received_qty: Number
    restocked_qty: Number
    quarantined_qty: Number
    scrapped_qty: Number
    lost_qty: Number
    returned_to_provider_qty: Number
    batch_num: str | None
    serial_numbers: list[str]
    status: ReturnLineStatus
    metadata: dict[str, str]


class Return(Stored):
    """A return in a list, without its lines."""

    object: Literal["return"] = "return"
    id: int
    code: str
    status: ReturnStatus
    status_label: str
    external_ref: str | None
    exit_document_id: int | None
    exit_doc_num: str | None
    card_code: str
    card_name: str | None
    warehouse_code: str
    source: Source
    reason: str | None
    metadata: dict[str, str]
    operator: Operator | None
    received_at: Timestamp | None
    dispositioned_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp


class ReturnDifference(TypedDict):
    """A product of a return that is not on its exit document."""

    line_num: int
    item_code: str
    kind: Literal["wrong_item"]
    value: str


class ReturnDetail(Return):
    """A return with its lines, and how they differ from the exit document."""

    lines: list[ReturnLine]
    differences: list[ReturnDifference]
    actions: list[str]


class ReturnParameters(PeriodParameters):
    """Parameters of the list of returns."""

    sort: Literal["created_at", "-created_at", "updated_at", "-updated_at"] = "-created_at"
    search: Annotated[
        Beginnings | None, begins_with("`code`, `external_ref`, `card_code` or `card_name`")
    ] = None
    status: OneOf[ReturnStatus] | None = None
    warehouse: Text | None = Field(
        default=None, description="Code of the warehouse where the goods arrive."
    )
    exit_document_id: IdParameter | None = None
    external_ref: Text | None = None
