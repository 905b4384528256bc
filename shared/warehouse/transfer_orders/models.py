"""Models of transfer orders: request bodies, stored records and responses."""

import operator
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypedDict

from pydantic import ConfigDict, Field

from shared.kernel.fields import (
    ZERO,
    Code,
    Identifier,
    Input,
    LineReference,
    Moment,
    Note,
    Number,
    Reason,
    Reference,
    SmallInteger,
    Stored,
    Timestamp,
    Word,
)
from shared.kernel.list_parameters import Beginnings, OneOf, PeriodParameters, Text, begins_with
from shared.kernel.metadata import LineMetadata, Metadata, stored_metadata
from shared.warehouse.catalog.models import CountedLine, UnitGoods
from shared.warehouse.stock.models import ShelfStatus
from shared.warehouse.work.address import (
    CarrierCode,
    ShipToAddress,
    ShipToAddressDraft,
    StoredAddress,
)


def order_code(number: int) -> str:
    """Return the code of a transfer order that people see."""
    return f"TO-{number}"


MAX_LINES = 1000
MAX_ARRIVAL_LINES = 8
MAX_SERIALS = 30
"""Maximum number of lines of an arrival and of serials of a line.

`progress_rules` limits them together.
"""

type OrderStatus = Literal[
    "draft",
    "released",
    "picking",
    "picked",
    "in_transit",
    "receiving",
    "received",
    "closed",
    "cancelled",
]
"""Status of an order, in the order in which an order gets them."""
type OrderLineStatus = Literal[
    "open", "partial", "picked", "short", "in_transit", "received", "cancelled"
]
type OrderSource = Literal["web", "api", "import", "sap"]


class TransferLineDraft(UnitGoods):
    """A line of a new transfer order.

    `expected_series` and `expected_batches` are the serials and batches that the origin
    is expected to send.
    """

    batch_num: Code | None = None
    expected_series: list[Code] | None = None
    expected_batches: list[Code] | None = None
    external_ref: LineReference | None = None
    metadata: LineMetadata = Field(default={})


class TransferOrderDraft(Input):
    """A new transfer order."""

    from_warehouse: Code
    to_warehouse: Code
    priority: SmallInteger | None = Field(
        default=None, description="Lower is more urgent; default 2."
    )
    reason: Note | None = None
    due_at: Moment | None = None
    external_ref: Reference | None = None
    ship_to_address: ShipToAddressDraft | None = None
    carrier_code: CarrierCode | None = None
    service_code: CarrierCode | None = None
    release: bool | None = None
    picker_id: Identifier | None = Field(
        default=None, description="Who picks; required when an integration client releases."
    )
    metadata: Metadata = Field(default={})
    lines: Annotated[list[TransferLineDraft], Field(min_length=1, max_length=MAX_LINES)]


class PickerChoice(Input):
    """The picker of a transfer order that is released."""

    picker_id: Identifier | None = Field(
        default=None, description="Required when an integration client releases."
    )


class Departure(Input):
    """The transport with which the goods of a transfer order leave."""

    seal_number: Reference | None = None
    vehicle_plate: Word | None = None
    carrier_id: Identifier | None = None


class ArrivalLine(UnitGoods):
    """Goods of a transfer order that arrived, and the position where they were put."""

    bin_code: Code
    batch: Code | None = None
    serials: Annotated[list[Code], Field(max_length=MAX_SERIALS)] | None = None
    inventory_status: ShelfStatus | None = Field(
        default=None,
        description="Default available. Goods that have expired are refused as available.",
    )


class Arrival(Input):
    """Goods that arrived together; with `final`, nothing more is expected."""

    lines: Annotated[list[ArrivalLine], Field(min_length=1, max_length=MAX_ARRIVAL_LINES)] = Field(
        default_factory=list, description="Required unless `final`."
    )
    final: bool | None = None


class OrderClosing(Input):
    """The end of a transfer order; a difference needs a reason."""

    reason: Reason | None = Field(
        default=None, description="Required when less was received than dispatched."
    )


class InTransitGoods(Stored):
    """Goods of a line in transit: dispatched and not received so far."""

    batch_num: str | None = None
    serial: str | None = None
    qty: Number


class StoredTransferLine(CountedLine):
    """A line as stored; `serials` are the picked serials."""

    id: int
    line_num: int
    external_ref: str | None = Field(default=None, exclude_if=operator.not_)
    product_id: int
    item_code: str
    picked_qty: Number = ZERO
    dispatched_qty: Number = ZERO
    received_qty: Number = ZERO
    batch_num: str | None = None
    expected_series: list[str] = Field(default_factory=list)
    expected_batches: list[str] = Field(default_factory=list)
    serials: list[str] = Field(default_factory=list)
    transit: list[InTransitGoods] = Field(default_factory=list)
    metadata: dict[str, str] = stored_metadata()


class TransferPlace(Stored):
    """The origin or destination of a transfer order, as it was when the order was created."""

    id: int
    code: str
    name: str


class StoredTransferOrder(Stored):
    """A transfer order as stored."""

    id: int
    status: OrderStatus
    origin: TransferPlace
    destination: TransferPlace
    priority: int
    reason: str | None = None
    due_at: str | None = None
    external_ref: str | None = None
    ship_to_address: StoredAddress | None = Field(default=None, exclude_if=operator.not_)
    carrier_code: str | None = Field(default=None, exclude_if=operator.not_)
    service_code: str | None = Field(default=None, exclude_if=operator.not_)
    source: OrderSource
    picker_id: int | None = None
    picking_id: int | None = None
    dispatched_at: Timestamp | None = None
    received_at: Timestamp | None = None
    closed_at: Timestamp | None = None
    close_reason: str | None = None
    seal_number: str | None = None
    vehicle_plate: str | None = None
    carrier_id: int | None = None
    created_at: Timestamp
    updated_at: Timestamp
    metadata: dict[str, str] = stored_metadata()
    lines: list[StoredTransferLine]


class TransferUnits(Stored):
    """Units of a transfer order, summed over its lines."""

    requested: Number
    picked: Number
    dispatched: Number
    received: Number


class TransferOrderLine(TypedDict):
    """A line of a transfer order."""

    id: int
    line_num: int
    external_ref: str | None
    product_id: int
    item_code: str
    qty: Number
    unit: str | None
    unit_qty: Number | None
    picked_qty: Number
    dispatched_qty: Number
    received_qty: Number
    batch_num: str | None
    serial_numbers: list[str]
    status: OrderLineStatus
    metadata: dict[str, str]


class TransferOrder(Stored):
    """A transfer order in a list; `lines` is null."""

    model_config = ConfigDict(serialize_by_alias=True)

    object: Literal["transfer_order"] = "transfer_order"
    id: int
    code: str
    status: OrderStatus
    status_label: str
    headline: str | None
    has_discrepancy: bool
    origin: TransferPlace = Field(alias="from")
    destination: TransferPlace = Field(alias="to")
    priority: int
    reason: str | None
    due_at: Timestamp | None
    lines_count: int
    units: TransferUnits
    dispatched_at: Timestamp | None
    received_at: Timestamp | None
    closed_at: Timestamp | None
    close_reason: str | None
    seal_number: str | None
    vehicle_plate: str | None
    carrier_id: int | None
    external_ref: str | None
    ship_to_address: ShipToAddress | None
    carrier_code: str | None
    service_code: str | None
    metadata: dict[str, str]
    source: OrderSource
    picking_id: int | None
    receipt_id: int | None
    sap: Mapping[str, Any] | None
    created_at: Timestamp
    updated_at: Timestamp
    lines: list[TransferOrderLine] | None


class TransferOrderDetail(TransferOrder):
    """A transfer order with its lines."""

    actions: list[str]


class TransferOrderParameters(PeriodParameters):
    """Parameters of the list of transfer orders."""

    sort: Literal["created_at", "-created_at", "updated_at", "-updated_at"] = "-created_at"
    search: Annotated[Beginnings | None, begins_with("`code` or `external_ref`")] = None
    status: OneOf[OrderStatus] | None = None
    from_warehouse: Text | None = None
    to_warehouse: Text | None = None
    external_ref: Text | None = None
    has_discrepancy: bool | None = None
