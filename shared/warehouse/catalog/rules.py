"""Decisions about products, on plain data."""

from collections.abc import Mapping
from typing import Any

from shared.kernel.errors import Problem
from shared.kernel.validation import Checked
from shared.warehouse.catalog.models import Product, ProductChange, ProductCreate

_DEFAULTS: Mapping[str, bool] = {
    "man_btch_num": False,
    "man_ser_num": False,
    "inventory_item": True,
}
"""What null or an absent field means for the flags of a product."""

_MANAGEMENT = ("man_btch_num", "man_ser_num", "inventory_item")


def code_of(
    draft: Checked[ProductCreate] | Checked[ProductChange],
) -> tuple[str | None, list[Problem]]:
    """Return the item code that a body has as `item_code` or `sku`, and what is wrong with it."""
    sent = draft.model_fields_set
    code = draft.item_code if "item_code" in sent else None
    sku = draft.sku if "sku" in sent else None
    if code and sku and code != sku:
        return None, [Problem("sku", "must be equal to item_code")]
    return code or sku, []


def item_code(draft: ProductCreate) -> str:
    """Return the item code of a draft that has one as `item_code` or `sku`."""
    return draft.item_code or draft.sku or ""


def values(draft: ProductCreate | ProductChange) -> dict[str, Any]:
    """Return the fields that a body sets, null flags replaced by their defaults."""
    sent = draft.model_dump(exclude_unset=True, exclude={"item_code", "sku"})
    for name, default in _DEFAULTS.items():
        if name in sent and sent[name] is None:
            sent[name] = default
    return sent


def changes_identity(before: Product, after: Product) -> bool:
    """Tell whether work that names the product would be wrong after the change.

    Its code, and how it is managed (batch, serial, stock at all), must stay while
    anything refers to it.
    """
    return before.item_code != after.item_code or any(
        getattr(before, name) != getattr(after, name) for name in _MANAGEMENT
    )
