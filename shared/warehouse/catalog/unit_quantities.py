"""Quantities of goods that a request counts in a unit of measure of the product, such as boxes.

They become quantities in base units before anything else looks at them. The factor of a unit is the
one stored when the request reads the product; a concurrent change of the packaging applies entirely
or not at all.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from shared.kernel.db.items import Item, Key
from shared.kernel.errors import Problem
from shared.kernel.fields import LEAST_QUANTITY, MAX_QUANTITY, plain
from shared.kernel.references import is_former
from shared.kernel.validation import Checked, invalid_fields
from shared.warehouse.catalog.drafts import own_lines, with_lines, with_problem, with_values
from shared.warehouse.catalog.models import UnitGoods
from shared.warehouse.catalog.repository import code_key
from shared.warehouse.catalog.rules import folded_unit, unknown_unit


def unit_keys(drafts: Iterable[Any]) -> list[Key]:
    """Return the keys of the aliases that `in_base_units` needs for goods."""
    return [code_key(draft.item_code) for draft in drafts if draft.unit and draft.item_code]


def in_base_units[M: BaseModel](
    draft: Checked[M], aliases: Mapping[Key, Item], fields: Sequence[str] = ("qty",)
) -> Checked[M]:
    """Return goods whose quantities in `fields` are in base units; as they are without a unit.

    `aliases` has the aliases of the products that exist. Goods whose unit is unknown have no `qty`.
    """
    unit: str | None = getattr(draft, "unit", None)
    code: str | None = getattr(draft, "item_code", None)
    if unit is None and "unit" in invalid_fields(draft):
        return _uncounted(draft, fields)
    if unit is None or not code:
        return draft
    alias = aliases.get(code_key(code))
    if alias is None or is_former(alias):
        return with_problem(draft, Problem("item_code", f"no product has the code {code}"))
    units = {name: Decimal(qty) for name, qty in (alias.get("units") or {}).items()}
    folded = folded_unit(unit)
    factor = next((qty for name, qty in units.items() if folded_unit(name) == folded), None)
    if factor is None:
        problem = Problem("unit", unknown_unit(unit, units))
        return with_problem(_uncounted(draft, fields), problem)
    return _counted(draft, unit, factor, fields)


def lines_in_base_units[M: BaseModel](body: Checked[M], aliases: Mapping[Key, Item]) -> Checked[M]:
    """Do what `in_base_units` does for a body whose `lines` are goods."""
    lines: Sequence[Checked[UnitGoods]] = getattr(body, "lines", None) or ()
    if all("unit" not in line.model_fields_set for line in lines):
        return body
    own: list[Checked[UnitGoods]] = own_lines(body)
    return with_lines(body, own, [in_base_units(line, aliases) for line in own])


def _uncounted[M: BaseModel](draft: Checked[M], fields: Sequence[str]) -> Checked[M]:
    """Return goods without their quantity, which is unknown as long as the unit is."""
    return with_values(draft, qty=None) if fields == ("qty",) else draft


def _counted[M: BaseModel](
    draft: Checked[M], unit: str, factor: Decimal, fields: Sequence[str]
) -> Checked[M]:
    sent: dict[str, Decimal] = {
        name: qty for name in fields if (qty := getattr(draft, name)) is not None
    }
    base = {name: (qty * factor).normalize() for name, qty in sent.items()}
    if isinstance(draft, UnitGoods):
        counted: Checked[M] = draft.in_base_units(base["qty"])
    else:
        counted = with_values(draft, **base)
    for name, qty in base.items():
        message = too_many(qty)
        if message is None and qty.quantize(LEAST_QUANTITY) != qty:
            message = f"{plain(sent[name])} {unit} are {plain(qty)} units; at most 6 decimals fit"
        if message is not None:
            counted = with_problem(counted, Problem(name, message))
    return counted


def too_many(qty: Decimal) -> str | None:
    """Return why a quantity in base units is refused; None if it is not too large."""
    if qty <= MAX_QUANTITY:
        return None
    return f"must count at most {MAX_QUANTITY} units; {plain(qty)} requested"
