"""Rules of products on plain data."""

from collections.abc import Iterator, Mapping
from typing import Any

from shared.kernel.errors import Problem
from shared.kernel.validation import Checked
from shared.warehouse.catalog.models import (
    PackagingChange,
    Product,
    ProductChange,
    ProductCreate,
)
from shared.warehouse.gs1.numbers import gtin_14

_MANAGEMENT = ("man_btch_num", "man_ser_num", "inventory_item")


def code_of(draft: Checked[ProductCreate] | Checked[ProductChange]) -> str:
    """Return the item code that a body has as `item_code` or `sku`; empty if it has none."""
    return draft.item_code or draft.sku or ""


def code_problems(draft: Checked[ProductCreate] | Checked[ProductChange]) -> list[Problem]:
    """Return a problem if a body has one code as `item_code` and another as `sku`."""
    if draft.sku and code_of(draft) != draft.sku:
        return [Problem("sku", f"must be equal to item_code ({draft.item_code})")]
    return []


def values(draft: ProductCreate | ProductChange) -> dict[str, Any]:
    """Return the fields other than the code that a body sets."""
    return Product.values_of(draft, without={"item_code", "sku"})


def changes_identity(before: Product, after: Product) -> bool:
    """Return whether the change would invalidate records that refer to the product.

    The code and the management (by batch, by serial, in stock) must not change while anything
    refers to the product.
    """
    return before.item_code != after.item_code or any(
        getattr(before, name) != getattr(after, name) for name in _MANAGEMENT
    )


def valid_gtins(change: Checked[PackagingChange]) -> dict[int, str]:
    """Return the valid GTINs of a body by their place in the list."""
    return {place: one.gtin for place, one in enumerate(change.gtins or ()) if one.gtin is not None}


def repeated_gtins(gtins: Mapping[int, str]) -> Iterator[Problem]:
    """Yield a problem for each GTIN that stands in the list before, in whichever form."""
    places: dict[str, int] = {}
    for place, gtin in gtins.items():
        first = places.setdefault(gtin_14(gtin), place)
        if first != place:
            yield Problem(f"gtins.{place}.gtin", f"is the same GTIN as gtins.{first}.gtin")
