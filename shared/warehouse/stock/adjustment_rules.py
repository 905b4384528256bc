"""Rules of stock adjustments on plain data: what makes a request invalid."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from shared.kernel.errors import Problem
from shared.kernel.validation import Checked, given_fields, invalid_fields, of_valid_fields
from shared.warehouse.catalog.lines import GoodsLine, examine_goods, repeated_serials
from shared.warehouse.catalog.models import KnownProduct
from shared.warehouse.master_data.named_codes import MasterData
from shared.warehouse.stock.adjustment_models import (
    ADJUSTMENT_METHODS,
    AdjustmentDraft,
    AdjustmentFields,
)


def adjustment_problems(
    draft: Checked[AdjustmentFields], known: MasterData, *, dated_counts: bool = False
) -> Iterator[Problem]:
    """Yield every problem of an adjustment other than those of its fields.

    With `dated_counts`, a counted quantity may have the expiry date of the goods that it adds.
    """
    yield from of_valid_fields(draft, _required_problems(draft))
    yield from _method_problems(draft, "counted_qty" if dated_counts else None)
    code, whs_code, bin_code = draft.item_code, draft.warehouse, draft.bin_code
    product = known.products.get(code or "")
    if code is not None and product is None:
        yield Problem("item_code", f"no product has the code {code}")
    yield from known.warehouse_problems("warehouse", whs_code)
    is_known = whs_code is not None and whs_code in known.warehouses
    if bin_code is not None and is_known and (whs_code, bin_code) not in known.positions:
        yield Problem("bin_code", f"warehouse {whs_code} has no position {bin_code}")
    if product:
        yield from _goods_problems(draft, product)


def _goods_problems(draft: Checked[AdjustmentFields], product: KnownProduct) -> Iterator[Problem]:
    if not product.in_stock:
        yield Problem("item_code", f"product {product.item_code} is not kept in stock")
    serials = [draft.serial] if draft.serial is not None else None
    line = GoodsLine("", product.item_code, None, {"batch": draft.batch}, ("serial", serials))
    yield from examine_goods(line, product)
    if draft.serial is not None:
        for method in ("counted_qty", "increase", "decrease", "qty"):
            value = getattr(draft, method)
            if value is not None and value not in {0, 1}:
                missing = ", or 0 if it is missing" if method == "counted_qty" else ""
                yield Problem(method, f"must be 1 for a serial{missing}; {value:f} given")


def reason_problems(draft: Checked[AdjustmentFields]) -> Iterator[Problem]:
    """Yield a problem if an adjustment has no reason."""
    if not given_fields(draft, ["reason"]):
        yield Problem("reason", "is required")


def is_correction(draft: Checked[AdjustmentFields]) -> bool:
    """Return whether an adjustment only corrects the expiry date of a batch."""
    return given_fields(draft, ("expiry_date", *ADJUSTMENT_METHODS)) == ["expiry_date"]


def _required_problems(draft: Checked[AdjustmentFields]) -> Iterator[Problem]:
    for name in ("item_code", "warehouse", "bin_code"):
        if getattr(draft, name) is None:
            yield Problem(name, "is required")


def _method_problems(draft: Checked[AdjustmentFields], dated: str | None) -> Iterator[Problem]:
    given = given_fields(draft, ADJUSTMENT_METHODS)
    if len(given) != 1:
        wanted = f"exactly one of {', '.join(ADJUSTMENT_METHODS)} is required; {len(given)} given"
        yield Problem(given[1] if given else ADJUSTMENT_METHODS[0], wanted)
    others = [name for name in given if name not in {"increase", dated}]
    if draft.expiry_date is not None and others:
        message = f"is not allowed with {others[0]}; only increase adds goods with a date"
        yield Problem("expiry_date", message)
    if draft.qty is not None and "to_status" not in given:
        yield Problem("qty", "is allowed only with to_status")
    status = draft.inventory_status or "available"
    if draft.to_status is not None and draft.to_status == status:
        yield Problem("to_status", f"must differ from inventory_status ({status})")


type StockNamed = tuple[str, str, str, str | None, str | None, str]
"""Codes of product, warehouse and position, batch, serial, and inventory status."""


def stock_named(draft: Checked[AdjustmentFields]) -> StockNamed | None:
    """Return what identifies the stock that an adjustment names; None if it is not complete.

    An adjustment does not name the stock with the status `to_status`.
    """
    if invalid_fields(draft) & {"batch", "serial", "inventory_status"}:
        return None
    code, whs_code, bin_code = draft.item_code, draft.warehouse, draft.bin_code
    if not (code and whs_code and bin_code):
        return None
    status = draft.inventory_status or "available"
    return (code, whs_code, bin_code, draft.batch, draft.serial, status)


def body_problems(
    body: Checked[AdjustmentDraft], lines: Sequence[Checked[AdjustmentFields]]
) -> Iterator[Problem]:
    """Yield the problems of a body that concern its lines together."""
    for name in given_fields(body, AdjustmentFields.model_fields):
        if name != "reason":
            yield Problem(name, "is not allowed beside lines")
    without = [at for at, line in enumerate(lines) if not given_fields(line, ["reason"])]
    if without and not given_fields(body, ["reason"]):
        yield Problem("reason", f"is required, because lines.{without[0]} has none")
    first: dict[StockNamed, int] = {}
    brought: dict[tuple[str, str], str] = {}
    for at, line in enumerate(lines):
        named = stock_named(line)
        if named is not None and first.setdefault(named, at) != at:
            yield Problem(f"lines.{at}", f"is of the same stock as lines.{first[named]}")
        elif named is not None and line.serial is not None and (line.increase or line.counted_qty):
            # Otherwise the serial would seem to be in stock where a line before has brought it.
            for one in repeated_serials(f"lines.{at}", line.item_code, [line.serial], brought):
                yield replace(one, field=f"lines.{at}.serial")
