"""Models of waves: request bodies, stored records and responses."""

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from shared.kernel.db.facets import fold
from shared.kernel.fields import (
    WHOLE_NUMBER,
    Code,
    Identifier,
    Input,
    Moment,
    Number,
    SmallInteger,
    Stored,
    Timestamp,
)
from shared.kernel.list_parameters import OneOf, PeriodParameters, Text
from shared.warehouse.documents.vocabulary import PRIORITIES
from shared.warehouse.work.models import WorkStatus

MAX_PICKINGS = 200

type Strategy = Literal["discrete", "by_customer", "batch", "cluster", "zone", "pick_and_pass"]
type WaveStatus = Literal[
    "draft",
    "planned",
    "released",
    "in_progress",
    "picked",
    "completed",
    "closed",
    "cancelled",
]


def _priority(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    number = PRIORITIES.get(fold(value.strip()))
    if number is None:
        raise PydanticCustomError("priority", "must be a number, or one of Alta, Normal, Baja")
    return number


type _Priority = Annotated[
    SmallInteger,
    BeforeValidator(_priority),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string"}]}),
]
"""A priority as a number, or by its name on exit documents."""


class WaveRule(Input):
    """A rule that finds the pending pickings of a wave: those that match all of its fields."""

    cutoff: Moment | None = Field(
        default=None, description="Due on the day of this time or before, or without a due date."
    )
    carrier: Code | None = Field(
        default=None, description="For this carrier, or without a carrier."
    )
    priority: _Priority | None = Field(
        default=None, description="This priority, or a more urgent one."
    )
    max_orders: Annotated[int, Field(ge=1, le=MAX_PICKINGS), WHOLE_NUMBER] | None = Field(
        default=None, description="Default 200."
    )


type _PickingIds = Annotated[list[Identifier], Field(min_length=1, max_length=MAX_PICKINGS)]


class WaveDraft(Input):
    """A new wave, of the pickings in `picking_ids` or of those that `rule` finds.

    The default of `cutoff_at` and `carrier_code` is the `cutoff` and `carrier` of the rule.
    """

    warehouse_code: Code
    strategy: Strategy
    carrier_code: Code | None = None
    cutoff_at: Moment | None = None
    picking_ids: _PickingIds | None = None
    rule: WaveRule | None = None


class WaveMetrics(Stored):
    """Size and progress of a wave: its pickings, their lines and units, trips and minutes.

    Cancelled pickings do not count. `allocated_units` and `short_units` are the units with and
    without stock when the wave was released; null before.
    """

    orders: Number = Decimal(0)
    lines: Number = Decimal(0)
    units: Number = Decimal(0)
    trips: Number = Decimal(0)
    standard_minutes: Number = Decimal(0)
    ended_orders: Number = Decimal(0)
    allocated_units: Number | None = None
    short_units: Number | None = None


class StoredWave(Stored):
    """A wave as stored.

    `open_ids` are its pickings that have not ended; `begun` is true once one of them was started.
    Stored `metrics` count cancelled pickings in `ended_orders`, which release 2.0 compares with the
    pickings; responses leave them out.
    """

    id: int
    warehouse_code: str | None = None
    strategy: Strategy
    status: WaveStatus
    carrier_code: str | None = None
    cutoff_at: Timestamp | None = None
    released_at: Timestamp | None = None
    metrics: WaveMetrics = Field(default_factory=WaveMetrics)
    created_at: Timestamp
    updated_at: Timestamp
    picking_ids: list[int] = Field(default_factory=list)
    open_ids: list[int] = Field(default_factory=list)
    begun: bool = False


class WaveOrder(Stored):
    """A picking of a wave; `status` is that of the picking."""

    picking_id: int
    status: WorkStatus


class Wave(Stored):
    """A wave in a list."""

    id: int
    code: str
    warehouse_code: str | None
    strategy: Strategy
    status: WaveStatus
    carrier_code: str | None
    cutoff_at: Timestamp | None
    released_at: Timestamp | None
    metrics: WaveMetrics
    created_at: Timestamp
    updated_at: Timestamp


class WaveDetail(Wave):
    """A wave with its pickings."""

    orders: list[WaveOrder]
    actions: list[str]


class WaveParameters(PeriodParameters):
    """Parameters of the list of waves; `warehouse` is a code."""

    sort: Literal["created_at", "-created_at", "updated_at", "-updated_at"] = "-created_at"
    status: OneOf[WaveStatus] | None = None
    warehouse: Text | None = None
