"""Rules of transfers and transfer orders."""

from decimal import Decimal

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.stateful.machine import (  # fmt: skip
    ANY_BIN,
    BINS,
    INDEX,
    ITEMS,
    LOTS,
    QTY,
    WANTED,
    WHS,
    one_of,
    place_at,
    recent_one,
)
from tests.stateful.picking import PickingRules
from tests.warehouse_model import OPEN_BINS, ZERO, Order, Picking, Transfer, TransferOrder, add


class TransferRules(PickingRules):
    """Transfers between positions, and transfer orders between warehouses."""

    # Transfers

    @rule(
        item=ITEMS, whs=WHS, bin_code=BINS, to=WHS, to_bin=ANY_BIN, lot=LOTS, qty=QTY,
        execute=st.booleans(),
    )  # fmt: skip
    def create_transfer(
        self, *, item: str, whs: str, bin_code: str, to: str, to_bin: str, lot: int, qty: Decimal,
        execute: bool,
    ) -> None:  # fmt: skip
        """Create a transfer, executed immediately or later."""
        source = place_at(item, whs, bin_code, lot)
        known = [place for place in self.model.stock if place[:2] == (item, whs) and place.bin]
        if known and lot > 1:
            source = sorted(known, key=str)[lot % len(known)]
        source = source._replace(status="available")
        target = source._replace(whs=to, bin=to_bin)
        qty = Decimal(1) if item == "DRILL" else qty
        line = {
            "item_code": item, "qty": qty, "from_bin": source.bin, "to_bin": to_bin,
            "batch": source.batch, "serials": [source.serial] if source.serial else None,
        }  # fmt: skip
        body = {"from_warehouse": whs, "to_warehouse": to, "lines": [line], "execute": execute}
        expected = 201
        if source == target or to_bin not in OPEN_BINS:
            expected = 422
        elif execute and qty > self.model.available(source):
            expected = 409
        answer = self.post("/transfers", body, expected)
        if expected == 201:
            transfer = Transfer(answer.data["id"], source, target, qty, execute)
            self.model.transfers.append(transfer)
            if execute:
                self.model.move(source, target, qty)

    @precondition(lambda self: self.model.transfers)
    @rule(index=INDEX)
    def execute_transfer(self, index: int) -> None:
        transfer = recent_one(self.model.transfers, index)
        path = f"/transfers/{transfer.id}/execute"
        answer = self.post(path, None, 409 if transfer.done else 200)
        if transfer.done:
            return
        transfer.done = transfer.qty <= self.model.available(transfer.source)
        assert answer.data["status"] == ("transferred" if transfer.done else "error")
        if transfer.done:
            self.model.move(transfer.source, transfer.target, transfer.qty)

    # Transfer orders

    @rule(whs=WHS, to=WHS, wanted=WANTED)
    def create_transfer_order(self, whs: str, to: str, wanted: dict[str, Decimal]) -> None:
        body = {
            "from_warehouse": whs, "to_warehouse": to, "release": True, "picker_id": 7,
            "lines": [{"item_code": item, "qty": qty} for item, qty in wanted.items()],
        }  # fmt: skip
        answer = self.post("/transfer-orders", body, 422 if whs == to else 201)
        if whs != to:
            number = answer.data["picking_id"]
            picking = Picking(number, Order(0, whs, wanted), wanted)
            self.model.pickings.append(picking)
            self.model.transfer_orders.append(TransferOrder(answer.data["id"], to, picking))
            shown = self.erp.get(f"/pickings/{number}").data
            self.record_allocation(picking, shown, allocated=True)

    def after_pick(self, picking: Picking) -> None:
        """Set the status of a transfer order: `picking` after a pick, `picked` after the last."""
        for order in self.model.transfer_orders:
            if order.picking is picking:
                order.status = "picking" if picking.is_short else "picked"
                picking.status = "started" if picking.is_short else "finalized"

    @precondition(lambda self: self.model.transfer_orders)
    @rule(index=INDEX, action=one_of("finish-picking finish-picking dispatch dispatch cancel"))
    def act_on_transfer_order(self, index: int, action: str) -> None:
        """Finish the picking of a transfer order, dispatch it or cancel it."""
        order = recent_one(self.model.transfer_orders, index)
        allowed = {
            "finish-picking": ("picking",),
            "dispatch": ("picked",),
            "cancel": ("released", "picking", "picked"),
        }
        possible = order.status in allowed[action]
        if action == "finish-picking":
            possible &= bool(order.picking.picked)
        self.post(f"/transfer-orders/{order.id}/{action}", None, 200 if possible else 409)
        if not possible:
            return
        picking = order.picking
        if action == "cancel":
            self.model.unpick(picking, "cancelled")
            order.status = "cancelled"
        elif action == "finish-picking":
            picking.allocated.clear()
            picking.status, order.status = "finalized", "picked"
        else:
            picking.dispatched, order.status = True, "in_transit"
            for place, qty in picking.picked.items():
                arriving = place._replace(whs=order.destination, bin=None, status="in_transit")
                self.model.move(place._replace(status="staged"), arriving, qty)
                order.in_transit[arriving] += qty

    @precondition(lambda self: self.model.transfer_orders)
    @rule(index=INDEX, place_index=INDEX, bin_code=ANY_BIN, qty=QTY, final=st.booleans())
    def receive_transfer_order(
        self, *, index: int, place_index: int, bin_code: str, qty: Decimal, final: bool
    ) -> None:
        """Receive goods of a transfer order; `final` ends the receiving."""
        order = recent_one(self.model.transfer_orders, index)
        in_transit = sorted(order.in_transit, key=str)
        nothing = place_at("BRICK", order.destination, bin_code, 1)
        place = recent_one(in_transit or [nothing], place_index)
        qty = Decimal(1) if place.serial else qty
        line = {
            "item_code": place.item, "qty": qty, "bin_code": bin_code, "batch": place.batch,
            "serials": [place.serial] if place.serial else None,
        }  # fmt: skip
        expected = 200
        if order.status not in {"in_transit", "receiving"}:
            expected = 409
        elif bin_code not in OPEN_BINS:
            expected = 422
        elif qty > order.in_transit.get(place, ZERO):
            expected = 409
        body = {"lines": [line], "final": final}
        self.post(f"/transfer-orders/{order.id}/receive", body, expected)
        if expected == 200:
            self.model.move(place, place._replace(bin=bin_code, status="available"), qty)
            add(order.in_transit, place, -qty)
            order.status = "received" if final or not order.in_transit else "receiving"

    @precondition(lambda self: self.model.transfer_orders)
    @rule(index=INDEX, reason=st.sampled_from(("Lost", None)))
    def close_transfer_order(self, index: int, reason: str | None) -> None:
        """Close a transfer order; goods that were not received leave the stock."""
        order = recent_one(self.model.transfer_orders, index)
        expected = 200 if order.status == "received" else 409
        if order.status == "received" and order.in_transit and reason is None:
            expected = 422
        body = {"reason": reason} if reason else None
        self.post(f"/transfer-orders/{order.id}/close", body, expected)
        if expected == 200:
            order.status = "closed"
            for place, qty in order.in_transit.items():
                self.model.move(place, None, qty)
            order.in_transit.clear()
