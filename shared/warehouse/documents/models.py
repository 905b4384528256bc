"""Models of entry and exit documents: request bodies, stored documents and responses."""

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
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
    Measure,
    Name,
    NamedNumber,
    Note,
    Number,
    Reference,
    Stored,
    StoredDay,
    Timestamp,
)
from shared.kernel.list_parameters import Beginnings, KeyedParameters, OneOf, Text, begins_with
from shared.kernel.metadata import (
    LineMetadata,
    LineMetadataChange,
    Metadata,
    MetadataChange,
    stored_metadata,
)
from shared.warehouse.catalog.models import CountedLine, UnitGoods
from shared.warehouse.documents.vocabulary import (
    EntryType,
    ExitType,
    Priority,
    PriorityNumber,
)
from shared.warehouse.settings.values import DispatchRest
from shared.warehouse.work.address import (
    CarrierCode,
    ShipToAddress,
    ShipToAddressDraft,
    StoredAddress,
)

MAX_LINES = 1000

type DocumentStatus = Literal["open", "assigned", "partial-complete", "completed", "closed"]
type DocumentLineStatus = Literal["open", "partial", "complete", "closed"]
type ShippedRest = Literal["open", "closed"]
"""Whether a dispatch has left the rest of a document open."""
type Source = Literal["api", "import", "web", "sap"]
type DifferenceKind = Literal[
    "unexpected_serial", "missing_serial", "unexpected_batch", "missing_batch"
]


class LineDraft(UnitGoods):
    """One line of a document to be created."""

    batch: Code | None = None
    expiry_date: Day | None = None
    serials: list[Code] | None = None
    external_ref: LineReference | None = None
    metadata: LineMetadata = Field(default={})


class EntryLineDraft(LineDraft):
    """One line of an entry document to be created."""

    destination_bin: Code | None = None


class DocumentDraft(Input):
    """Fields that the bodies of entry and exit documents share."""

    external_ref: Reference
    type: str
    doc_date: Day
    due_date: Day | None = None
    partner_code: Code
    partner_name: Name | None = None
    warehouse_code: Code
    comments: Note | None = None
    metadata: Metadata = Field(default={})


class EntryDraft(DocumentDraft):
    """A new entry document."""

    type: EntryType
    lines: Annotated[list[EntryLineDraft], Field(min_length=1, max_length=MAX_LINES)]


class ExitDraft(DocumentDraft):
    """A new exit document."""

    type: ExitType
    priority: Priority | None = None
    ship_to: Note | None = None
    ship_to_address: ShipToAddressDraft | None = None
    carrier_code: CarrierCode | None = None
    service_code: CarrierCode | None = None
    lines: Annotated[list[LineDraft], Field(min_length=1, max_length=MAX_LINES)]
    hold_id: Identifier | None = None


class LineChange(LineDraft):
    """A changed line of a document, or without `line_num` a new one."""

    line_num: NamedNumber | None = None
    item_code: Code = ""
    qty: Measure
    metadata: LineMetadataChange = Field(default={})  # type: ignore[assignment] # null removes


class EntryLineChange(LineChange):
    """A changed line of an entry document, or without `line_num` a new one."""

    destination_bin: Code | None = None


class DocumentChange(Input):
    """The fields that changes of entry and exit documents share; those not sent stay."""

    due_date: Day | None = None
    partner_name: Name | None = None
    comments: Note | None = None
    metadata: MetadataChange = Field(default={})


class EntryChange(DocumentChange):
    """A change of an entry document."""

    lines: Annotated[list[EntryLineChange], Field(max_length=MAX_LINES, default_factory=list)]


class ExitChange(DocumentChange):
    """A change of an exit document."""

    priority: Priority | None = None
    ship_to: Note | None = None
    ship_to_address: ShipToAddressDraft | None = None
    carrier_code: CarrierCode | None = None
    service_code: CarrierCode | None = None
    lines: Annotated[list[LineChange], Field(max_length=MAX_LINES, default_factory=list)]


class DispatchDraft(Input):
    """The dispatch of an exit document."""

    rest: DispatchRest | None = Field(
        default=None,
        description="What becomes of the quantities that are not picked: `close` gives them up and"
        " closes the document, `keep` leaves them open for further pickings. Default is the setting"
        " `dispatch_rest`.",
    )


class DocumentLine(CountedLine):
    """One line as stored.

    `done_qty` is the received or picked quantity, `dispatched_qty` what has left of it with
    dispatches that kept the rest open.
    """

    line_num: int
    external_ref: str | None = Field(default=None, exclude_if=operator.not_)
    product_id: int
    item_code: str
    open_qty: Number
    done_qty: Number = ZERO
    dispatched_qty: Number = Field(default=ZERO, exclude_if=operator.not_)
    status: DocumentLineStatus = "open"
    batch: str | None = None
    expiry_date: str | None = None
    serials: list[str] = Field(default_factory=list)
    bin_code: str | None = None
    metadata: dict[str, str] = stored_metadata()

    @property
    def staged_qty(self) -> Decimal:
        """The picked quantity that has not left, of an exit document that is not closed."""
        return self.done_qty - self.dispatched_qty


class Document(Stored):
    """An entry or exit document as stored.

    `works` has the ids of the receipts or pickings in progress, `finished` the ids of those that
    ended with goods. `dispatched_works` has the ids of the pickings, no longer in `finished`, whose
    goods left with dispatches that kept the rest open. `named` has the ids of the master data that
    the document refers to, by facet (product, warehouse, position). `import_id` is the import that
    created the document.
    """

    id: int
    type: str
    external_ref: str
    source: Source
    status: DocumentStatus
    card_code: str
    card_name: str | None = None
    doc_date: str
    due_date: str | None = None
    comments: str | None = None
    priority: int | None = None
    ship_to: str | None = None
    ship_to_address: StoredAddress | None = Field(default=None, exclude_if=operator.not_)
    carrier_code: str | None = Field(default=None, exclude_if=operator.not_)
    service_code: str | None = Field(default=None, exclude_if=operator.not_)
    whs_code: str
    created_at: Timestamp
    updated_at: Timestamp
    works: list[int] = Field(default_factory=list)
    finished: list[int] = Field(default_factory=list)
    dispatched_works: list[int] = Field(default_factory=list, exclude_if=operator.not_)
    named: dict[str, list[int]] = Field(default_factory=dict)
    import_id: int | None = None
    metadata: dict[str, str] = stored_metadata()
    lines: list[DocumentLine]

    @property
    def gone_works(self) -> list[int]:
        """The pickings whose goods have left, of an exit document."""
        return [*self.dispatched_works, *(self.finished if self.status == "closed" else ())]

    @property
    def is_open(self) -> bool:
        """Whether quantities of the document are open, or work on it is in progress."""
        return self.status not in {"completed", "closed"} or bool(self.works)


@dataclass(frozen=True, slots=True)
class DocumentProgress:
    """The effect of a receipt or picking on a document.

    `done` has the change of the received or picked quantity by line_num; it is negative if
    work is undone. `started_work` and `ended_work` are ids of work that begins or ends; it may
    end `with_goods` in stock or staged. `item_codes` has the present codes of products by their
    ids; their lines get these, unless the document is closed.
    """

    done: Mapping[int, Decimal] = field(default_factory=dict)
    started_work: int | None = None
    ended_work: int | None = None
    with_goods: bool = False
    item_codes: Mapping[int, str] = field(default_factory=dict)


class EntryDocumentLine(TypedDict):
    """One line of an entry document."""

    line_num: int
    external_ref: str | None
    item_code: str
    qty: Number
    unit: str | None
    unit_qty: Number | None
    open_qty: Number
    received_qty: Number
    whs_code: str
    status: DocumentLineStatus
    metadata: dict[str, str]


class ExitDocumentLine(TypedDict):
    """One line of an exit document."""

    line_num: int
    external_ref: str | None
    item_code: str
    qty: Number
    unit: str | None
    unit_qty: Number | None
    open_qty: Number
    picked_qty: Number
    whs_code: str
    status: DocumentLineStatus
    metadata: dict[str, str]


class ShippedLine(TypedDict):
    """The quantity of a line of an exit document that left with a dispatch."""

    line_num: int
    qty: Number


class _DocumentView(Stored):
    id: int
    doc_num: str
    type: str
    external_ref: str
    source: Source
    status: DocumentStatus
    card_code: str
    card_name: str | None
    doc_date: StoredDay
    due_date: StoredDay | None
    comments: str | None
    metadata: dict[str, str]


class EntryDocument(_DocumentView):
    """An entry document."""

    type: EntryType
    created_at: Timestamp
    updated_at: Timestamp
    lines: list[EntryDocumentLine]


class Difference(TypedDict):
    """A serial or batch that was received and not announced, or the other way round."""

    line_num: int
    item_code: str
    kind: DifferenceKind
    value: str


class EntryDocumentDetail(EntryDocument):
    """An entry document with the differences between the goods announced and those received."""

    differences: list[Difference]
    actions: list[str]


class ExitDocument(_DocumentView):
    """An exit document. Documents with a lower `priority` number are picked first."""

    type: ExitType
    priority: PriorityNumber | None
    ship_to: str | None
    ship_to_address: ShipToAddress | None
    carrier_code: str | None
    service_code: str | None
    created_at: Timestamp
    updated_at: Timestamp
    lines: list[ExitDocumentLine]


class ExitDocumentDetail(ExitDocument):
    """An exit document, with the actions that its state admits."""

    actions: list[str]


class _DocumentParameters(KeyedParameters):
    search: Annotated[
        Beginnings | None, begins_with("`doc_num`, `external_ref`, `card_code` or `card_name`")
    ] = None
    external_ref: Text | None = None
    type: str | None = None
    card_code: Text | None = None
    status: OneOf[DocumentStatus] | None = None
    source: Source | None = None
    due_to: Day | None = None


class EntryParameters(_DocumentParameters):
    """Parameters of the list of entry documents."""

    sort: Literal[
        "created_at", "-created_at", "updated_at", "-updated_at", "doc_date", "-doc_date"
    ] = "-created_at"
    type: EntryType | None = None


class ExitParameters(_DocumentParameters):
    """Parameters of the list of exit documents."""

    sort: Literal[
        "created_at", "-created_at", "updated_at", "-updated_at",
        "doc_date", "-doc_date", "priority", "-priority",
    ] = "-created_at"  # fmt: skip
    type: ExitType | None = None
    priority: Priority | None = None
