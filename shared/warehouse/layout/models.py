"""Models of the map of a warehouse, as sent and as published.

Lengths are in metres. The origin is the lower left corner of the floor; x runs along `width_m`,
y along `depth_m`.
"""

from decimal import Decimal
from functools import cache
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StringConstraints,
    TypeAdapter,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from shared.kernel.fields import (
    ONE_LINE,
    WHOLE_NUMBER,
    Code,
    Input,
    Line,
    Measure,
    Number,
    Quantity,
    SmallInteger,
    Stored,
    Timestamp,
    Word,
    whole_number,
)

MAX_ZONES = 200
MAX_AISLES = 1000
MAX_BAYS = 5000
MAX_LEVELS = 50
MAX_POINTS = 5000
MAX_CORNERS = 200
"""Maximum number of corners of one polygon."""
MAX_CORNERS_IN_ALL = 5000
"""Maximum number of corners of all polygons. The cost of a check grows with their square."""
_MAX_LENGTH_M = 10_000
_MICROMETRE = Decimal("0.000001")
_FULL_TURN = 360


def _at_most(limit: int) -> AfterValidator:
    def check(number: Decimal) -> Decimal:
        if number > limit:
            raise PydanticCustomError("number_range", f"must be at most {limit}")
        return number

    return AfterValidator(check)


def _rounded(value: Any) -> Any:
    if isinstance(value, Decimal) and abs(value) <= _MAX_LENGTH_M:
        return value.quantize(_MICROMETRE)
    return value


# Drawing programs compute with binary floats and send values such as 0.30000000000000004.
_ROUNDED = BeforeValidator(_rounded)

type Metres = Annotated[
    Measure,
    _ROUNDED,
    _at_most(_MAX_LENGTH_M),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": _MAX_LENGTH_M}),
]
"""A coordinate or height: 0 to 10 000 m, rounded to micrometres."""
type Extent = Annotated[
    Quantity,
    _ROUNDED,
    _at_most(_MAX_LENGTH_M),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "maximum": _MAX_LENGTH_M}),
]
"""A length: more than 0, at most 10 000 m, rounded to micrometres."""
type Degrees = Annotated[
    Measure,
    _ROUNDED,
    _at_most(_FULL_TURN),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": _FULL_TURN}),
]
"""A counterclockwise angle: 0 to 360."""

type LayoutWord = Annotated[str, StringConstraints(strip_whitespace=True, max_length=32), ONE_LINE]
"""A free word about a part of the map, such as a kind or a color: up to 32 characters."""


@cache
def _word() -> TypeAdapter[str]:
    return TypeAdapter(Word)


@cache
def _number() -> TypeAdapter[int]:
    return TypeAdapter(SmallInteger)


def _label(value: Any) -> int | str:
    value = whole_number(value)
    if isinstance(value, int):
        return _number().validate_python(value, strict=True)
    return _word().validate_python(value, strict=True)


type Label = Annotated[
    int | str,
    BeforeValidator(_label),
    WithJsonSchema({"type": ["integer", "string"], "minimum": 0, "minLength": 1, "maxLength": 32}),
]
"""Number of an aisle or bay: an integer or up to 32 characters. `1` and `"1"` are equal."""

type Corner = Annotated[list[Metres], Field(min_length=2, max_length=2)]
"""A coordinate pair [x, y]."""


# As sent


class DepotDraft(Input):
    """The place where pick routes start and end."""

    x: Metres
    y: Metres


class ZoneDraft(Input):
    """An area of the floor. The first corner of `polygon` may be repeated at the end."""

    code: Code
    type: LayoutWord | None = None
    polygon: Annotated[list[Corner], Field(min_length=3, max_length=MAX_CORNERS)]
    color: LayoutWord | None = None
    temperature_class: LayoutWord | None = None
    naming_mask: Line | None = None


class AisleDraft(Input):
    """An aisle: the center line from (`x1`, `y1`) to (`x2`, `y2`) and a width."""

    number: Label
    x1: Metres
    y1: Metres
    x2: Metres
    y2: Metres
    width_m: Extent | None = None
    one_way: bool = False
    kind: LayoutWord | None = None
    zone: Code | None = None


class LevelDraft(Input):
    """One level of a bay."""

    level_no: SmallInteger
    z_from_m: Metres
    height_m: Extent
    max_weight_kg: Measure | None = None
    golden: bool = False


class BayDraft(Input):
    """A bay: `w` along x and `d` along y from its lower left corner, then rotated about it.

    `aisle` is the number of the aisle that serves the bay. `aisle_zone` is the zone of that
    aisle; it is required if aisles of several zones have the same number.
    """

    side: LayoutWord | None = None
    number: Label
    x: Metres
    y: Metres
    w: Extent
    d: Extent
    rotation: Degrees = Decimal(0)
    rack_type: LayoutWord | None = None
    aisle: Label | None = None
    aisle_zone: Code | None = None
    levels: Annotated[list[LevelDraft], Field(max_length=MAX_LEVELS)] = Field(default_factory=list)


class PointDraft(Input):
    """A point of interest, such as a dock door, a packing table or a charger."""

    code: Code
    kind: LayoutWord | None = None
    x: Metres
    y: Metres


class LayoutDraft(Input):
    """A complete map to publish. It replaces the published map."""

    width_m: Extent
    depth_m: Extent
    grid_m: Extent | None = None
    naming_mask: Line | None = None
    slots_per_level: Annotated[int, Field(ge=1, le=1000), WHOLE_NUMBER] | None = None
    depot: DepotDraft | None = None
    zones: Annotated[list[ZoneDraft], Field(max_length=MAX_ZONES)] = Field(default_factory=list)
    aisles: Annotated[list[AisleDraft], Field(max_length=MAX_AISLES)] = Field(default_factory=list)
    bays: Annotated[list[BayDraft], Field(max_length=MAX_BAYS)] = Field(default_factory=list)
    points: Annotated[list[PointDraft], Field(max_length=MAX_POINTS)] = Field(default_factory=list)


# As published


class Depot(Stored):
    """The place where pick routes start and end."""

    x: Number
    y: Number


class Zone(Stored):
    """An area of the floor."""

    code: str
    type: str | None
    polygon: list[Annotated[list[Number], Field(min_length=2, max_length=2)]]
    color: str | None
    temperature_class: str | None
    naming_mask: str | None


class Aisle(Stored):
    """An aisle between bays."""

    number: int | str
    x1: Number
    y1: Number
    x2: Number
    y2: Number
    width_m: Number | None
    one_way: bool
    kind: str | None
    zone: str | None


class Level(Stored):
    """One level of a bay."""

    level_no: int
    z_from_m: Number
    height_m: Number
    max_weight_kg: Number | None
    golden: bool


class Bay(Stored):
    """A bay with its levels."""

    side: str | None
    number: int | str
    x: Number
    y: Number
    w: Number
    d: Number
    rotation: Number
    rack_type: str | None
    aisle: int | str | None
    aisle_zone: str | None
    levels: list[Level]


class MapPoint(Stored):
    """A point of interest."""

    code: str
    kind: str | None
    x: Number
    y: Number


class _Content(Stored):
    width_m: Number
    depth_m: Number
    grid_m: Number | None
    naming_mask: str | None
    slots_per_level: int | None
    depot: Depot | None
    zones: list[Zone]
    aisles: list[Aisle]
    bays: list[Bay]
    points: list[MapPoint]


class StoredLayout(_Content):
    """A map as stored, with the id of its warehouse. Its version is the version of the item."""

    id: int
    published_at: Timestamp


class LayoutHeading(Stored):
    """Warehouse, version and publication time of a map."""

    warehouse_code: str | None
    version: int
    published_at: Timestamp | None


class Layout(_Content, LayoutHeading):
    """A published map."""
