"""Models of warehouses and warehouse positions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from shared.kernel.calendar_days import time_zones
from shared.kernel.fields import (
    CODE,
    WHOLE_NUMBER,
    Code,
    Identifier,
    Input,
    Line,
    Measure,
    Name,
    Number,
    SmallInteger,
    Stored,
    Timestamp,
    Word,
)
from shared.kernel.list_parameters import IdParameter, KeyedParameters, Search, Text
from shared.kernel.metadata import Metadata, MetadataChange, stored_metadata

MAX_BULK = 1000
"""Maximum number of positions of one bulk request."""


def _zone(name: str) -> str:
    if name not in time_zones():
        raise PydanticCustomError("time_zone", "must be an IANA time zone, such as Europe/Madrid")
    return name


type TimeZone = Annotated[str, AfterValidator(_zone)]
"""Name of a time zone of the IANA database."""


class _WarehouseFields(Input):
    site_code: Code | None = None
    is_virtual: bool | None = None
    timezone: TimeZone | None = None
    street: Line | None = None
    block: Line | None = None
    city: Line | None = None
    state: Line | None = None
    zip_code: Line | None = None
    country: Line | None = None


class WarehouseCreate(_WarehouseFields):
    """A new warehouse."""

    whs_code: Code
    name: Name
    metadata: Metadata = Field(default={})


class WarehouseChange(_WarehouseFields):
    """A change of a warehouse. Fields that are not sent stay as they are."""

    whs_code: Code = ""
    name: Name = ""
    metadata: MetadataChange = Field(default={})


class StoredWarehouse(Stored):
    """A warehouse as stored."""

    id: int
    whs_code: str
    name: str
    site_code: str | None = None
    is_virtual: bool = False
    timezone: str | None = None
    street: str | None = None
    block: str | None = None
    city: str | None = None
    state: str | None = None
    zip_code: str | None = None
    country: str | None = None
    metadata: dict[str, str] = stored_metadata()
    created_at: Timestamp
    updated_at: Timestamp


class Warehouse(StoredWarehouse):
    """A warehouse."""

    metadata: dict[str, str]
    positions_count: int


class _PositionFields(Input):
    description: Line | None = None
    type: Word | None = None
    zone_id: Identifier | None = None
    is_pickable: bool | None = None
    is_blocked: bool | None = None
    is_crossdock: bool | None = None
    disabled: bool | None = None
    capacity_units: Measure | None = None
    capacity_weight_kg: Measure | None = None
    capacity_volume_m3: Measure | None = None


class _PlaceFields(_PositionFields):
    aisle: Word | None = None
    rack: Word | None = None
    level: Word | None = None
    slot: Word | None = None
    pick_sequence: SmallInteger | None = None
    warehouse_id: Identifier | None = None
    whs_code: Code | None = None


class PositionCreate(_PlaceFields):
    """A new position, in the warehouse that `warehouse_id` or `whs_code` names."""

    bin_code: Code


class PositionChange(_PlaceFields):
    """A change of a position. Fields that are not sent stay as they are.

    The warehouse of a position cannot change.
    """

    bin_code: Code = ""


class LabelRange(Input):
    """The numbers `from` to `to` (inclusive) as labels, with leading zeros up to `digits`."""

    first: SmallInteger = Field(alias="from")
    last: SmallInteger = Field(alias="to")
    digits: Annotated[int, Field(ge=1, le=9), WHOLE_NUMBER] = 1

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if not 0 <= self.last - self.first < MAX_BULK:
            raise PydanticCustomError(
                "label_range", f"must have from <= to and at most {MAX_BULK} numbers"
            )
        return self

    def labels(self) -> list[str]:
        """Return the labels."""
        return [f"{number:0{self.digits}d}" for number in range(self.first, self.last + 1)]


def _labels(value: Any) -> Any:
    return LabelRange.model_validate(value).labels() if isinstance(value, Mapping) else value


type Labels = Annotated[
    list[Annotated[Word, CODE]],
    Field(min_length=1, max_length=MAX_BULK),
    BeforeValidator(_labels),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
                {
                    "type": "object",
                    "properties": {name: {"type": "integer"} for name in ("from", "to", "digits")},
                    "required": ["from", "to"],
                },
            ]
        }
    ),
]
"""Labels of aisles, racks, levels or slots: a list, or a range `{from, to, digits}`."""


class PositionBulk(_PositionFields):
    """Positions by naming mask: one for each combination of the labels that the mask names.

    All positions get the same values of the other fields. `pick_sequence_start` is the pick
    sequence of the first position; the last label of the mask changes first.
    """

    warehouse_id: Identifier | None = None
    whs_code: Code | None = None
    naming_mask: Annotated[Line, Field(min_length=1), CODE]
    aisles: Labels | None = None
    racks: Labels | None = None
    levels: Labels | None = None
    slots: Labels | None = None
    pick_sequence_start: SmallInteger | None = None


class StoredPosition(Stored):
    """A position as stored."""

    id: int
    warehouse_id: int
    whs_code: str
    bin_code: str
    description: str | None = None
    type: str | None = None
    zone_id: int | None = None
    aisle: str | None = None
    rack: str | None = None
    level: str | None = None
    slot: str | None = None
    pick_sequence: int | None = None
    is_pickable: bool = True
    is_blocked: bool = False
    is_crossdock: bool = False
    disabled: bool = False
    capacity_units: Number | None = None
    capacity_weight_kg: Number | None = None
    capacity_volume_m3: Number | None = None
    created_at: Timestamp
    updated_at: Timestamp


class WarehouseReference(Stored):
    """The warehouse of another resource."""

    id: int
    whs_code: str
    name: str


class Position(StoredPosition):
    """A position."""

    warehouse: WarehouseReference | None = None


class WarehouseDetail(Warehouse):
    """A warehouse with its first 2000 positions in the order of their bin codes."""

    positions: list[Position]


@dataclass(frozen=True, slots=True)
class KnownWarehouse:
    """The facts about a warehouse that other records need."""

    id: int
    whs_code: str
    name: str


@dataclass(frozen=True, slots=True)
class KnownPosition:
    """The facts about a position that other records need."""

    id: int
    bin_code: str
    type: str | None
    """Use of the position, such as pick_face or staging_out."""
    pickable: bool
    disabled: bool
    blocked: bool
    products: frozenset[int] = frozenset()
    """Ids of the products whose pick face is this position."""

    def is_pick_face_of(self, product_id: int) -> bool:
        """Return whether the position is a pick face of the product.

        It is, if the product is assigned to it, or if it has the type `pick_face` and no product
        is assigned to it.
        """
        return product_id in self.products or (self.type == "pick_face" and not self.products)


@dataclass(frozen=True, slots=True)
class SequencedPosition:
    """A position, read from an index that can lag behind."""

    id: int
    bin_code: str
    pick_sequence: int | None


class WarehouseParameters(KeyedParameters):
    """Parameters of the list of warehouses."""

    sort: Literal["whs_code", "-whs_code", "name", "-name", "updated_at", "-updated_at"] = (
        "whs_code"
    )
    whs_code: Text | None = None
    search: Search | None = None
    is_virtual: bool | None = None


class PositionParameters(KeyedParameters):
    """Parameters of the list of positions."""

    sort: Literal[
        "bin_code", "-bin_code", "pick_sequence", "-pick_sequence", "updated_at", "-updated_at"
    ] = "bin_code"
    warehouse_id: IdParameter | None = None
    warehouse: Text | None = None
    bin_code: Text | None = None
    search: Search | None = None
