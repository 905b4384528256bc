"""Rules of pick faces on plain data."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from shared.kernel.db.records import Record
from shared.kernel.errors import Problem
from shared.kernel.validation import Checked
from shared.warehouse.catalog.lines import GoodsLine, examine_lines
from shared.warehouse.catalog.models import KnownProduct
from shared.warehouse.pick_faces.models import PickFace, PickFaceDraft
from shared.warehouse.warehouses.models import KnownPosition, KnownWarehouse

MAX_PRODUCTS = 1000
"""Maximum number of products of one position; each lookup of the position reads all their ids."""


@dataclass(frozen=True, slots=True)
class NamedMasterData:
    """The master data that a draft names and the existing pick face; None if it does not exist."""

    product: KnownProduct | None
    warehouse: KnownWarehouse | None
    position: KnownPosition | None
    existing: Record[PickFace] | None


def examine(draft: Checked[PickFaceDraft], named: NamedMasterData) -> Iterator[Problem]:
    """Yield the problems of a draft that field validation does not find."""
    products = {named.product.item_code: named.product} if named.product else {}
    line = GoodsLine("", draft.item_code, None, {}, ("serials", None))
    yield from examine_lines([line], products).all
    yield from _place_problems(draft, named)
    minimum, maximum = quantities(draft, named.existing)
    if minimum is not None and maximum is not None and maximum < minimum:
        if "maximum" in draft.model_fields_set:
            yield Problem("maximum", f"must be at least minimum ({minimum:f})")
        else:
            yield Problem("minimum", f"must be at most maximum ({maximum:f})")


def _place_problems(draft: Checked[PickFaceDraft], named: NamedMasterData) -> Iterator[Problem]:
    whs_code, bin_code = draft.warehouse_code, draft.bin_code
    position = named.position
    if whs_code is not None and named.warehouse is None:
        yield Problem("warehouse_code", f"no warehouse has the code {whs_code}")
    if bin_code is None or named.warehouse is None:
        return
    if position is None:
        yield Problem("bin_code", f"warehouse {whs_code} has no position {bin_code}")
        return
    if position.disabled:
        yield Problem("bin_code", f"position {bin_code} is disabled")
    if not position.pickable:
        yield Problem("bin_code", f"position {bin_code} is not pickable")
    if named.existing is None and len(position.products) >= MAX_PRODUCTS:
        products = len(position.products)
        message = (
            f"position {bin_code} is the pick face of {products} products;"
            f" the limit is {MAX_PRODUCTS}"
        )
        yield Problem("bin_code", message)


def quantities(
    draft: Checked[PickFaceDraft], existing: Record[PickFace] | None
) -> tuple[Decimal | None, Decimal | None]:
    """Return minimum and maximum after the change."""

    def after(name: str) -> Decimal | None:
        keeps = existing is not None and name not in draft.model_fields_set
        quantity: Decimal | None = getattr(existing.entity if existing and keeps else draft, name)
        return quantity

    return after("minimum"), after("maximum")
