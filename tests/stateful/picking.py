"""Rules of exit documents and pickings."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.stateful.machine import (  # fmt: skip
    AFTER,
    BEFORE,
    BINS,
    INDEX,
    ITEMS,
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
from tests.warehouse_model import ZERO, Order, Picking, Place


class PickingRules(BaseMachine):
    """Exit documents and their pickings."""

    @rule(whs=WHS, wanted=WANTED)
    def create_exit_document(self, whs: str, wanted: dict[str, Decimal]) -> None:
        number = self.create_document("/exit-documents", "sale_order", whs, wanted)
        self.model.exits.append(Order(number, whs, wanted))

    @precondition(lambda self: self.model.exits)
    @rule(index=INDEX, allocate=st.booleans())
    def create_picking(self, *, index: int, allocate: bool) -> None:
        """Create a picking of an exit document."""
        order = recent_one(self.model.exits, index)
        expected = 201 if order.has_open_lines and not order.open_work else 409
        body = {"document_id": order.id, "allocate": allocate}
        answer = self.post("/pickings", body, expected)
        if expected == 201:
            wanted = {item: order.open_qty(item) for item in order.wanted if order.open_qty(item)}
            picking = Picking(answer.data["id"], order, wanted)
            self.model.pickings.append(picking)
            order.open_work.add(picking.id)
            self.record_allocation(picking, answer.data, allocated=allocate)

    def record_allocation(
        self, picking: Picking, shown: Mapping[str, Any], *, allocated: bool
    ) -> None:
        """Record the allocations of a picking, and check the allocated quantity of each item."""
        due = dict.fromkeys(picking.wanted, ZERO)
        for place, qty in picking.allocated.items():
            due[place.item] += qty
        for item in due if allocated else ():
            possible = self.model.pickable(item, picking.order.whs)
            due[item] += min(picking.unallocated(item), possible)
        picking.allocated = dict(read_allocations(picking, shown))
        got = dict.fromkeys(picking.wanted, ZERO)
        for place, qty in picking.allocated.items():
            got[place.item] += qty
        assert got == due

    @precondition(lambda self: self.model.pickings)
    @rule(
        index=INDEX, place_index=INDEX, bin_code=BINS, qty=QTY,
        wrong=st.sampled_from((False, False, True)), by_gtin=st.booleans(),
    )  # fmt: skip
    def pick(
        self, *, index: int, place_index: int, bin_code: str, qty: Decimal, wrong: bool,
        by_gtin: bool,
    ) -> None:  # fmt: skip
        """Pick from an allocated place, or from a wrong one."""
        picking = likely_one(
            self.model.pickings, index, lambda one: one.allocated and one.status == "started"
        )
        places = sorted(picking.allocated, key=str)
        nothing = place_at("BRICK", picking.order.whs, bin_code, 1)
        place = recent_one(places or [nothing], place_index)
        if wrong:
            place = place._replace(bin=bin_code)
        qty = Decimal(1) if place.serial else qty
        body = {
            **named(place.item, qty, by_gtin=by_gtin), "bin_code": place.bin, "batch": place.batch,
            "serials": [place.serial] if place.serial else None,
        }  # fmt: skip
        transfer_order = self.model.transfer_order_of(picking)
        path = f"/pickings/{picking.id}"
        path = f"/transfer-orders/{transfer_order.id}" if transfer_order else path
        expected = 200
        if picking.status != "started" and not (transfer_order and picking.status == "pending"):
            expected = 409
        elif qty > picking.allocated.get(place, ZERO):
            expected = 422
        self.post(f"{path}/picks", body, expected)
        if expected == 200:
            self.model.pick(picking, place, qty)
            self.after_pick(picking)

    def after_pick(self, picking: Picking) -> None:
        """Update the model after a pick; subclasses override it."""

    @precondition(lambda self: self.model.pickings)
    @rule(index=INDEX, place_index=INDEX, bin_code=BINS, qty=QTY)
    def undo_pick(self, index: int, place_index: int, bin_code: str, qty: Decimal) -> None:
        """Undo a pick, or a part of it."""
        picking = likely_one(
            self.model.pickings,
            index,
            lambda one: one.picked and (one.status == "started" or self._is_picked(one)),
        )
        places = sorted(picking.picked, key=str)
        nothing = place_at("BRICK", picking.order.whs, bin_code, 1)
        place = recent_one(places or [nothing], place_index)
        qty = Decimal(1) if place.serial else qty
        body = {
            **named(place.item, qty, by_gtin=False), "bin_code": place.bin, "batch": place.batch,
            "serials": [place.serial] if place.serial else None,
        }  # fmt: skip
        order = self.model.transfer_order_of(picking)
        path = f"/transfer-orders/{order.id}" if order else f"/pickings/{picking.id}"
        possible = order.status in {"picking", "picked"} if order else picking.status == "started"
        expected = 200 if possible else 409
        if possible and qty > picking.picked.get(place, ZERO):
            expected = 422
        self.post(f"{path}/picks/undo", body, expected)
        if expected == 200:
            self.model.undo_pick(picking, place, qty)
            if order:
                picking.status, order.status = "started", "picking"

    def _is_picked(self, picking: Picking) -> bool:
        order = self.model.transfer_order_of(picking)
        return order is not None and order.status == "picked"

    @precondition(lambda self: self.model.pickings)
    @rule(index=INDEX, action=one_of("start start start allocate cancel revert synchronize"))
    def act_on_picking(self, index: int, action: str) -> None:
        """Start, allocate, cancel, revert or synchronize a picking."""
        picking = recent_one(self.model.pickings, index)
        possible = picking.status in BEFORE[action]
        if action == "revert":
            possible &= not picking.dispatched and not self.model.active_packing(picking)
        if action not in {"allocate", "synchronize"}:
            possible &= self.model.transfer_order_of(picking) is None
        answer = self.post(f"/pickings/{picking.id}/{action}", None, 200 if possible else 409)
        if not possible:
            return
        if action == "allocate":
            self.record_allocation(picking, answer.data, allocated=True)
        elif action in {"cancel", "revert"}:
            self.model.unpick(picking, AFTER[action])
        else:
            picking.status = AFTER[action]
            picking.was_started = True

    @precondition(lambda self: self.model.pickings)
    @rule(index=INDEX, reason=st.sampled_from(("damaged", "damaged", None)))
    def finalize_picking(self, index: int, reason: str | None) -> None:
        """Finalize a picking, complete or short."""
        self._finalize(recent_one(self.model.pickings, index), reason)

    def _finalize(self, picking: Picking, reason: str | None) -> None:
        expected, again = 200, None
        if picking.status != "started" or self.model.transfer_order_of(picking):
            expected = 409
        elif picking.is_short and reason is None:
            expected = 422
        elif self.model.shortage_percent is not None:
            wanted = sum(picking.wanted.values(), ZERO)
            short = wanted - sum(picking.picked.values(), ZERO)
            if short > wanted * self.model.shortage_percent / 100:
                again = partial(self._finalize, picking, reason)
        body = {"shortage_reason": reason} if reason else None
        answer = self.post(
            f"/pickings/{picking.id}/finalize", body, expected, again=again,
            figures=dict(picking.picked),
        )  # fmt: skip
        if answer.status == 200:
            picking.status = "finalized"
            picking.allocated.clear()
            picking.order.open_work.discard(picking.id)
            if picking.picked:
                picking.order.finished.add(picking.id)

    @precondition(lambda self: self.model.exits)
    @rule(index=INDEX, rest=st.sampled_from((None, "close", "keep")))
    def dispatch(self, index: int, rest: str | None) -> None:
        """Dispatch what is staged for a document, and keep or give up the rest."""
        order = recent_one(self.model.exits, index)
        possible = bool(not order.closed and not order.open_work and order.finished)
        packing = [one for one in self.model.packing_orders if one.order is order and one.is_active]
        possible &= all(one.status == "packed" for one in packing)
        body = {"rest": rest} if rest else None
        self.post(f"/exit-documents/{order.id}/dispatch", body, 200 if possible else 409)
        if possible:
            for one in packing:
                one.ship()
            for picking in self.model.pickings:
                if picking.order is order and picking.id in order.finished:
                    picking.dispatched = True
                    for place, qty in picking.picked.items():
                        staged = place._replace(status="staged")
                        self.model.move(staged, None, qty, order=order)
            order.closed = rest != "keep" or not order.has_open_lines
            order.finished.clear()

    @rule(index=INDEX, direction=st.sampled_from(("entry", "exit")))
    def close_document(self, index: int, direction: str) -> None:
        """Close a document with open quantities."""
        orders = self.model.entries if direction == "entry" else self.model.exits
        if orders:
            order = recent_one(orders, index)
            possible = not order.closed and not order.open_work
            possible &= direction == "entry" or not order.finished
            self.post(f"/{direction}-documents/{order.id}/close", None, 200 if possible else 409)
            order.closed |= possible

    @rule(
        index=INDEX, direction=st.sampled_from(("entry", "exit")), item=ITEMS,
        qty=st.one_of(QTY, st.just(ZERO)),
    )  # fmt: skip
    def change_document(self, *, index: int, direction: str, item: str, qty: Decimal) -> None:
        """Change the ordered quantity of an item, or add a line of it."""
        orders = self.model.entries if direction == "entry" else self.model.exits
        if not orders:
            return
        order = recent_one(orders, index)
        present = order.wanted.get(item)
        at = [*order.wanted].index(item) + 1 if item in order.wanted else None
        expected = 200
        if order.closed or (order.open_work and qty != present):
            expected = 409
        elif qty != present and (
            qty < order.done[item]
            or (present is None and not qty)
            or (item == "DRILL" and qty != qty.to_integral_value())
        ):
            expected = 422
        line = {"item_code": item, "qty": qty, "line_num": at}
        self.patch(f"/{direction}-documents/{order.id}", {"lines": [line]}, expected)
        if expected == 200 and qty != present:
            order.wanted = {**order.wanted, item: qty}
            has_left = any(one.order is order and one.dispatched for one in self.model.pickings)
            order.closed = has_left and not order.finished and not order.has_open_lines


def read_allocations(picking: Picking, shown: Mapping[str, Any]) -> Iterator[tuple[Place, Decimal]]:
    """Return the allocations that a response shows: lines with a position, minus the picks."""
    for line in shown["lines"]:
        if line["bin_code"] is None:
            continue
        serials = [
            serial
            for serial in line["serials"]
            if not any(place.serial == serial for place in picking.picked)
        ]
        place = Place(
            line["item_code"], picking.order.whs, line["bin_code"], line["batch_num"], None
        )
        if line["item_code"] == "DRILL":
            yield from ((place._replace(serial=serial), Decimal(1)) for serial in serials)
        else:
            left = Decimal(str(line["qty"])) - picking.picked.get(place, ZERO)
            assert Decimal(str(line["picked_qty"])) == picking.picked.get(place, ZERO)
            if left:
                yield place, left
