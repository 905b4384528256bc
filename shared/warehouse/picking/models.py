"""Models of pickings: request bodies, stored records and responses."""

import operator
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Literal, TypedDict

from pydantic import ConfigDict, Field

from shared.kernel.fields import (
    ZERO,
    Code,
    Identifier,
    Input,
    Line,
    Note,
    Number,
    SmallInteger,
    Stored,
    StoredDay,
    exactly_one_of,
)
from shared.kernel.list_parameters import Beginnings, begins_with
from shared.warehouse.catalog.models import GoodsDraft, OptionalGoods
from shared.warehouse.catalog.several_lines import MAX_LINES
from shared.warehouse.scanning.models import WorkGoods
from shared.warehouse.settings.values import Substitution
from shared.warehouse.work.models import (
    DocumentReference,
    Fill,
    StoredWork,
    WorkParameters,
    WorkView,
)

type PickStatus = Literal["open", "partial", "picked", "short"]
"""Status of a line of a picking."""
ENDED_STATUSES = frozenset({"finalized", "synchronized", "cancelled", "reverted"})
"""Statuses of a picking that needs no more work."""
type ShortageReason = Literal["could_not_locate", "damaged", "expired", "other"]


class Allocation(Stored):
    """A quantity of one stock row that is reserved for a line."""

    stock_id: int
    position_id: int
    bin_code: str
    batch_num: str | None = None
    serial: str | None = None
    qty: Number


class Pick(Stored):
    """A quantity picked at a position. It waits there as the staged stock row `staged_id`.

    `expiry_date` is that of the staged stock after the pick; None also for picks of release 2.1.
    """

    staged_id: int
    position_id: int
    bin_code: str
    batch_num: str | None = None
    serial: str | None = None
    qty: Number
    expiry_date: str | None = Field(default=None, exclude_if=operator.not_)
    dispatched: bool = False


class StoredPickingLine(Stored):
    """A line to pick, for the line with the number `document_line` of a document.

    `batch_num` is the batch that the document requires, or `batches` are several of which it
    requires any; None and empty for any batch. `serials` are those it requires, empty for any;
    `expiry_date` is the one it requires, None for any. Few lines have them, so they are stored only
    if there are some, as is `external_ref`, the reference of the document's line.
    """

    document_id: int
    document_line: int
    external_ref: str | None = Field(default=None, exclude_if=operator.not_)
    product_id: int
    item_code: str
    qty: Number
    picked_qty: Number = ZERO
    status: PickStatus = "open"
    batch_num: str | None = None
    batches: list[str] = Field(default_factory=list, exclude_if=operator.not_)
    serials: list[str] = Field(default_factory=list, exclude_if=operator.not_)
    expiry_date: str | None = Field(default=None, exclude_if=operator.not_)
    allocations: list[Allocation] = Field(default_factory=list)
    picks: list[Pick] = Field(default_factory=list)

    @property
    def unallocated(self) -> Decimal:
        """Quantity that is neither picked nor allocated."""
        return self.qty - self.picked_qty - sum((one.qty for one in self.allocations), ZERO)


class StoredPicking(StoredWork):
    """A picking as stored; it may be for several documents. A lower priority is more urgent.

    `packing_orders` has, for each document whose goods are or were packed, the id of the packing
    order; a cancelled one is not named. Revert and dispatch read it with the picking.
    `packing_order_id` is the newest of them: all that pickings of release 2.0 have.
    `due_date` is the earliest due date of its documents. `wave_id` is the wave it was assigned to
    last; the picking is in that wave unless the wave was cancelled or was never completed.
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
    packing_order_id: int | None = Field(default=None, exclude_if=operator.not_)
    packing_orders: dict[int, int] = Field(default_factory=dict, exclude_if=operator.not_)
    lines: list[StoredPickingLine] = Field(default_factory=list)

    @property
    def packing_order_ids(self) -> set[int]:
        """The packing orders of its goods, for all documents."""
        return {*self.packing_orders.values(), *filter(None, [self.packing_order_id])}

    def packing_order_for(self, document: int) -> int | None:
        """Return the packing order of the goods for a document.

        Of a picking of release 2.0 for several documents, it may be that of another one.
        """
        return self.packing_orders.get(document) if self.packing_orders else self.packing_order_id

    @property
    def is_of_transfer_order(self) -> bool:
        """Whether it picks for a transfer order, through the actions of that."""
        return any(document.type == "transfer_order" for document in self.documents)

    @property
    def units(self) -> Decimal:
        """Number of units to pick."""
        return sum((line.qty for line in self.lines), ZERO)

    @property
    def units_short(self) -> Decimal:
        """Number of units that are neither picked nor allocated."""
        return sum((line.unallocated for line in self.lines), ZERO)


@dataclass(frozen=True, slots=True)
class PendingPicking:
    """A pending picking as an index shows it; the index may lag by moments."""

    id: int
    priority: int | None
    due_date: str | None
    carrier_code: str | None
    wave_id: int | None


class Picking(WorkView):
    """A picking in a list; `document` is the first of its documents."""

    code: str
    priority: int | None
    due_date: StoredDay | None
    wave_id: int | None
    has_shortage: bool


class PickingLine(TypedDict):
    """A line to pick at one position, of one batch."""

    product_id: int
    item_code: str
    qty: Number
    picked_qty: Number
    bin_code: str | None
    batch_num: str | None
    serials: list[str]
    status: PickStatus
    fills: list[Fill]


class PickingDetail(Picking):
    """A picking with its lines."""

    carrier_code: str | None
    lines: list[PickingLine]
    actions: list[str]


class PickingGoods(WorkGoods):
    """The goods of a picking, and what may be picked instead of the allocated stock."""

    pick_substitution: Substitution


class PickingParameters(WorkParameters):
    """Parameters of the list of pickings; a picking is found by each of its exit documents."""

    sort: Literal[
        "created_at", "-created_at", "updated_at", "-updated_at",
        "finalized_at", "-finalized_at", "priority", "-priority",
    ] = "-created_at"  # fmt: skip
    search: Annotated[
        Beginnings | None, begins_with("`code`, or of `doc_num` or `external_ref` of its documents")
    ] = None
    has_shortage: bool | None = None


def packing_order_code(number: int) -> str:
    """Return the code of a packing order that people see; a picking has the number."""
    return f"PK-{number}"


def picking_code(number: int) -> str:
    """Return the code of a picking that people see."""
    return f"PKG-{number}"


MAX_SERIALS = 25
"""Maximum number of serials, or of allocations that a pick uses, per request: all of their stock
must fit into one transaction."""
MAX_EXCHANGED = 24
"""Maximum number of other pickings to which serials of a pick are allocated: so, too."""
MAX_DOCUMENTS = 20
"""Maximum number of documents of a picking, for the same reason."""

type _DocumentIds = Annotated[list[Identifier], Field(min_length=1, max_length=MAX_DOCUMENTS)]


class PickingDraft(Input):
    """A new picking, for one exit document or for several of one warehouse."""

    model_config = exactly_one_of("document_id", "document_ids")

    document_id: Identifier | None = None
    document_ids: _DocumentIds | None = None
    allocate: bool | None = Field(
        default=None, description="Whether to allocate stock; default true."
    )
    operator_id: Identifier | None = None
    priority: SmallInteger | None = Field(
        default=None, description="Lower is more urgent; default is the priority of the documents."
    )
    carrier_code: Code | None = Field(
        default=None,
        description="The carrier that will take the goods; default is that of the document, if the"
        " picking has only one.",
    )
    concept: Line | None = None
    comments: Note | None = None


class PickDraft(GoodsDraft):
    """A quantity picked at one position."""

    bin_code: Code
    batch: Code | None = None
    serials: Annotated[list[Code], Field(max_length=MAX_SERIALS)] | None = None


class PicksDraft(OptionalGoods):
    """What is picked: one pick, several in `lines`, or all that is allocated.

    Beside `lines` and beside `as_allocated`, no other field is allowed.
    """

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    bin_code: Code | None = None
    batch: Code | None = None
    serials: Annotated[list[Code], Field(max_length=MAX_SERIALS)] | None = None
    lines: list[PickDraft] = Field(default_factory=list, min_length=1, max_length=MAX_LINES)
    as_allocated: bool | None = Field(
        default=None,
        description="Whether to pick everything that is allocated, where it is allocated.",
    )


class PickingEnd(Input):
    """The end of a picking; a shortage needs a reason."""

    shortage_reason: ShortageReason | None = None
    comments: Note | None = None
