"""Rules of entry documents and receipts."""

from decimal import Decimal
from functools import partial

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.stateful.machine import (  # fmt: skip
    AFTER,
    ANY_BIN,
    BEFORE,
    INDEX,
    ITEMS,
    LOTS,
    QTY,
    WANTED,
    WHS,
    BaseMachine,
    likely_one,
    named,
    one_of,
    place_at,
    recent_one,
)
from tests.warehouse_model import OPEN_BINS, ZERO, Order, Place, Receipt


class ReceivingRules(BaseMachine):
    """Entry documents and their receipts."""

    @rule(whs=WHS, wanted=WANTED)
    def create_entry_document(self, whs: str, wanted: dict[str, Decimal]) -> None:
        number = self.create_document("/entry-documents", "purchase_order", whs, wanted)
        self.model.entries.append(Order(number, whs, wanted))

    @precondition(lambda self: self.model.entries)
    @rule(index=INDEX)
    def create_receipt(self, index: int) -> None:
        order = recent_one(self.model.entries, index)
        expected = 201 if order.has_open_lines else 409
        answer = self.post("/receipts", {"document_id": order.id}, expected)
        if expected == 201:
            self.model.receipts.append(Receipt(answer.data["id"], order))
            order.open_work.add(answer.data["id"])

    @precondition(lambda self: self.model.receipts)
    @rule(
        index=INDEX, item=ITEMS, bin_code=ANY_BIN, lot=LOTS, qty=QTY,
        status=st.sampled_from(("available", "available", "quarantine")), by_gtin=st.booleans(),
    )  # fmt: skip
    def receive_goods(
        self, *, index: int, item: str, bin_code: str, lot: int, qty: Decimal, status: str,
        by_gtin: bool,
    ) -> None:  # fmt: skip
        receipt = recent_one(self.model.receipts, index)
        place = place_at(item, receipt.order.whs, bin_code, lot, status)
        self._receive(receipt, place, Decimal(1) if place.serial else qty, by_gtin=by_gtin)

    def _receive(self, receipt: Receipt, place: Place, qty: Decimal, *, by_gtin: bool) -> None:
        order, item = receipt.order, place.item
        body = {
            **named(item, qty, by_gtin=by_gtin), "bin_code": place.bin, "batch": place.batch,
            "serials": [place.serial] if place.serial else None, "inventory_status": place.status,
        }  # fmt: skip
        again = None
        expected = 200
        if receipt.status != "started" or order.closed:
            expected = 409
        elif (
            not order.wanted.get(item)
            or place.bin not in OPEN_BINS
            or self.model.has_serial(item, place.serial)
        ):
            expected = 422
        elif order.done.get(item, ZERO) + qty > order.wanted[item]:
            again = partial(self._receive, receipt, place, qty, by_gtin=by_gtin)
        answer = self.post(
            f"/receipts/{receipt.id}/lines", body, expected, again=again,
            figures=order.done.get(item, ZERO),
        )  # fmt: skip
        if answer.status == 200:
            receipt.received[place] += qty
            self.model.move(None, place, qty)
            order.record_progress(item, qty)

    @precondition(lambda self: self.model.receipts)
    @rule(index=INDEX, place_index=INDEX, qty=QTY)
    def undo_goods(self, index: int, place_index: int, qty: Decimal) -> None:
        """Undo goods that a receipt received, or a part of them."""
        receipt = likely_one(
            self.model.receipts, index, lambda one: one.status == "started" and one.received
        )
        nothing = place_at(min(receipt.order.wanted), receipt.order.whs, OPEN_BINS[0], 1)
        places = sorted((place for place, had in receipt.received.items() if had), key=str)
        place = recent_one(places or [nothing], place_index)
        qty = Decimal(1) if place.serial else qty
        body = {
            **named(place.item, qty, by_gtin=False), "bin_code": place.bin, "batch": place.batch,
            "serials": [place.serial] if place.serial else None, "inventory_status": place.status,
        }  # fmt: skip
        expected = 200
        if receipt.status != "started":
            expected = 409
        elif qty > receipt.received.get(place, ZERO):
            expected = 422
        elif qty > self.model.available(place):
            expected = 409
        self.post(f"/receipts/{receipt.id}/lines/undo", body, expected)
        if expected == 200:
            receipt.received[place] -= qty
            self.model.move(place, None, qty)
            receipt.order.record_progress(place.item, -qty)

    @precondition(lambda self: self.model.receipts)
    @rule(index=INDEX, action=one_of("start start start finalize cancel revert synchronize"))
    def act_on_receipt(self, index: int, action: str) -> None:
        """Start, finalize, cancel, revert or synchronize a receipt."""
        receipt = recent_one(self.model.receipts, index)
        possible = receipt.status in BEFORE[action]
        if action in {"cancel", "revert"}:
            possible &= all(
                qty <= self.model.available(place) for place, qty in receipt.received.items()
            )
        self.post(f"/receipts/{receipt.id}/{action}", None, 200 if possible else 409)
        if not possible:
            return
        receipt.status = AFTER[action]
        order = receipt.order
        if action not in {"start", "synchronize"}:
            order.open_work.discard(receipt.id)
        if action in {"cancel", "revert"}:
            for place, qty in receipt.received.items():
                self.model.move(place, None, qty, undone=True)
                order.record_progress(place.item, -qty)
            receipt.received.clear()
