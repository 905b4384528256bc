"""Models of products and product categories."""

import operator
import re
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, PrivateAttr, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from shared.kernel.fields import (
    ONE_LINE,
    SCANNED,
    WHOLE_NUMBER,
    Barcode,
    Code,
    Input,
    Name,
    Note,
    Number,
    Quantity,
    Stored,
    Timestamp,
    Unit,
    Word,
)
from shared.kernel.list_parameters import KeyedParameters, Search, Text
from shared.kernel.metadata import Metadata, MetadataChange, stored_metadata
from shared.warehouse.gs1.numbers import gtin_problem

_ADDRESS = re.compile(r"https?://[^\s\x00-\x20\x7f\"<>\\^`{|}]+")


def _address(text: str) -> str:
    if not _ADDRESS.fullmatch(text):
        raise PydanticCustomError("web_address", "must be an http or https address")
    return text


type ImageUrl = Annotated[
    str,
    StringConstraints(max_length=2000),
    ONE_LINE,
    AfterValidator(_address),
    WithJsonSchema({"type": "string", "format": "uri", "maxLength": 2000}),
]
"""An http or https address."""


MAX_REMAINING_DAYS = 3650
"""Maximum of `min_remaining_days`."""

type _Days = Annotated[int, Field(ge=0, le=MAX_REMAINING_DAYS), WHOLE_NUMBER]


class ProductCreate(Input):
    """A new product. `sku` is an alias of `item_code`; one of them is required."""

    item_code: Code | None = None
    sku: Code | None = None
    name: Name
    barcode: Barcode | None = None
    type: Word | None = None
    image_url: ImageUrl | None = None
    man_btch_num: bool | None = None
    man_ser_num: bool | None = None
    sales_unit: Word | None = None
    purchase_unit: Word | None = None
    inventory_item: bool | None = None
    min_remaining_days: _Days | None = None
    metadata: Metadata = Field(default={})


class ProductChange(ProductCreate):
    """A change of a product. Fields that are not sent stay as they are."""

    item_code: Code = ""
    sku: Code = ""
    name: Name = ""
    metadata: MetadataChange = Field(default={})  # type: ignore[assignment]


class Product(Stored):
    """A product."""

    id: int
    item_code: str
    sku: str
    name: str
    barcode: str | None = None
    type: str | None = None
    image_url: str | None = None
    man_btch_num: bool = False
    man_ser_num: bool = False
    sales_unit: str | None = None
    purchase_unit: str | None = None
    inventory_item: bool = True
    min_remaining_days: int | None = None
    metadata: dict[str, str] = Field(default_factory=dict)
    created_at: Timestamp
    updated_at: Timestamp


MAX_GTINS = 20
"""Most GTINs of a product: a change of all of them must fit into one transaction."""


MAX_UNITS = 1_000_000
"""Most units that a GTIN counts."""


MAX_UNITS_OF_MEASURE = 10
"""Most units of measure of a product."""


def _gtin(text: str) -> str:
    if problem := gtin_problem(text):
        raise PydanticCustomError("gtin", problem)
    return text


type Gtin = Annotated[
    str,
    AfterValidator(_gtin),
    SCANNED,
    WithJsonSchema({"type": "string", "pattern": "^(\\d{8}|\\d{12,14})$"}),
]
"""A GTIN of 8, 12, 13 or 14 digits with its check digit."""


class GtinDraft(Input):
    """A GTIN of a product, and how many units it counts, or the unit of measure that it is on."""

    gtin: Gtin
    units: Annotated[int, Field(ge=1, le=MAX_UNITS), WHOLE_NUMBER] = 1
    unit: Unit | None = None


class UnitOfMeasureDraft(Input):
    """A unit of measure of a product, and how many base units it counts."""

    unit: Unit
    qty: Quantity


class PackagingChange(Input):
    """A change of the packaging of a product. Fields that are not sent stay as they are."""

    weight_kg: Quantity | None = None
    length_mm: Quantity | None = None
    width_mm: Quantity | None = None
    height_mm: Quantity | None = None
    gtins: list[GtinDraft] = Field(default=[], max_length=MAX_GTINS)
    units: list[UnitOfMeasureDraft] = Field(default=[], max_length=MAX_UNITS_OF_MEASURE)


class PackagedGtin(Stored):
    """A GTIN of a product, and how many units it counts: 1 for the piece, 12 for a case of 12."""

    gtin: str
    units: int
    unit: str | None = None


class UnitOfMeasure(Stored):
    """A unit of measure of a product, and how many base units it counts: BOX, 12."""

    unit: str
    qty: Number


class Packaging(Stored):
    """Weight, measures, GTINs and units of measure of a product."""

    weight_kg: Number | None = None
    length_mm: Number | None = None
    width_mm: Number | None = None
    height_mm: Number | None = None
    gtins: list[PackagedGtin] = Field(default_factory=list)
    units: list[UnitOfMeasure] = Field(default_factory=list)


class StoredProduct(Product):
    """A product as stored. Fields that few products have are left out of the JSON when empty."""

    min_remaining_days: int | None = Field(default=None, exclude_if=partial(operator.is_, None))
    metadata: dict[str, str] = stored_metadata()
    packaging: Packaging | None = Field(default=None, exclude_if=operator.not_)


class UnitGoods(Input):
    """Goods in a request: the product, and the quantity, which counts `unit` if that is sent.

    `catalog.unit_quantities` makes it a quantity in base units.
    """

    item_code: Code
    qty: Quantity
    unit: Unit | None = None
    _unit_qty: Decimal | None = PrivateAttr(default=None)

    @property
    def unit_qty(self) -> Decimal | None:
        """The quantity as it was sent, if it counted a unit."""
        return self._unit_qty

    def in_base_units(self, qty: Decimal) -> Self:
        """Return the goods with their quantity in base units."""
        counted = self.model_copy(update={"qty": qty})
        counted._unit_qty = self.qty  # noqa: SLF001 - a copy of this object
        return counted


class CountedLine(Stored):
    """A stored line of a document, or a part of one: its quantity, which is in base units.

    `unit` and `unit_qty` are the unit and quantity as they were sent; null if no unit was. A change
    of `qty` sets both to null.
    """

    qty: Number
    unit: str | None = Field(default=None, exclude_if=operator.not_)
    unit_qty: Number | None = Field(default=None, exclude_if=operator.not_)

    @property
    def sent_qty(self) -> Decimal:
        """The quantity as it was sent."""
        return self.qty if self.unit_qty is None else self.unit_qty


class GoodsDraft(UnitGoods):
    """Goods in a request: exactly one of `item_code` and `gtin`, and the quantity.

    `qty` counts what the GTIN is on; `catalog.gtins` turns both into the product and its units.
    """

    item_code: Code = ""
    gtin: Gtin | None = None


class OptionalGoods(Input):
    """Goods of a body that may have several lines instead, so that no field is required."""

    item_code: Code = ""
    gtin: Gtin | None = None
    qty: Quantity | None = None
    unit: Unit | None = None


@dataclass(frozen=True, slots=True)
class KnownProduct:
    """The facts about a product that other records need."""

    id: int
    item_code: str
    name: str
    by_batch: bool
    by_serial: bool
    in_stock: bool
    """Whether the product is an inventory item."""


class CategoryCreate(Input):
    """A new product category."""

    name: Name
    description: Note | None = None


class CategoryChange(CategoryCreate):
    """A change of a product category. Fields that are not sent stay as they are."""

    name: Name = ""


class Category(Stored):
    """A product category."""

    id: int
    name: str
    description: str | None = None
    created_at: Timestamp
    updated_at: Timestamp


class ProductParameters(KeyedParameters):
    """Parameters of the list of products."""

    sort: Literal[
        "id", "-id", "item_code", "-item_code", "name", "-name",
        "created_at", "-created_at", "updated_at", "-updated_at",
    ] = "id"  # fmt: skip
    item_code: Text | None = None
    sku: Text | None = None
    barcode: Annotated[Text, SCANNED] | None = None
    gtin: Gtin | None = Field(
        default=None,
        description="Only the product that has this GTIN in its packaging or, if none has, those"
        " with it as their `barcode`; whatever the leading zeros.",
    )
    type: Text | None = None
    search: Search | None = None


class CategoryParameters(KeyedParameters):
    """Parameters of the list of product categories."""

    sort: Literal["name", "-name"] = "name"
    search: Search | None = None
