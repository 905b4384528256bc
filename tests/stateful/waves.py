"""Pickings that are worked together; see `base`."""

from decimal import Decimal

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.stateful.machine import WHICH, one_of
from tests.stateful.picking import Pickers, promises_of
from tests.warehouse_model import NONE, Picking, Wave

_ALLOWED = {
    "plan": ("draft",),
    "release": ("planned",),
    "cancel": ("draft", "planned", "released", "in_progress"),
    "complete": ("picked",),
    "close": ("completed",),
}
_THEN = {
    "plan": "planned", "release": "released", "cancel": "cancelled", "complete": "completed",
    "close": "closed",
}  # fmt: skip


class Waves(Pickers):
    """Waves of the pickings of a warehouse."""

    @precondition(lambda self: self.books.pickings)
    @rule(which=WHICH, count=st.integers(1, 3))
    def gather(self, which: int, count: int) -> None:
        """Some pickings of one warehouse are to be worked together."""
        first = one_of(self.books.pickings, which)
        others = [
            one
            for one in self.books.pickings
            if one is not first and one.order.whs == first.order.whs
        ]
        chosen = [first, *others[-count:]]
        if any(one.picking in chosen for one in self.books.hauls):
            return
        taken = any(
            one in wave.pickings
            for wave in self.books.waves
            if wave.status != "cancelled"
            for one in chosen
        )
        possible = not taken and not any(one.ended for one in chosen)
        body = {
            "warehouse_code": first.order.whs, "strategy": "batch",
            "picking_ids": [one.id for one in chosen],
        }  # fmt: skip
        answer = self.ask("/waves", body, 201 if possible else 409)
        if possible:
            self.books.waves.append(Wave(answer.data["id"], chosen))

    @precondition(lambda self: self.books.waves)
    @rule(
        which=WHICH,
        what=st.sampled_from(("plan", "plan", "release", "release", "cancel", "complete", "close")),
    )
    def act_on_wave(self, which: int, what: str) -> None:
        """A wave goes on, or is given up."""
        wave = one_of(self.books.waves, which)
        possible = wave.state in _ALLOWED[what]
        answer = self.ask(f"/waves/{wave.id}/{what}", None, 200 if possible else 409)
        if not possible:
            return
        wave.status = _THEN[what]
        assert answer.data["status"] == wave.state
        if what == "release":
            self._promise_all([one for one in wave.pickings if not one.ended])

    def _promise_all(self, pickings: list[Picking]) -> None:
        """Note what pickings were promised; together it must be what there was."""
        items = {item for picking in pickings for item in picking.wanted}
        due = {
            item: min(
                sum((one.unallocated(item) for one in pickings if item in one.wanted), NONE),
                self.books.pickable(item, pickings[0].order.whs),
            )
            for item in items
        }
        before = _promised(pickings)
        for picking in pickings:
            shown = self.erp.get(f"/pickings/{picking.id}").data
            picking.promised = dict(promises_of(picking, shown))
            assert all(picking.unallocated(item) >= 0 for item in picking.wanted)
        after = _promised(pickings)
        assert after == {
            item: before.get(item, NONE) + due[item]
            for item in items
            if before.get(item, NONE) + due[item]
        }


def _promised(pickings: list[Picking]) -> dict[str, Decimal]:
    sums: dict[str, Decimal] = {}
    for picking in pickings:
        for place, qty in picking.promised.items():
            sums[place.item] = sums.get(place.item, NONE) + qty
    return sums
