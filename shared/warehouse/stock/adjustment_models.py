"""Models of stock adjustments: bodies of requests and answers."""

from typing import Literal

from pydantic import ConfigDict, Field

from shared.kernel.fields import (
    Code,
    Day,
    Input,
    Measure,
    Number,
    Quantity,
    Reason,
    Stored,
    StoredDay,
    Timestamp,
    Unit,
)
from shared.warehouse.stock.models import ShelfStatus

ADJUSTMENT_METHODS = ("counted_qty", "increase", "decrease", "to_status")
MAX_ADJUSTMENT_LINES = 200
"""Most lines of one request; they take some twenty transactions."""


class AdjustmentFields(Input):
    """What one adjustment of stock says; the service checks which fields it needs."""

    item_code: Code | None = None
    warehouse: Code | None = None
    bin_code: Code | None = None
    batch: Code | None = None
    serial: Code | None = None
    inventory_status: ShelfStatus | None = Field(
        default=None, description="Inventory status of the stock to adjust; default `available`."
    )
    expiry_date: Day | None = Field(
        default=None,
        description="Expiry date of stock that `increase` adds. Not with `counted_qty`, `decrease`"
        " or `to_status`. All stock of a batch has one date, which is the default. Without a"
        " quantity: the corrected date of the batch, for all its stock.",
    )
    counted_qty: Measure | None = None
    increase: Quantity | None = None
    decrease: Quantity | None = None
    to_status: ShelfStatus | None = None
    qty: Quantity | None = None
    expected_qty: Measure | None = Field(
        default=None,
        description="Quantity that must be in stock before, else the adjustment is refused with"
        " `stale_state`.",
    )
    unit: Unit | None = None
    reason: Reason | None = None


class AdjustmentLineDraft(AdjustmentFields):
    """One of several adjustments; the default of `reason` is their common reason."""

    item_code: Code


class AdjustmentDraft(AdjustmentFields):
    """A stock adjustment with exactly one of `counted_qty`, `increase`, `decrease`, `to_status`.

    `counted_qty` is the new quantity; `increase` and `decrease` are differences. `to_status`
    moves `qty`, or the whole unallocated quantity, to another inventory status. Without any of
    them, and without `warehouse` and `bin_code`, `expiry_date` corrects the date of a batch.

    Or several adjustments in `lines`, each of other stock; beside `lines`, only their common
    `reason` is allowed.
    """

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    lines: list[AdjustmentLineDraft] = Field(
        default_factory=list, min_length=1, max_length=MAX_ADJUSTMENT_LINES
    )


class Adjustment(Stored):
    """A stock adjustment; `movement_id` is null if the quantity did not change.

    `qty_before` and `qty_after` are quantities with the status `inventory_status`. After the
    correction of an expiry date, position, status and quantities are null.
    """

    movement_id: int | None
    product_id: int
    item_code: str
    whs_code: str | None = None
    bin_code: str | None = None
    batch_num: str | None
    serial_number: str | None = None
    inventory_status: ShelfStatus | None = None
    to_status: ShelfStatus | None = None
    qty_before: Number | None = None
    qty_after: Number | None = None
    expiry_date: StoredDay | None = None
    reason: str
    created_at: Timestamp


type AdjustmentStatus = Literal["applied", "stale"]


class AdjustmentLine(Adjustment):
    """The result of one of several adjustments.

    A `stale` one was not applied, because another request changed its stock while the lines before
    it were applied; `qty_before` and `qty_after` are then the quantity in stock.
    """

    status: AdjustmentStatus


class AdjustmentLines(Stored):
    """Several stock adjustments, in the order of the request."""

    lines: list[AdjustmentLine]
