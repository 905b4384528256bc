"""Models of stock: rows, levels and movements, as stored and as returned."""

import operator
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)
from pydantic_core import PydanticCustomError

from shared.kernel.fields import ZERO, Day, Number, Stored, StoredDay, Timestamp
from shared.kernel.list_parameters import (
    IdParameter,
    KeyedParameters,
    ListParameters,
    OneOf,
    PeriodParameters,
    Text,
)

type Presence = Literal["in", "out"]
"""Status of a row: `in` if it has stock, `out` if it is empty."""
type InventoryStatus = Literal[
    "available", "quarantine", "in_transit", "staged", "damaged", "blocked"
]
type ShelfStatus = Literal["available", "quarantine", "damaged", "blocked"]
"""The inventory statuses that a request can set. Warehouse operations set the others."""
type MovementType = Literal[
    "receipt", "receipt_undone", "pick", "pick_undone", "dispatch", "dispatch_undone",
    "transfer", "transfer_dispatch", "transfer_receipt", "transfer_loss",
    "return_receipt", "return_restock", "return_scrap", "adjustment", "status_change",
]  # fmt: skip


type Lot = tuple[int, str]
"""Id of a product, and number of a batch of it."""


@dataclass(frozen=True, slots=True)
class RowKey:
    """What tells a stock row from all others, to find it.

    There is one row for a product, warehouse, position, status and batch. A serial has one row,
    wherever it is, so compare the place of the row that its key finds. Stock in transit has no
    position.
    """

    product_id: int
    warehouse_id: int
    bin_code: str | None
    inventory_status: InventoryStatus
    batch_num: str | None = None
    serial_number: str | None = None


class StockRefused(Exception):
    """A stock change that the rows do not allow; its message has no final full stop."""


# As stored


# No alias of `type`, which would be a schema of its own in the OpenAPI document.
CauseType = Literal["receipt", "picking", "exit_document", "transfer", "transfer_order", "return"]


class MovementCause(Stored):
    """The work for which stock moved."""

    type: Annotated[CauseType, WithJsonSchema({"type": "string"})]
    id: int


class LastDeparture(Stored):
    """How stock last left the books: the type of the movement, and the work that caused it."""

    type: MovementType
    document: MovementCause | None = None


class StockRow(Stored):
    """Stock of one product, position, batch, serial and inventory status.

    An empty row is kept with status `out` and quantity 0, so that clients that poll for changes
    see it. Stock in transit has no position; its warehouse is the destination. `allocated` is
    the part of `qty` that is allocated to work. FIFO order is by `received_at`. `departure` is how
    a serial last left, also while it is in stock again; None if it never left or left before
    departures were recorded.
    """

    id: int
    product_id: int
    product_name: str | None
    item_code: str
    qty: Number
    allocated: Number = ZERO
    status: Presence
    serial_number: str | None = None
    batch_num: str | None = None
    warehouse_id: int
    whs_code: str
    position_id: int | None = None
    bin_code: str | None = None
    expiry_date: str | None = None
    inventory_status: InventoryStatus
    departure: LastDeparture | None = Field(default=None, exclude_if=operator.not_)
    received_at: Timestamp
    created_at: Timestamp
    updated_at: Timestamp

    @property
    def key(self) -> RowKey:
        """What tells this row from all others."""
        return RowKey(
            self.product_id,
            self.warehouse_id,
            self.bin_code,
            self.inventory_status,
            self.batch_num,
            self.serial_number,
        )

    @property
    def expiry_in_stock(self) -> str | None:
        """The expiry date of the goods; None for an empty row, which has that of its last goods."""
        return self.expiry_date if self.qty else None


class Quantities(Stored):
    """Sums over the rows of a product. `on_hand` includes everything that is not in transit."""

    on_hand: Number = ZERO
    allocated: Number = ZERO
    in_transit: Number = ZERO
    quarantine: Number = ZERO
    damaged: Number = ZERO
    blocked: Number = ZERO

    @property
    def available(self) -> Decimal:
        """Quantity that can be allocated."""
        return self.on_hand - self.allocated - self.quarantine - self.damaged - self.blocked


SHARES_SINCE = 4
"""Version of the schema from which on entities have shares in levels."""


class Shares(Stored):
    """Sums of the quantities of a product in open documents, pickings and transfer orders.

    `committed` is ordered and not allocated or picked, `incoming` is expected to arrive.
    """

    committed: Number = Field(default=ZERO, exclude_if=operator.not_)
    incoming: Number = Field(default=ZERO, exclude_if=operator.not_)


MAX_HOLDS = 500
"""Active holds of a product in a warehouse, so that its level stays small."""
type HeldQuantity = tuple[int, Number]
"""What one hold holds of a product: until when (milliseconds, exclusive), and the quantity."""


class PendingShares(Shares):
    """Changes of shares that count once the transaction with the mark `name` is committed.

    They were added at `at_ms` (milliseconds). `new_holds` and `ended_holds` are added to the holds
    of the level and removed from them.
    """

    name: str
    at_ms: int
    new_holds: list[HeldQuantity] = Field(default_factory=list, exclude_if=operator.not_)
    ended_holds: list[HeldQuantity] = Field(default_factory=list, exclude_if=operator.not_)

    def taken_at(self, now_ms: int) -> Decimal:
        """Return what they take of what can be sold; not below 0: what they return counts later."""
        held = sum((qty for until_ms, qty in self.new_holds if until_ms > now_ms), ZERO)
        ended = sum((qty for until_ms, qty in self.ended_holds if until_ms > now_ms), ZERO)
        return max(ZERO, self.committed + held - ended)


type FreeGroup = tuple[str, bool, list[int]]
"""Rows with available stock at one position: its code, whether they have an expiry date, and the
ids of the rows."""


class StoredLevel(Quantities, Shares):
    """The stock of a product in one warehouse, or in all warehouses (`whs_code` is None).

    `holds` has an entry for each active hold of the product, sorted. One that has expired counts
    no more; the next change of the level drops it.
    `pending` has changes of shares that do not count yet: see `level_book`.
    `event_due` is true while a step of work has changed the level and has left the event about it
    to a later step. `event_id` is what events name it by, since the id of its key is too wide.
    `free_rows` are rows with available stock, as far as the level names them: see `free_rows`.
    """

    event_id: int
    product_id: int
    item_code: str
    whs_code: str | None
    created_at: Timestamp
    updated_at: Timestamp
    event_due: bool = False
    holds: list[HeldQuantity] = Field(default_factory=list, exclude_if=operator.not_)
    pending: list[PendingShares] = Field(default_factory=list, exclude_if=operator.not_)
    free_rows: list[FreeGroup] = Field(default_factory=list, exclude_if=operator.not_)

    def held_at(self, now_ms: int) -> Decimal:
        """Return the quantity that is held at a moment."""
        return sum((qty for until_ms, qty in self.holds if until_ms > now_ms), ZERO)

    def sellable_at(self, now_ms: int) -> Decimal:
        """Return what can be sold at a moment; below 0 if more is ordered and held than is there.

        Without a change of the level, it only grows with time.
        """
        return self.available - self.committed - self.held_at(now_ms)

    @property
    def held_until_ms(self) -> int | None:
        """When the last hold expires; None without holds."""
        return max((until_ms for until_ms, _ in self.holds), default=None)


type Place = tuple[int, int]
"""Ids of a product and of a warehouse, which identify a level."""


@dataclass(frozen=True, slots=True)
class LevelPlace:
    """The product and the warehouse of a level, with the codes that a new level gets."""

    product_id: int
    warehouse_id: int
    item_code: str
    whs_code: str


@dataclass(frozen=True, slots=True)
class FreeRow:
    """A row with available stock, read from an index or a level that can lag behind.

    `expiry_date` is None without one, and empty when it is not known which one it has.
    """

    id: int
    bin_code: str | None
    batch_num: str | None
    expiry_date: str | None = None


@dataclass(frozen=True, slots=True)
class ListedRow:
    """A row of a position, read from an index that can lag behind; it may be empty."""

    id: int
    product_id: int


@dataclass(frozen=True, slots=True, order=True)
class ExpiredRow:
    """A row with available stock past its expiry date, read from an index that can lag behind."""

    product_id: int
    id: int


class MovementPlace(Stored):
    """Start or end of a movement."""

    whs_code: str
    bin_code: str | None
    inventory_status: str


class Movement(Stored):
    """An immutable entry of the stock ledger.

    `from` is null for stock that enters, `to` for stock that leaves.
    """

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    id: int
    type: MovementType
    product_id: int
    item_code: str
    qty: Number
    origin: MovementPlace | None = Field(alias="from")
    target: MovementPlace | None = Field(alias="to")
    batch_num: str | None
    serial_number: str | None
    document: MovementCause | None
    user_id: int | None
    client_id: str | None
    reason: str | None
    created_at: Timestamp


# As answered


class StockPosition(Stored):
    """The position of a stock row."""

    id: int
    bin_code: str
    whs_code: str
    warehouse_id: int
    warehouse_name: str | None


class Stock(Stored):
    """A stock row. The position is null while the stock is in transit.

    An empty row (status `out`) has no `expiry_date`.
    """

    id: int
    product_id: int
    product_name: str | None
    item_code: str
    whs_code: str
    qty: Number
    status: Presence
    serial_number: str | None
    batch_num: str | None
    position: StockPosition | None
    expiry_date: StoredDay | None
    inventory_status: InventoryStatus = Field(
        description="Tells rows apart: goods of one product, position and batch with two inventory"
        " statuses are two rows."
    )
    created_at: Timestamp
    updated_at: Timestamp


class StockLevel(Stored):
    """Stock of a product in one warehouse, or in all warehouses if `whs_code` is null.

    `available` is `on_hand` minus the allocated, quarantine, damaged and blocked quantities.
    `sellable` is `available` minus `committed` and `held`.
    """

    product_id: int
    item_code: str
    whs_code: str | None
    on_hand: Number
    allocated: Number
    available: Number
    in_transit: Number
    quarantine: Number
    committed: Number | None
    incoming: Number | None
    held: Number | None
    sellable: Number | None
    updated_at: Timestamp


# Parameters of lists


class StockParameters(KeyedParameters):
    """Parameters of the list of stock rows."""

    sort: Literal[
        "id", "-id", "qty", "-qty", "created_at", "-created_at", "updated_at", "-updated_at",
        "expiry_date", "-expiry_date",
    ] = "id"  # fmt: skip
    product_id: IdParameter | None = None
    item_code: Text | None = None
    warehouse_id: IdParameter | None = None
    warehouse: Text | None = None
    bin_code: Text | None = None
    batch: Text | None = None
    serial: Text | None = None
    status: OneOf[Presence] | None = None
    inventory_status: InventoryStatus | None = None
    expires_to: Day | None = Field(
        default=None, description="Goods whose expiry date is this day or before it."
    )


def _limit(value: object) -> Decimal:
    text = str(value)
    if not re.fullmatch(r"-?\d{1,12}(\.\d{1,6})?", text, re.ASCII):
        raise PydanticCustomError("limit", "must be a number with up to 6 decimals")
    return Decimal(text)


class LevelParameters(ListParameters):
    """Parameters of the list of stock levels."""

    sort: Literal["item_code", "-item_code", "updated_at", "-updated_at"] = "item_code"
    product_id: IdParameter | None = None
    item_code: Text | None = None
    warehouse: Text | None = None
    totals: bool | None = Field(
        default=None,
        description="Return one row per product, summed over all warehouses. Not with `warehouse`"
        " or `include`.",
    )
    sellable_below: (
        Annotated[Decimal, BeforeValidator(_limit), WithJsonSchema({"type": "number"})] | None
    ) = Field(
        default=None,
        description="Levels of which less can be sold than this. It may examine the whole list.",
    )
    shortage: bool | None = Field(
        default=None, description="`true`: levels with less available than is committed."
    )

    @field_validator("shortage")
    @classmethod
    def _only_true(cls, shortage: bool | None) -> bool | None:  # noqa: FBT001
        if shortage is False:
            raise PydanticCustomError("shortage", "must be true")
        return shortage

    @field_validator("totals")
    @classmethod
    def _exclude_warehouse(cls, totals: bool | None, others: ValidationInfo) -> bool | None:  # noqa: FBT001
        if totals and others.data.get("warehouse"):
            raise PydanticCustomError("totals", "must not be combined with warehouse")
        if totals and others.data.get("include"):
            raise PydanticCustomError(
                "totals", "have no version: must not be combined with include"
            )
        return totals


class MovementParameters(PeriodParameters):
    """Parameters of the list of stock movements."""

    sort: Literal["created_at", "-created_at"] = "-created_at"
    type: MovementType | None = None
    product_id: IdParameter | None = None
    item_code: Text | None = None
    warehouse: Text | None = Field(
        default=None, description="Code of the warehouse where the movement starts or ends."
    )
    from_bin: Text | None = None
    to_bin: Text | None = None
    batch: Text | None = None
    serial: Text | None = None
    document_type: Text | None = Field(
        default=None, description="Only movements of this kind of work: their `document.type`."
    )
    document_id: IdParameter | None = Field(
        default=None,
        description="Only movements of the work with this `id`, their `document.id`: of a receipt,"
        " picking, transfer, transfer order or return, or of an exit document for its dispatch."
        " Kinds of work have ids of their own, so give `document_type`, too. Goods are picked for"
        " an exit document by its pickings: their ids are those of the movements.",
    )
