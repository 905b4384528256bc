"""Goods that come in; see `base`."""

from decimal import Decimal

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.stateful.machine import (  # fmt: skip
    AFTER,
    ANY_BIN,
    BEFORE,
    ITEMS,
    LOTS,
    QTY,
    WANTED,
    WHICH,
    WHS,
    Machine,
    one_of,
    place_of,
)
from tests.warehouse_model import NONE, OPEN_BINS, Order, Receipt


class Docks(Machine):
    """Orders from providers, and receipts for them."""

    @rule(whs=WHS, wanted=WANTED)
    def order_in(self, whs: str, wanted: dict[str, Decimal]) -> None:
        """Goods are ordered from a provider."""
        number = self.order("/entry-documents", "purchase_order", whs, wanted)
        self.books.entries.append(Order(number, whs, wanted))

    @precondition(lambda self: self.books.entries)
    @rule(which=WHICH)
    def expect(self, which: int) -> None:
        """A truck has come."""
        order = one_of(self.books.entries, which)
        expected = 201 if order.workable else 409
        answer = self.ask("/receipts", {"document_id": order.id}, expected)
        if expected == 201:
            self.books.receipts.append(Receipt(answer.data["id"], order))
            order.works.add(answer.data["id"])

    @precondition(lambda self: self.books.receipts)
    @rule(
        which=WHICH, item=ITEMS, spot=ANY_BIN, lot=LOTS, qty=QTY,
        status=st.sampled_from(("available", "available", "quarantine")),
    )  # fmt: skip
    def take_in(
        self, *, which: int, item: str, spot: str, lot: int, qty: Decimal, status: str
    ) -> None:
        """Goods come from the truck to a shelf."""
        receipt = one_of(self.books.receipts, which)
        order = receipt.order
        place = place_of(item, order.whs, spot, lot, status)
        qty = Decimal(1) if item == "DRILL" else qty
        body = {
            "item_code": item, "qty": qty, "bin_code": spot, "batch": place.batch,
            "serials": [place.serial] if place.serial else None, "inventory_status": status,
        }  # fmt: skip
        expected = 200
        if receipt.status != "started" or order.closed:
            expected = 409
        elif (
            item not in order.wanted
            or spot not in OPEN_BINS
            or self.books.has_serial(item, place.serial)
        ):
            expected = 422
        elif order.done.get(item, NONE) + qty > order.wanted[item]:
            expected = 409
        self.ask(f"/receipts/{receipt.id}/lines", body, expected)
        if expected == 200:
            receipt.came[place] = receipt.came.get(place, NONE) + qty
            self.books.move(None, place, qty)
            order.did(item, qty)

    @precondition(lambda self: self.books.receipts)
    @rule(
        which=WHICH,
        what=st.sampled_from(
            ("start", "start", "start", "finalize", "cancel", "revert", "synchronize")
        ),
    )
    def act_on_receipt(self, which: int, what: str) -> None:
        """A receipt goes on, ends, or is taken back."""
        receipt = one_of(self.books.receipts, which)
        possible = receipt.status in BEFORE[what]
        if what in {"cancel", "revert"}:
            possible &= all(qty <= self.books.free(place) for place, qty in receipt.came.items())
        self.ask(f"/receipts/{receipt.id}/{what}", None, 200 if possible else 409)
        if not possible:
            return
        receipt.status = AFTER[what]
        order = receipt.order
        if what not in {"start", "synchronize"}:
            order.works.discard(receipt.id)
        if what in {"cancel", "revert"}:
            for place, qty in receipt.came.items():
                self.books.move(place, None, qty)
                order.did(place.item, -qty)
            receipt.came.clear()
