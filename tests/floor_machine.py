"""Everything that happens on the floor, at random, beside a bookkeeper who foresees it.

Each rule does one thing through the interface, possible or not. The bookkeeper tells the
status of the answer before it comes; afterwards what is stored must be sound by itself and
what the bookkeeper has. What is refused must have changed nothing.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from shared.json_text import dumps
from tests.bookkeeper import NONE, OPEN_BINS, Bookkeeper, Order, Picking, Place, Receipt
from tests.floor import POSITIONS
from tests.gateway import Erp, Response
from tests.stack import Stack
from tests.stock_proof import check, read_books

WAREHOUSES = ("YARD", "SHOP", "PORT")

ITEMS = st.sampled_from(("BRICK", "CEMENT", "DRILL"))
WHS = st.sampled_from(WAREHOUSES)
BINS = st.sampled_from(OPEN_BINS)
ANY_BIN = st.sampled_from(tuple(POSITIONS))
QTY = st.sampled_from([Decimal(text) for text in ("1", "2", "3", "5", "0.5", "2.25")])
LOTS = st.integers(1, 4)
WHICH = st.integers(0, 9)
WANTED = st.dictionaries(ITEMS, st.integers(1, 5).map(Decimal), min_size=1)

_VOLATILE = ("idempotency#", "sequence", "count#")
"""Keys of items that requests may change which change nothing of the floor."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that was answered, so that it can be repeated."""

    path: str
    body: Mapping[str, object] | None
    key: str
    status: int
    text: str


class FloorMachine(RuleBasedStateMachine):
    """Orders, receipts, pickings, corrections: whatever people do with stock, in any order.

    `steps` counts what all machines of a run did.
    """

    steps = 0
    stack: Stack
    erp: Erp
    restore: Callable[[], None]

    def __init__(self) -> None:
        super().__init__()
        self.restore()
        self.books = Bookkeeper()
        self.sent: list[Sent] = []
        self._number = 0

    # How things are done and checked

    def ask(self, path: str, body: Mapping[str, object] | None, expected: int) -> Response:
        """Send a request that must be answered with a status; what it did is checked later."""
        FloorMachine.steps += 1
        before = self._stored() if expected >= 400 else None
        key = f"key-{len(self.sent)}"
        answer = self.erp.post(path, _plain(body), key=key)
        assert answer.status == expected, f"{path} {body}: {answer.status} {answer.text}"
        if before is not None:
            assert self._stored() == before, "what is refused changes nothing"
        if expected != 422 and "approval_required" not in answer.text:
            self.sent.append(Sent(path, body, key, answer.status, answer.text))
        else:
            self.sent.append(Sent(path, body, "", answer.status, answer.text))
        return answer

    @invariant()
    def look(self) -> None:
        """Check everything that is stored, by itself and beside the bookkeeper."""
        books = read_books(self.stack.stored())
        check(books)
        self.books.agree_with(books)

    def _stored(self) -> dict[tuple[str, str], object]:
        stored: dict[tuple[str, str], object] = {
            (item["PK"]["S"], item["SK"]["S"]): item
            for item in self.stack.stored()
            if not item["PK"]["S"].startswith(_VOLATILE)
        }
        stored["events", ""] = self.stack.told()
        return stored

    @rule(which=st.integers(0, 30))
    def repeat(self, which: int) -> None:
        """An ERP sends a request again under its key: same answer, done once."""
        kept = [one for one in self.sent if one.key]
        if not kept:
            return
        FloorMachine.steps += 1
        one, before = kept[-1 - which % len(kept)], self._stored()
        again = self.erp.post(one.path, _plain(one.body), key=one.key)
        assert (again.status, again.text) == (one.status, one.text)
        assert again.headers["Idempotent-Replayed"] == "true"
        if one.body is not None:
            other = self.erp.post(one.path, {"item_code": "OTHER"}, key=one.key)
            assert other.status == 422
        assert self._stored() == before

    @rule(
        path=st.sampled_from(
            ("/stock-adjustments", "/receipts", "/pickings", "/transfers", "/transfer-orders")
        ),
        body=st.sampled_from(
            (
                {}, {"qty": 0}, {"document_id": 0}, {"document_id": "1"},
                {"item_code": "NONE", "warehouse": "YARD", "bin_code": "A-01", "increase": 1,
                 "reason": "No such item"},
                {"item_code": "BRICK", "warehouse": "YARD", "bin_code": "A-01", "increase": -1,
                 "reason": "Less than nothing"},
                {"item_code": "CEMENT", "warehouse": "YARD", "bin_code": "A-01", "increase": 1,
                 "reason": "Of no batch"},
                {"item_code": "BRICK", "warehouse": "YARD", "bin_code": "A-01",
                 "increase": 0.0000001, "reason": "Next to nothing"},
                {"lines": []},
            )
        ),
    )  # fmt: skip
    def nonsense(self, path: str, body: dict[str, object]) -> None:
        """What is not valid is refused."""
        self.ask(path, body, 422)

    # Corrections

    @rule(
        item=ITEMS, whs=WHS, spot=ANY_BIN, lot=LOTS, qty=QTY,
        way=st.sampled_from(("increase", "increase", "decrease", "counted_qty", "to_status")),
        status=st.sampled_from(("available", "available", "damaged")),
    )  # fmt: skip
    def correct(
        self, *, item: str, whs: str, spot: str, lot: int, qty: Decimal, way: str, status: str
    ) -> None:
        """Somebody finds more or less than there should be, or damage."""
        place = _place(item, whs, spot, lot, status)
        qty = Decimal(1) if item == "DRILL" else qty
        body = {
            "item_code": item, "warehouse": whs, "bin_code": spot, "batch": place.batch,
            "serial": place.serial, "inventory_status": status, "reason": "Looked",
        }  # fmt: skip
        there, free = self.books.stock.get(place, NONE), self.books.free(place)
        elsewhere = self.books.has_serial(item, place.serial)
        if way == "to_status":
            other = "damaged" if status == "available" else "available"
            possible = there > 0 and qty <= free
            self.ask(
                "/stock-adjustments", {**body, "to_status": other, "qty": qty},
                201 if possible else 409,
            )  # fmt: skip
            if possible:
                self.books.move(place, place._replace(status=other), qty)
            return
        difference = {"increase": qty, "decrease": -qty, "counted_qty": qty - there}[way]
        possible = not elsewhere if difference > 0 else -difference <= free
        expected = 409 if not possible else 201 if difference else 200
        self.ask("/stock-adjustments", {**body, way: qty}, expected)
        if possible:
            self.books.move(None, place, difference)

    @rule()
    def read_levels(self) -> None:
        """The ERP reads what is on hand."""
        shown = {
            (one["item_code"], one["whs_code"]): Decimal(str(one["on_hand"]))
            for one in self.erp.walk("/stock-levels", per_page=2)
            if one["on_hand"]
        }
        there: dict[tuple[str, str], Decimal] = {}
        for place, qty in self.books.stock.items():
            if place.status != "in_transit":
                there[place.item, place.whs] = there.get((place.item, place.whs), NONE) + qty
        assert shown == there

    # Receiving

    @rule(whs=WHS, wanted=WANTED)
    def order_in(self, whs: str, wanted: dict[str, Decimal]) -> None:
        """Goods are ordered from a provider."""
        number = self._order("/entry-documents", "purchase_order", whs, wanted)
        self.books.entries.append(Order(number, whs, wanted))

    @precondition(lambda self: self.books.entries)
    @rule(which=WHICH)
    def expect(self, which: int) -> None:
        """A truck has come."""
        order = _one(self.books.entries, which)
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
        receipt = _one(self.books.receipts, which)
        order = receipt.order
        place = _place(item, order.whs, spot, lot, status)
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
        receipt = _one(self.books.receipts, which)
        possible = receipt.status in _BEFORE[what]
        if what in {"cancel", "revert"}:
            possible &= all(qty <= self.books.free(place) for place, qty in receipt.came.items())
        self.ask(f"/receipts/{receipt.id}/{what}", None, 200 if possible else 409)
        if not possible:
            return
        receipt.status = _AFTER[what]
        order = receipt.order
        if what not in {"start", "synchronize"}:
            order.works.discard(receipt.id)
        if what in {"cancel", "revert"}:
            for place, qty in receipt.came.items():
                self.books.move(place, None, qty)
                order.did(place.item, -qty)
            receipt.came.clear()

    # Picking

    @rule(whs=WHS, wanted=WANTED)
    def order_out(self, whs: str, wanted: dict[str, Decimal]) -> None:
        """A customer orders."""
        number = self._order("/exit-documents", "sale_order", whs, wanted)
        self.books.exits.append(Order(number, whs, wanted))

    @precondition(lambda self: self.books.exits)
    @rule(which=WHICH, allocate=st.booleans())
    def have_picked(self, *, which: int, allocate: bool) -> None:
        """An order is given to the pickers."""
        order = _one(self.books.exits, which)
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
        picking.promised = dict(_promises(picking, shown))
        got = dict.fromkeys(picking.wanted, NONE)
        for place, qty in picking.promised.items():
            got[place.item] += qty
        assert got == due

    @precondition(lambda self: self.books.pickings)
    @rule(which=WHICH, at=WHICH, spot=BINS, qty=QTY, wrong=st.sampled_from((False, False, True)))
    def pick(self, *, which: int, at: int, spot: str, qty: Decimal, wrong: bool) -> None:
        """A picker takes what was promised, or something else."""
        picking = _one(self.books.pickings, which)
        places = sorted(picking.promised, key=str)
        place = _one(places, at) if places else _place("BRICK", picking.order.whs, spot, 1)
        if wrong:
            place = place._replace(bin=spot)
        qty = Decimal(1) if place.serial else qty
        body = {
            "item_code": place.item, "qty": qty, "bin_code": place.bin, "batch": place.batch,
            "serials": [place.serial] if place.serial else None,
        }  # fmt: skip
        haul = next((one for one in self.books.hauls if one.picking is picking), None)
        path = f"/transfer-orders/{haul.id}" if haul else f"/pickings/{picking.id}"
        expected = 200
        if picking.status != "started" and not (haul and picking.status == "pending"):
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
        picking = _one(self.books.pickings, which)
        possible = picking.status in _BEFORE[what]
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
            self.books.unpick(picking, _AFTER[what])
        else:
            picking.status = _AFTER[what]

    @precondition(lambda self: self.books.pickings)
    @rule(which=WHICH, reason=st.sampled_from(("damaged", "damaged", None)))
    def finish(self, which: int, reason: str | None) -> None:
        """A picker is done, whether everything was there or not."""
        picking = _one(self.books.pickings, which)
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
        order = _one(self.books.exits, which)
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
            order = _one(orders, which)
            possible = not order.closed and not order.works
            self.ask(f"/{way}-documents/{order.id}/close", None, 200 if possible else 409)
            order.closed |= possible

    def _order(self, path: str, kind: str, whs: str, wanted: Mapping[str, Decimal]) -> int:
        self._number += 1
        body = {
            "external_ref": f"O-{self._number}",
            "type": kind,
            "doc_date": "2026-03-01",
            "partner_code": "P-1",
            "warehouse_code": whs,
            "lines": [{"item_code": item, "qty": qty} for item, qty in wanted.items()],
        }
        number: int = self.ask(path, body, 201).data["id"]
        return number


_BEFORE: Mapping[str, tuple[str, ...]] = {
    "start": ("pending",),
    "allocate": ("pending", "started"),
    "finalize": ("started",),
    "cancel": ("pending", "started"),
    "revert": ("finalized", "synchronized"),
    "synchronize": ("finalized",),
}
_AFTER = {
    "start": "started",
    "finalize": "finalized",
    "cancel": "cancelled",
    "revert": "reverted",
    "synchronize": "synchronized",
}


def _one[E](several: list[E], which: int) -> E:
    """Choose the latest ones more often: most of what happens is about them."""
    return several[-1 - which % len(several)]


def _place(item: str, whs: str, spot: str, lot: int, status: str = "available") -> Place:
    batch = f"L{lot}" if item == "CEMENT" else None
    return Place(item, whs, spot, batch, f"S{lot}" if item == "DRILL" else None, status)


def _plain(body: Mapping[str, object] | None) -> Any:
    """Write a body as JSON has it, without what is not said."""
    if body is None:
        return None
    said = {name: value for name, value in body.items() if value is not None}
    return json.loads(dumps(said))


def _promises(picking: Picking, shown: Mapping[str, Any]) -> Iterator[tuple[Place, Decimal]]:
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
