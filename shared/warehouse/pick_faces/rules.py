"""Rules of pick faces on plain data."""

from collections.abc import Iterator
from decimal import Decimal

from shared.kernel.db.records import Record
from shared.kernel.errors import Problem
from shared.kernel.validation import Checked
from shared.warehouse.catalog.lines import GoodsLine, examine_lines
from shared.warehouse.master_data.named_codes import MasterData
from shared.warehouse.pick_faces.models import PickFace, PickFaceDraft

MAX_PRODUCTS = 1000
"""Maximum number of products of one position; each lookup of the position reads all their ids."""


def examine(
    draft: Checked[PickFaceDraft], known: MasterData, existing: Record[PickFace] | None
) -> Iterator[Problem]:
    """Yield the problems of a draft that field validation does not find.

    `existing` is the pick face that there is already, if any.
    """
    line = GoodsLine("", draft.item_code, None, {}, ("serials", None))
    yield from examine_lines([line], known.products).all
    yield from _place_problems(draft, known, is_new=existing is None)
    minimum, maximum = quantities(draft, existing)
    if minimum is not None and maximum is not None and maximum < minimum:
        if "maximum" in draft.model_fields_set:
            yield Problem("maximum", f"must be at least minimum ({minimum:f})")
        else:
            yield Problem("minimum", f"must be at most maximum ({maximum:f})")


def _place_problems(
    draft: Checked[PickFaceDraft], known: MasterData, *, is_new: bool
) -> Iterator[Problem]:
    whs_code, bin_code = draft.warehouse_code, draft.bin_code
    yield from known.warehouse_problems("warehouse_code", whs_code)
    if bin_code is None or whs_code is None or whs_code not in known.warehouses:
        return
    position = known.positions.get((whs_code, bin_code))
    if position is None:
        yield Problem("bin_code", f"warehouse {whs_code} has no position {bin_code}")
        return
    if position.disabled:
        yield Problem("bin_code", f"position {bin_code} is disabled")
    if not position.pickable:
        yield Problem("bin_code", f"position {bin_code} is not pickable")
    if is_new and len(position.products) >= MAX_PRODUCTS:
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
