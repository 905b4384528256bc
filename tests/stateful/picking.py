"""Goods that go out; see `base`."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.stateful.machine import (  # fmt: skip
    AFTER,
    BEFORE,
    BINS,
    QTY,
    WANTED,
    WHICH,
    WHS,
    Machine,
    one_of,
    place_of,
)
from tests.warehouse_model import NONE, Order, Picking, Place


class Pickers(Machine):
    """Orders of customers, and pickings for them."""

    @rule(whs=WHS, wanted=WANTED)
    def order_out(self, whs: str, wanted: dict[str, Decimal]) -> None:
        """A customer orders."""
        number = self.order("/exit-documents", "sale_order", whs, wanted)
        self.books.exits.append(Order(number, whs, wanted))

    @precondition(lambda self: self.books.exits)
    @rule(which=WHICH, allocate=st.booleans())
    def have_picked(self, *, which: int, allocate: bool) -> None:
        """An order is given to the pickers."""
        order = one_of(self.books.exits, which)
        expected = 201 if order.workable and not order.works else 409
        body = {"document_id": order.id, "allocate": allocate}
        answer = self.ask("/pickings", body, expected)
        if expected == 201:
            wanted = {item: order.left(item) for item in order.wanted if order.left(item)}
            picking = Picking(answer.data["id"], order, wanted)
            self.books.pickings.append(picking)
            order.works.add(picking.id)
            self.promise(picking, answer.data, allocated=allocate)

    def promise(self, picking: Picking, shown: Mapping[str, Any], *, allocated: bool) -> None:
        """Note which goods a picking was promised; how much must be what there was."""
        due = {
            item: min(picking.unallocated(item), self.books.pickable(item, picking.order.whs))
            if allocated
            else NONE
            for item in picking.wanted
        }
        for item, more in due.items():
            due[item] = more + sum(
                (qty for place, qty in picking.promised.items() if place.item == item), NONE
            )
        picking.promised = dict(promises_of(picking, shown))
        got = dict.fromkeys(picking.wanted, NONE)
        for place, qty in picking.promised.items():
            got[place.item] += qty
        assert got == due

    @precondition(lambda self: self.books.pickings)
    @rule(which=WHICH, at=WHICH, spot=BINS, qty=QTY, wrong=st.sampled_from((False, False, True)))
    def pick(self, *, which: int, at: int, spot: str, qty: Decimal, wrong: bool) -> None:
        """A picker takes what was promised, or something else."""
        picking = one_of(self.books.pickings, which)
        places = sorted(picking.promised, key=str)
        place = one_of(places, at) if places else place_of("BRICK", picking.order.whs, spot, 1)
        if wrong:
            place = place._replace(bin=spot)
        qty = Decimal(1) if place.serial else qty
        body = {
            "item_code": place.item, "qty": qty, "bin_code": place.bin, "batch": place.batch,
            "serials": [place.serial] if place.serial else None,
        }  # fmt: skip
        transfer_scenario = next((one for one in self.books.hauls if one.picking is picking), None)
        path = (
            f"/transfer-orders/{transfer_scenario.id}"
            if transfer_scenario
            else f"/pickings/{picking.id}"
        )
        expected = 200
        if picking.status != "started" and not (transfer_scenario and picking.status == "pending"):
            expected = 409
        elif qty > picking.promised.get(place, NONE):
            expected = 422
        self.ask(f"{path}/picks", body, expected)
        if expected == 200:
            self.books.pick(picking, place, qty)
            self.after_pick(picking)

    def after_pick(self, picking: Picking) -> None:
        """What else a pick brings about."""

    @precondition(lambda self: self.books.pickings)
    @rule(
        which=WHICH,
        what=st.sampled_from(
            ("start", "start", "start", "allocate", "cancel", "revert", "synchronize")
        ),
    )
    def act_on_picking(self, which: int, what: str) -> None:
        """A picking goes on, ends, or is taken back."""
        picking = one_of(self.books.pickings, which)
        possible = picking.status in BEFORE[what]
        if what == "revert":
            possible &= not picking.gone
        if what not in {"allocate", "synchronize"}:
            possible &= not any(one.picking is picking for one in self.books.hauls)
        answer = self.ask(f"/pickings/{picking.id}/{what}", None, 200 if possible else 409)
        if not possible:
            return
        if what == "allocate":
            self.promise(picking, answer.data, allocated=True)
        elif what in {"cancel", "revert"}:
            self.books.unpick(picking, AFTER[what])
        else:
            picking.status = AFTER[what]
            picking.begun = True

    @precondition(lambda self: self.books.pickings)
    @rule(which=WHICH, reason=st.sampled_from(("damaged", "damaged", None)))
    def finish(self, which: int, reason: str | None) -> None:
        """A picker is done, whether everything was there or not."""
        picking = one_of(self.books.pickings, which)
        expected = 200
        if picking.status != "started" or any(one.picking is picking for one in self.books.hauls):
            expected = 409
        elif picking.short and reason is None:
            expected = 422
        body = {"shortage_reason": reason} if reason else None
        self.ask(f"/pickings/{picking.id}/finalize", body, expected)
        if expected == 200:
            picking.status = "finalized"
            picking.promised.clear()
            picking.order.works.discard(picking.id)
            if picking.picked:
                picking.order.finished.add(picking.id)

    @precondition(lambda self: self.books.exits)
    @rule(which=WHICH)
    def leave(self, which: int) -> None:
        """The goods of an order go out."""
        order = one_of(self.books.exits, which)
        possible = bool(not order.closed and not order.works and order.finished)
        self.ask(f"/exit-documents/{order.id}/dispatch", None, 200 if possible else 409)
        if possible:
            order.closed = True
            for picking in self.books.pickings:
                if picking.order is order and picking.id in order.finished:
                    picking.gone = True
                    for place, qty in picking.picked.items():
                        self.books.move(place._replace(status="staged"), None, qty)

    @rule(which=WHICH, way=st.sampled_from(("entry", "exit")))
    def close(self, which: int, way: str) -> None:
        """What is still open on an order is given up."""
        orders = self.books.entries if way == "entry" else self.books.exits
        if orders:
            order = one_of(orders, which)
            possible = not order.closed and not order.works
            self.ask(f"/{way}-documents/{order.id}/close", None, 200 if possible else 409)
            order.closed |= possible


def promises_of(picking: Picking, shown: Mapping[str, Any]) -> Iterator[tuple[Place, Decimal]]:
    """Read from an answer what is promised: all that has a position and was not picked."""
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
            left = Decimal(str(line["qty"])) - picking.picked.get(place, NONE)
            assert Decimal(str(line["picked_qty"])) == picking.picked.get(place, NONE)
            if left:
                yield place, left
