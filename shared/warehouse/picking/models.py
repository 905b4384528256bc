"""Pickings as stored, as shown and as sent by callers."""

from typing import Annotated, Literal

from pydantic import Field

from shared.kernel.fields import (
    Code,
    Identifier,
    Input,
    Line,
    Note,
    Number,
    Quantity,
    SmallInteger,
    Stored,
    StoredDay,
)
from shared.warehouse.work_records import (
    DocumentReference,
    StoredWork,
    WorkParameters,
    WorkView,
)

type PickStatus = Literal["open", "partial", "picked", "short"]
"""State of a picking's line."""
type ShortageReason = Literal["could_not_locate", "damaged", "expired", "other"]


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


class StoredPicking(StoredWork):
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


class Picking(WorkView):
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


class PickingParameters(WorkParameters):
    """Parameters of the list of pickings; `external_ref` is the first exit document's."""

    sort: Literal[
        "created_at", "-created_at", "updated_at", "-updated_at",
        "finalized_at", "-finalized_at", "priority", "-priority",
    ] = "-created_at"  # fmt: skip


MAX_SERIALS = 25
"""Serials that one call may name: what moves with them must fit into one transaction."""
MAX_DOCUMENTS = 20
"""Documents that one picking may serve, for the same reason."""

type _DocumentIds = Annotated[list[Identifier], Field(min_length=1, max_length=MAX_DOCUMENTS)]


class PickingDraft(Input):
    """A new picking, for one exit document or for several of one warehouse."""

    document_id: Identifier | None = None
    document_ids: _DocumentIds | None = None
    allocate: bool | None = Field(default=None, description="true unless it says otherwise.")
    operator_id: Identifier | None = None
    priority: SmallInteger | None = Field(
        default=None, description="The lower goes first; that of the documents unless given."
    )
    carrier_code: Code | None = Field(default=None, description="Who will take the goods.")
    concept: Line | None = None
    comments: Note | None = None


class PickDraft(Input):
    """What was picked in one go."""

    item_code: Code
    qty: Quantity
    bin_code: Code
    batch: Code | None = None
    serials: Annotated[list[Code], Field(max_length=MAX_SERIALS)] | None = None


class PickingEnd(Input):
    """The end of a picking; a shortage needs its reason."""

    shortage_reason: ShortageReason | None = None
    comments: Note | None = None
