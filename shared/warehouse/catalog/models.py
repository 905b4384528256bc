"""Models of products and product categories."""

import re
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from shared.kernel.fields import ONE_LINE, Barcode, Code, Input, Name, Note, Stored, Timestamp, Word
from shared.kernel.list_parameters import ListParameters, Search, Text

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


class ProductChange(Input):
    """A change of a product. Fields that are not sent stay as they are."""

    item_code: Code = ""
    sku: Code = ""
    name: Name = ""
    barcode: Barcode | None = None
    type: Word | None = None
    image_url: ImageUrl | None = None
    man_btch_num: bool | None = None
    man_ser_num: bool | None = None
    sales_unit: Word | None = None
    purchase_unit: Word | None = None
    inventory_item: bool | None = None


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
    created_at: Timestamp
    updated_at: Timestamp


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


class CategoryChange(Input):
    """A change of a product category. Fields that are not sent stay as they are."""

    name: Name = ""
    description: Note | None = None


class Category(Stored):
    """A product category."""

    id: int
    name: str
    description: str | None = None
    created_at: Timestamp
    updated_at: Timestamp


class ProductParameters(ListParameters):
    """Parameters of the list of products."""

    sort: Literal[
        "id", "-id", "item_code", "-item_code", "name", "-name",
        "created_at", "-created_at", "updated_at", "-updated_at",
    ] = "id"  # fmt: skip
    item_code: Text | None = None
    sku: Text | None = None
    barcode: Text | None = None
    type: Text | None = None
    search: Search | None = None


class CategoryParameters(ListParameters):
    """Parameters of the list of product categories."""

    sort: Literal["name", "-name"] = "name"
    search: Search | None = None
