"""Rules of products on plain data."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from shared.kernel.errors import Problem
from shared.kernel.fields import ZERO, normalized, plain
from shared.kernel.validation import Checked
from shared.warehouse.catalog.models import (
    MAX_UNITS,
    GtinDraft,
    Packaging,
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


def folded_unit(unit: str) -> str:
    """Return the form of the name of a unit in which units are compared."""
    return normalized(unit.casefold())


def unknown_unit(unit: str, units: Mapping[str, Decimal]) -> str:
    """Return why a unit is refused that is none of a product's `units`."""
    names = ", ".join(f"{name} ({plain(qty)})" for name, qty in units.items())
    message = f"the product has no unit {unit}; it has {names}"
    if not names:
        message = f"the product has no unit {unit}; it has none"
    return message


def unit_problems(change: Checked[PackagingChange], former: Packaging) -> Iterator[Problem]:
    """Yield the problems of the units of measure of a body, and of GTINs that name units.

    A GTIN counts whole units. One that is not sent keeps the unit that it names.
    """
    if change.units is None:
        return
    sent = [(one.unit, one.qty) for one in change.units]
    yield from _repeated_units([unit for unit, _ in sent])
    if "units" not in change.model_fields_set:
        sent = [(one.unit, one.qty) for one in former.units]
    units = {unit: qty for unit, qty in sent if unit is not None}
    places = {folded_unit(unit): place for place, (unit, _) in enumerate(sent) if unit is not None}
    if "gtins" in change.model_fields_set:
        for place, one in enumerate(change.gtins or ()):
            yield from _gtin_unit_problems(f"gtins.{place}", one, units)
        return
    for gtin in former.gtins:
        if gtin.unit is None:
            continue
        at = places.get(folded_unit(gtin.unit))
        if at is None:
            yield Problem("units", f"must have {gtin.unit}, which the GTIN {gtin.gtin} names")
        elif not _is_countable(sent[at][1]):
            yield Problem(f"units.{at}.qty", _uncountable(f"the GTIN {gtin.gtin} names the unit"))


def _uncountable(reason: str) -> str:
    return f"must be a whole number of at most {MAX_UNITS}: {reason}"


def _is_countable(qty: Decimal | None) -> bool:
    """Return whether a GTIN may name a unit of this quantity; None is invalid in any case."""
    return qty is None or (qty == qty.to_integral_value() and qty <= MAX_UNITS)


def _repeated_units(units: Sequence[str | None]) -> Iterator[Problem]:
    places: dict[str, int] = {}
    for place, unit in enumerate(units):
        first = place if unit is None else places.setdefault(folded_unit(unit), place)
        if first != place:
            yield Problem(f"units.{place}.unit", f"is the same unit as units.{first}.unit")


def _gtin_unit_problems(
    path: str, one: Checked[GtinDraft], units: Mapping[str, Decimal | None]
) -> Iterator[Problem]:
    if one.unit is None:
        return
    known = {folded_unit(name): qty for name, qty in units.items()}
    if folded_unit(one.unit) not in known:
        counted = {name: qty for name, qty in units.items() if qty is not None}
        yield Problem(f"{path}.unit", unknown_unit(one.unit, counted))
        return
    qty = known[folded_unit(one.unit)]
    if not _is_countable(qty):
        yield Problem(f"{path}.unit", _uncountable(f"{one.unit} counts {plain(qty or ZERO)}"))
    elif "units" in one.model_fields_set and None not in {qty, one.units} and one.units != qty:
        message = f"must be {plain(qty or ZERO)}, as {one.unit} counts, or not be sent"
        yield Problem(f"{path}.units", message)


def with_counted_gtins(packaging: Packaging) -> Packaging:
    """Return a packaging whose GTINs on a unit of measure count its units."""
    units = {folded_unit(one.unit): one for one in packaging.units}
    gtins = [
        one.model_copy(update={"unit": unit.unit, "units": int(unit.qty)})
        if (unit := units.get(folded_unit(one.unit or "")))
        else one
        for one in packaging.gtins
    ]
    return packaging.model_copy(update={"gtins": gtins})
