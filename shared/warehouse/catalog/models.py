"""What products and product categories are."""

import re
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from shared.kernel.fields import Barcode, Code, Input, Name, Note, Stored, Timestamp, Word
from shared.kernel.list_parameters import ListParameters, Search, Text

_ADDRESS = re.compile(r"https?://[^\s\x00-\x20\x7f\"<>\\^`{|}]+")


def _address(text: str) -> str:
    if not _ADDRESS.fullmatch(text):
        raise PydanticCustomError("web_address", "must be an http or https address")
    return text


type ImageUrl = Annotated[
    str,
    StringConstraints(max_length=2000),
    AfterValidator(_address),
    WithJsonSchema({"type": "string", "format": "uri", "maxLength": 2000}),
]
"""An http or https address."""


class ProductCreate(Input):
    """A new product. `sku` is another name of `item_code`; one of them is required."""

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
    """What may change of a product; only the fields sent do."""

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
    """A product, as stored and as answered."""

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
    """What work that names a product must know of it."""

    id: int
    item_code: str
    name: str
    by_batch: bool
    by_serial: bool
    in_stock: bool
    """Whether it is an inventory item."""


class CategoryCreate(Input):
    """A new product category."""

    name: Name
    description: Note | None = None


class CategoryChange(Input):
    """What may change of a product category; only the fields sent do."""

    name: Name = ""
    description: Note | None = None


class Category(Stored):
    """A product category, as stored and as answered."""

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
