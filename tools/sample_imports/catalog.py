"""A catalog of 2 000 products of the electrical trade, with sizes, colors and lengths."""

import tomllib
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from tools.sample_imports.sheets import RowValues

FIELDS = (
    "item_code", "name", "barcode", "type", "man_btch_num", "man_ser_num",
    "sales_unit", "purchase_unit", "inventory_item", "metadata.erp_id",
)  # fmt: skip

_FAMILIES = Path(__file__).with_name("families.toml")
_FIRST_BARCODE = 952_000_200_000
"""With the GS1 prefix for demonstrations, without check digit."""
_BARCODE_STEP = 7


def products() -> list[RowValues]:
    """Return the products as rows of an import file."""
    families = tomllib.loads(_FAMILIES.read_text(encoding="utf-8"))["family"]
    found = [row_values for family in families for row_values in _products_of(family)]
    for number, row_values in enumerate(found):
        row_values["metadata.erp_id"] = f"M{number + 1:06}"
        if row_values["inventory_item"] == "yes":
            row_values["barcode"] = _barcode(_FIRST_BARCODE + number * _BARCODE_STEP)
    return found


def _products_of(family: Mapping[str, Any]) -> Iterator[RowValues]:
    traits = [[_trait(trait) for trait in traits.split()] for traits in family["traits"]]
    for combination in product(*traits):
        codes, words = zip(*combination, strict=True)
        yield {
            "item_code": family["code"].format(*codes),
            "name": family["name"].format(*words),
            "type": family["type"],
            "man_btch_num": "yes" if family.get("managed_by") == "batch" else "no",
            "man_ser_num": "yes" if family.get("managed_by") == "serial" else "no",
            "sales_unit": family.get("unit", "pcs"),
            "purchase_unit": family.get("bought", "box"),
            "inventory_item": "yes" if family.get("stocked", True) else "no",
        }


def _trait(text: str) -> tuple[str, str]:
    code, _, words = text.partition("=")
    return code, (words or code).replace("_", " ")


def _barcode(first_twelve: int) -> str:
    digits = str(first_twelve)
    weighted = sum(int(digit) * (1, 3)[index % 2] for index, digit in enumerate(digits))
    return f"{digits}{-weighted % 10}"
