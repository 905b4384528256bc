"""Rules of stock adjustments and of reading stock levels."""

from decimal import Decimal
from functools import partial

from hypothesis.stateful import rule

from tests.stateful.machine import (  # fmt: skip
    ANY_BIN,
    ITEMS,
    LOTS,
    QTY,
    WHS,
    BaseMachine,
    one_of,
    place_at,
)
from tests.warehouse_model import ZERO, sums


class AdjustmentRules(BaseMachine):
    """Stock adjustments."""

    @rule(
        item=ITEMS, whs=WHS, bin_code=ANY_BIN, lot=LOTS, qty=QTY,
        change=one_of("increase increase decrease counted_qty to_status"),
        status=one_of("available available damaged"),
    )  # fmt: skip
    def adjust_stock(
        self, *, item: str, whs: str, bin_code: str, lot: int, qty: Decimal, change: str,
        status: str,
    ) -> None:  # fmt: skip
        """Adjust a quantity or an inventory status."""
        place = place_at(item, whs, bin_code, lot, status)
        qty = Decimal(1) if item == "DRILL" else qty
        again = partial(
            self.adjust_stock, item=item, whs=whs, bin_code=bin_code, lot=lot, qty=qty,
            change=change, status=status,
        )  # fmt: skip
        body = {
            "item_code": item, "warehouse": whs, "bin_code": bin_code, "batch": place.batch,
            "serial": place.serial, "inventory_status": status, "reason": "Looked",
        }  # fmt: skip
        on_hand, free = self.model.stock.get(place, ZERO), self.model.available(place)
        elsewhere = self.model.has_serial(item, place.serial)
        if change == "to_status":
            other = "damaged" if status == "available" else "available"
            possible = on_hand > 0 and qty <= free
            answer = self.post(
                "/stock-adjustments", {**body, "to_status": other, "qty": qty},
                201 if possible else 409,
                again=again if possible and self._exceeds_limit(qty) else None,
                figures=on_hand,
            )  # fmt: skip
            if answer.status == 201:
                self.model.move(place, place._replace(status=other), qty)
            return
        difference = {"increase": qty, "decrease": -qty, "counted_qty": qty - on_hand}[change]
        possible = not elsewhere if difference > 0 else -difference <= free
        expected = 409 if not possible else 201 if difference else 200
        answer = self.post(
            "/stock-adjustments", {**body, change: qty}, expected,
            again=again if possible and self._exceeds_limit(abs(difference)) else None,
            figures=on_hand,
        )  # fmt: skip
        if answer.status == 201 and difference > 0:
            self.model.move(None, place, difference)
        elif answer.status == 201:
            self.model.move(place, None, -difference)

    def _exceeds_limit(self, units: Decimal) -> bool:
        """Return whether an adjustment of so many units requires an approval."""
        limit = self.model.adjustment_qty
        return limit is not None and units > limit

    @rule()
    def read_levels(self) -> None:
        """Read the stock levels and compare them with the model."""
        type(self).steps += 1
        shown = {
            (one["item_code"], one["whs_code"]): Decimal(str(one["on_hand"]))
            for one in self.erp.walk("/stock-levels", per_page=2)
            if one["on_hand"]
        }
        expected: dict[tuple[str, str], Decimal] = sums()
        for place, qty in self.model.stock.items():
            if place.status != "in_transit":
                expected[place.item, place.whs] += qty
        assert shown == expected
