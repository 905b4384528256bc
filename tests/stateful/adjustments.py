"""Stock that is corrected and read; see `base`."""

from decimal import Decimal

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.stateful.machine import (  # fmt: skip
    ANY_BIN,
    ITEMS,
    LOTS,
    QTY,
    WHS,
    BaseMachine,
    place_at,
)
from tests.warehouse_model import ZERO


class AdjustmentRules(BaseMachine):
    """What people find on the shelves."""

    @rule(
        item=ITEMS, whs=WHS, bin_code=ANY_BIN, lot=LOTS, qty=QTY,
        change=st.sampled_from(("increase", "increase", "decrease", "counted_qty", "to_status")),
        status=st.sampled_from(("available", "available", "damaged")),
    )  # fmt: skip
    def adjust_stock(
        self,
        *,
        item: str,
        whs: str,
        bin_code: str,
        lot: int,
        qty: Decimal,
        change: str,
        status: str,
    ) -> None:
        """Somebody finds more or less than there should be, or damage."""
        place = place_at(item, whs, bin_code, lot, status)
        qty = Decimal(1) if item == "DRILL" else qty
        body = {
            "item_code": item, "warehouse": whs, "bin_code": bin_code, "batch": place.batch,
            "serial": place.serial, "inventory_status": status, "reason": "Looked",
        }  # fmt: skip
        there, free = self.model.stock.get(place, ZERO), self.model.available(place)
        elsewhere = self.model.has_serial(item, place.serial)
        if change == "to_status":
            other = "damaged" if status == "available" else "available"
            possible = there > 0 and qty <= free
            self.post(
                "/stock-adjustments", {**body, "to_status": other, "qty": qty},
                201 if possible else 409,
            )  # fmt: skip
            if possible:
                self.model.move(place, place._replace(status=other), qty)
            return
        difference = {"increase": qty, "decrease": -qty, "counted_qty": qty - there}[change]
        possible = not elsewhere if difference > 0 else -difference <= free
        expected = 409 if not possible else 201 if difference else 200
        self.post("/stock-adjustments", {**body, change: qty}, expected)
        if possible:
            self.model.move(None, place, difference)

    @rule()
    def read_levels(self) -> None:
        """The ERP reads what is on hand."""
        type(self).steps += 1
        shown = {
            (one["item_code"], one["whs_code"]): Decimal(str(one["on_hand"]))
            for one in self.erp.walk("/stock-levels", per_page=2)
            if one["on_hand"]
        }
        there: dict[tuple[str, str], Decimal] = {}
        for place, qty in self.model.stock.items():
            if place.status != "in_transit":
                there[place.item, place.whs] = there.get((place.item, place.whs), ZERO) + qty
        assert shown == there
