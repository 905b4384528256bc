"""What waves are: stored and answered."""

from decimal import Decimal
from typing import Literal

from pydantic import Field

from shared.fields import Number, Stored, Timestamp
from shared.parameters import PeriodParameters, Text

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


class WaveMetrics(Stored):
    """Size of a wave: its pickings, their lines and units, the trips, and the minutes of work."""

    orders: Number = Decimal(0)
    lines: Number = Decimal(0)
    units: Number = Decimal(0)
    trips: Number = Decimal(0)
    standard_minutes: Number = Decimal(0)


class WaveOrder(Stored):
    """A picking of a wave; `status` is the picking's."""

    picking_id: int
    status: str


class StoredWave(Stored):
    """A wave as stored."""

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
    orders: list[WaveOrder] = Field(default_factory=list)


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


class WaveParameters(PeriodParameters):
    """Parameters of the list of waves; `warehouse` is a code."""

    sort: Literal["created_at", "-created_at", "updated_at", "-updated_at"] = "-created_at"
    status: WaveStatus | None = None
    warehouse: Text | None = None
