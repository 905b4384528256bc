"""Models of packing orders and handling units: request bodies, stored records and responses."""

import operator
from typing import Annotated, Literal, TypedDict

from pydantic import ConfigDict, Field

from shared.kernel.fields import (
    ZERO,
    Code,
    Identifier,
    Input,
    Line,
    Measure,
    Number,
    Reason,
    Reference,
    SmallInteger,
    Stored,
    Timestamp,
    distinct,
    exactly_one_of,
)
from shared.kernel.list_parameters import (
    IdParameter,
    KeyedParameters,
    OneOf,
    PeriodParameters,
    Text,
)
from shared.warehouse.catalog.models import GoodsDraft
from shared.warehouse.documents.models import ExitDocument, ShippedLine, ShippedRest
from shared.warehouse.work.models import Operator

type PackingStatus = Literal["open", "in_progress", "packed", "shipped", "cancelled"]
type UnitType = Literal["carton", "pallet", "tote", "other"]
type UnitStatus = Literal["open", "closed", "dispatched"]

MAX_PICKINGS = 20
"""Maximum number of pickings of a packing order: all are marked in one transaction."""
MAX_UNITS = 200
"""Maximum number of handling units of a packing order: the order and its response list them all."""
MAX_CONTENTS = 100
"""Maximum number of contents (an item, or a batch of it) of a handling unit."""
MAX_ORDER_CONTENTS = 2_000
"""Maximum number of contents of all units of a packing order, which one response shows."""
MAX_SERIALS = 1_000
"""Maximum number of serials in a handling unit."""
MAX_LEVELS = 3
"""Levels of units in units: cartons in a tote on a pallet, for example."""


def unit_code(number: int) -> str:
    """Return the code of a handling unit that people see."""
    return f"HU-{number}"


# Requests


class PackingOrderDraft(Input):
    """A new packing order, for the staged goods of one exit document."""

    model_config = exactly_one_of("exit_document_id", "picking_ids")

    exit_document_id: Identifier | None = Field(
        default=None,
        description="Id of an exit document, all finalized pickings of which are packed.",
    )
    picking_ids: (
        Annotated[
            list[Identifier], Field(min_length=1, max_length=MAX_PICKINGS), distinct(MAX_PICKINGS)
        ]
        | None
    ) = None
    station: Line | None = Field(default=None, description="Where the goods are packed.")


class PackingEnd(Input):
    """The end of a packing order; with `short`, what is not packed leaves unpacked."""

    short: bool | None = None
    reason: Reason | None = Field(default=None, description="Required with `short`.")


class UnitDraft(Input):
    """A new handling unit."""

    type: UnitType
    parent_id: Identifier | None = Field(
        default=None, description="The unit of the same packing order in which it stands."
    )
    length_mm: SmallInteger | None = None
    width_mm: SmallInteger | None = None
    height_mm: SmallInteger | None = None
    tare_kg: Measure | None = None


class ContentsDraft(GoodsDraft):
    """Goods that are put into a handling unit or taken out of it."""

    batch: Code | None = Field(
        default=None, description="Required when several batches of the item are staged."
    )
    serials: Annotated[list[Code], Field(max_length=MAX_SERIALS)] | None = None


class UnitClosing(Input):
    """What is known of a handling unit once it is closed."""

    weight_kg: Measure | None = Field(default=None, description="Gross weight.")
    tracking_number: Reference | None = None
    carrier_code: Code | None = None


# Stored records


class PackedGoods(Stored):
    """A quantity of an item, or of a batch of it, that is packed or is to be packed."""

    product_id: int
    item_code: str
    product_name: str
    batch_num: str | None = None
    serials: list[str] = Field(default_factory=list)
    qty: Number


class StoredPackingLine(PackedGoods):
    """What is to be packed of an item, or of a batch of it, and what is packed.

    `expiry_date` is the earliest expiry date of the goods picked for it; None if they have none.
    """

    expiry_date: str | None = Field(default=None, exclude_if=operator.not_)
    packed_qty: Number = ZERO
    packed_serials: list[str] = Field(default_factory=list)


class UnitEntry(Stored):
    """What a packing order knows of one of its handling units; `contents` is their number.

    Every change of a unit also writes its order, so these facts are always those of the unit.
    """

    id: int
    parent_id: int | None = None
    status: UnitStatus
    contents: int = 0
    weight_kg: Number | None = None


class ShippingDetails(Stored):
    """What labels show of a shipment, as it was when its packing order was created.

    `sender` is the name of the warehouse. `recipient` and the lines of `ship_to` come from the
    address of the exit document; without one they are the name of the partner and its `ship_to`.
    Exit documents keep theirs. Each handling unit has a copy, so one read is enough for its label.
    """

    sender: str
    recipient: str
    ship_to: str | None = None
    external_ref: str


class StoredPackingOrder(Stored):
    """A packing order as stored.

    `document_type` is the type of its exit document; orders of release 2.1 do not have it.
    """

    id: int
    status: PackingStatus
    exit_document_id: int
    document_type: str = Field(default="", exclude_if=operator.not_)
    shipping: ShippingDetails
    whs_code: str
    picking_ids: list[int]
    station: str | None = None
    operator: Operator | None = None
    short_reason: str | None = None
    packed_at: Timestamp | None = None
    shipped_at: Timestamp | None = None
    created_at: Timestamp
    updated_at: Timestamp
    lines: list[StoredPackingLine]
    units: list[UnitEntry] = Field(default_factory=list)

    @property
    def is_active(self) -> bool:
        """Whether it is neither shipped nor cancelled: its goods are in no other packing order."""
        return self.status not in {"shipped", "cancelled"}


class StoredUnit(Stored):
    """A handling unit as stored.

    `inside` has the ids of all units in it once it is closed or dispatched, when they cannot
    change. It is None while the unit is open: only the packing order knows them then.
    """

    id: int
    sscc: str | None = None
    type: UnitType
    status: UnitStatus
    parent_id: int | None = None
    packing_order_id: int
    exit_document_id: int
    shipping: ShippingDetails
    whs_code: str
    length_mm: int | None = None
    width_mm: int | None = None
    height_mm: int | None = None
    tare_kg: Number | None = None
    weight_kg: Number | None = None
    tracking_number: str | None = None
    carrier_code: str | None = None
    created_at: Timestamp
    updated_at: Timestamp
    contents: list[PackedGoods] = Field(default_factory=list)
    inside: list[int] | None = None


# Responses


class UnitContents(TypedDict):
    """Goods in a handling unit."""

    item_code: str
    product_name: str
    batch_num: str | None
    serial_numbers: list[str]
    qty: Number


class HandlingUnit(Stored):
    """A handling unit. `weight_kg` is its gross weight, known once it is closed."""

    object: Literal["handling_unit"] = "handling_unit"
    id: int
    code: str
    sscc: str | None
    type: UnitType
    status: UnitStatus
    parent_id: int | None
    packing_order_id: int
    warehouse_code: str
    contents: list[UnitContents]
    weight_kg: Number | None
    length_mm: int | None
    width_mm: int | None
    height_mm: int | None
    tare_kg: Number | None
    tracking_number: str | None
    carrier_code: str | None
    created_at: Timestamp
    updated_at: Timestamp


class HandlingUnitDetail(HandlingUnit):
    """A handling unit, with the actions that it and its packing order admit."""

    actions: list[str]


class PackingQuantities(TypedDict):
    """Units of measure to pack, and packed, summed over the lines."""

    to_pack: Number
    packed: Number


class PackingOrder(Stored):
    """A packing order in a list. `weight_kg` is the weight of its closed top-level units."""

    object: Literal["packing_order"] = "packing_order"
    id: int
    code: str
    status: PackingStatus
    status_label: str
    exit_document_id: int
    exit_doc_num: str
    warehouse_code: str
    picking_ids: list[int]
    station: str | None
    units_count: int
    qty: PackingQuantities
    weight_kg: Number | None
    operator: Operator | None
    short_reason: str | None
    packed_at: Timestamp | None
    shipped_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp


class PackingOrderTransition(PackingOrder):
    """What the event packing_order.transitioned shows: the order, and both statuses."""

    model_config = ConfigDict(serialize_by_alias=True)

    before: PackingStatus = Field(alias="from")
    after: PackingStatus = Field(alias="to")


class ShippedUnit(TypedDict):
    """What the event shipment.dispatched shows of a handling unit."""

    code: str
    sscc: str | None
    tracking_number: str | None
    carrier_code: str | None


class ShippedDocument(ExitDocument):
    """What the event shipment.dispatched shows: the document, and what left with the dispatch."""

    shipped: list[ShippedLine]
    rest: ShippedRest
    units: list[ShippedUnit]


class PackingLine(UnitContents):
    """What is to be packed of an item, or of a batch of it."""

    packed_qty: Number


class PackingOrderDetail(PackingOrder):
    """A packing order with its lines and handling units."""

    lines: list[PackingLine]
    handling_units: list[HandlingUnit]
    actions: list[str]


class PackingOrderParameters(PeriodParameters):
    """Parameters of the list of packing orders; `warehouse` is a warehouse code."""

    sort: Literal["created_at", "-created_at", "updated_at", "-updated_at"] = "-created_at"
    status: OneOf[PackingStatus] | None = None
    warehouse: Text | None = None
    exit_document_id: IdParameter | None = None


class UnitParameters(KeyedParameters):
    """Parameters of the list of handling units."""

    sort: Literal["created_at", "-created_at", "updated_at", "-updated_at"] = "-created_at"
    sscc: Text | None = None
    packing_order_id: IdParameter | None = None
    status: OneOf[UnitStatus] | None = None
    tracking_number: Text | None = None
