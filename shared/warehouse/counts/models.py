"""Models of counts: request bodies, stored counts with their lines, and responses."""

import operator
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Literal, TypedDict

from pydantic import Field

from shared.kernel.db.records import Record
from shared.kernel.fields import (
    MAX_ID,
    WHOLE_NUMBER,
    ZERO,
    Code,
    Identifier,
    Input,
    Measure,
    Moment,
    Note,
    Number,
    Stored,
    Timestamp,
    Unit,
    distinct,
    exactly_one_of,
)
from shared.kernel.list_parameters import IdParameter, OneOf, PeriodParameters, Text
from shared.warehouse.stock.models import ShelfStatus
from shared.warehouse.work.models import Operator

MAX_LINES = 5_000
"""Most lines of a count."""
MAX_POSITIONS = 1_000
"""Most positions that a request names, and that a counted zone has."""
MAX_PRODUCTS = 100
"""Most products that a request names."""
MAX_ROWS = 20_000
"""Most stock rows that a request examines: no index leaves out those that are empty."""
MAX_IN_WAREHOUSE = 20_000
"""Most positions of a warehouse of which a zone is counted: no index has the zone."""
MAX_SERIALS = 20
"""Most serials that are counted in one request, so that they fit into one transaction."""
MAX_RECOUNTED = 200
"""Most lines that one request sets to be counted again."""
CLOCK_TOLERANCE_MS = 5 * 60_000
"""By how much the clock of a device may differ that says when something was counted."""


def count_code(number: int) -> str:
    """Return the code of a count that people see."""
    return f"CN-{number}"


type CountStatus = Literal["open", "counting", "counted", "posted", "cancelled"]
ENDED_STATUSES: frozenset[CountStatus] = frozenset({"posted", "cancelled"})
type CountLineStatus = Literal["open", "counted", "recount"]

SCOPES = ("positions", "zone_id", "item_codes")
"""The fields of a new count that say what is counted, of which one is given."""

type _Positions = Annotated[
    list[Code], Field(min_length=1, max_length=MAX_POSITIONS), distinct(MAX_POSITIONS)
]
type _ItemCodes = Annotated[
    list[Code], Field(min_length=1, max_length=MAX_PRODUCTS), distinct(MAX_PRODUCTS)
]


class CountDraft(Input):
    """A new count of the stock of some positions, of a zone, or of some products."""

    model_config = exactly_one_of(*SCOPES)

    warehouse_code: Code
    positions: _Positions | None = None
    zone_id: Identifier | None = None
    item_codes: _ItemCodes | None = None
    blind: bool | None = Field(
        default=None,
        description="Whether people who may only count do not see what is expected; default true.",
    )
    assigned_to: Identifier | None = Field(default=None, description="The id of a user.")
    due_at: Moment | None = None
    comments: Note | None = None


class GoodsCount(Input):
    """What was counted at a position: goods, or with `empty` that nothing is there."""

    bin_code: Code
    item_code: Code | None = None
    batch: Code | None = None
    serials: Annotated[list[Code], Field(min_length=1, max_length=MAX_SERIALS)] | None = Field(
        default=None, description="The serials that are there; with `qty` 0, that are not."
    )
    qty: Measure | None = Field(
        default=None, description="The counted quantity; by default, the number of serials."
    )
    unit: Unit | None = None
    inventory_status: ShelfStatus | None = Field(
        default=None,
        description="By default the status of the goods in the count, else `available`.",
    )
    empty: bool | None = None
    counted_at: Moment | None = None


class RecountedLines(Input):
    """Lines to be counted again, by their numbers."""

    lines: Annotated[
        list[Annotated[int, Field(ge=1, le=MAX_ID), WHOLE_NUMBER]],
        Field(min_length=1, max_length=MAX_RECOUNTED),
        distinct(MAX_RECOUNTED),
    ]


class StoredCountLine(Stored):
    """A line of a count: the stock of a product at a position, or an empty position.

    `expected_qty` is what was there when the count was created; of a counted line, when it was
    counted. `movement_id` is the adjustment of the difference.
    """

    count_id: int
    line_num: int
    status: CountLineStatus = "open"
    bin_code: str
    product_id: int | None = None
    item_code: str | None = None
    product_name: str | None = None
    batch_num: str | None = None
    serial_number: str | None = None
    inventory_status: ShelfStatus | None = None
    expected_qty: Number = ZERO
    counted_qty: Number | None = None
    counted_by: Operator | None = None
    counted_at: Timestamp | None = None
    movement_id: int | None = None

    @property
    def difference(self) -> Decimal | None:
        """What was counted more than was there; None for a line that is not counted."""
        return None if self.counted_qty is None else self.counted_qty - self.expected_qty

    @property
    def is_due(self) -> bool:
        """Whether a difference of it is to be posted."""
        return bool(self.difference) and self.movement_id is None


class StoredCount(Stored):
    """A count as stored, without its lines, which are entities of their own.

    `by_products` is true of a count of products, which does not have all stock of its positions.
    `lines` is their number, from 1 on. `to_list` has what has no line yet: ids of stock rows, and
    codes of empty positions. `to_post` has the numbers of the lines whose differences are being
    posted; if the stock refused some of them, `is_approved` says that they need no other approval.
    """

    id: int
    status: CountStatus
    warehouse_id: int
    whs_code: str
    blind: bool
    by_products: bool = Field(default=False, exclude_if=operator.not_)
    assigned_to: Operator | None = None
    due_at: Timestamp | None = None
    comments: str | None = None
    lines: int = 0
    to_list: list[int | str] = Field(default_factory=list, exclude_if=operator.not_)
    to_post: list[int] = Field(default_factory=list, exclude_if=operator.not_)
    is_approved: bool = Field(default=False, exclude_if=operator.not_)
    created_at: Timestamp
    updated_at: Timestamp

    @property
    def line_nums(self) -> range:
        """The numbers of its lines."""
        return range(1, self.lines + 1)

    @property
    def assigned_id(self) -> int | None:
        """The id of the user whom it is assigned to."""
        return self.assigned_to.id if self.assigned_to else None


@dataclass(frozen=True, slots=True)
class CountSums:
    """Sums over the lines of a count: how many are counted, and differ; the counted units."""

    counted: int = 0
    differences: int = 0
    units: Decimal = ZERO

    def __add__(self, other: "CountSums") -> "CountSums":
        """Return both together."""
        return CountSums(
            self.counted + other.counted,
            self.differences + other.differences,
            self.units + other.units,
        )

    def __sub__(self, other: "CountSums") -> "CountSums":
        """Return these sums without those of others."""
        return CountSums(
            self.counted - other.counted,
            self.differences - other.differences,
            self.units - other.units,
        )


@dataclass(frozen=True, slots=True)
class CountWithSums:
    """A count with the sums over its lines."""

    record: Record[StoredCount]
    sums: CountSums


# As answered


class CountProgress(Stored):
    """How far a count is."""

    lines: int
    counted: int
    differences: int | None = Field(description="Null for who does not see what is expected.")
    units: Number


class CountLine(TypedDict):
    """A line of a count."""

    line_num: int
    status: CountLineStatus
    bin_code: str
    item_code: str | None
    product_name: str | None
    batch_num: str | None
    serial_number: str | None
    inventory_status: ShelfStatus | None
    expected_qty: Number | None
    counted_qty: Number | None
    difference: Number | None
    counted_by: Operator | None
    counted_at: Timestamp | None
    movement_id: int | None


class _CountFields(Stored):
    """What every response about a count shows."""

    object: Literal["count"] = "count"
    id: int
    code: str
    status: CountStatus
    warehouse_code: str
    blind: bool
    assigned_to: Operator | None
    due_at: Timestamp | None
    comments: str | None
    progress: CountProgress
    created_at: Timestamp
    updated_at: Timestamp = Field(
        description="Time of the last change of the count; that a line is counted is no change."
    )


class Count(_CountFields):
    """A count in a list."""


class ChangedCount(_CountFields):
    """A count after a change, without its lines, with the actions that its status admits."""

    actions: list[str]


class CountDetail(_CountFields):
    """One count with its lines, and the actions that its status admits."""

    lines: list[CountLine]
    actions: list[str]


class CountedLines(Stored):
    """The lines that a request has counted."""

    lines: list[CountLine]


class CountParameters(PeriodParameters):
    """Query parameters of the list of counts."""

    sort: Literal["created_at", "-created_at", "updated_at", "-updated_at"] = "-created_at"
    status: OneOf[CountStatus] | None = None
    warehouse: Text | None = None
    assigned_to: IdParameter | None = Field(default=None, description="The id of a user.")
