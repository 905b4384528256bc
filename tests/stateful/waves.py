"""Rules of waves."""

from decimal import Decimal

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.stateful.machine import INDEX, one_of, recent_one
from tests.stateful.picking import PickingRules, read_allocations
from tests.warehouse_model import ZERO, Picking, Wave, sums

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


class WaveRules(PickingRules):
    """Waves of pickings of one warehouse."""

    @precondition(lambda self: self.model.pickings)
    @rule(index=INDEX, count=st.integers(1, 3))
    def create_wave(self, index: int, count: int) -> None:
        first = recent_one(self.model.pickings, index)
        others = [one for one in self.model.pickings if one.order.whs == first.order.whs]
        chosen = [first, *[one for one in others if one is not first][-count:]]
        if any(one.picking in chosen for one in self.model.transfer_orders):
            return
        taken = any(
            one in wave.pickings
            for wave in self.model.waves
            if wave.status != "cancelled"
            for one in chosen
        )
        possible = not taken and not any(one.ended for one in chosen)
        body = {
            "warehouse_code": first.order.whs, "strategy": "batch",
            "picking_ids": [one.id for one in chosen],
        }  # fmt: skip
        answer = self.post("/waves", body, 201 if possible else 409)
        if possible:
            self.model.waves.append(Wave(answer.data["id"], chosen))

    @precondition(lambda self: self.model.waves)
    @rule(index=INDEX, action=one_of("plan plan release release cancel complete close"))
    def act_on_wave(self, index: int, action: str) -> None:
        """Plan, release, cancel, complete or close a wave."""
        wave = recent_one(self.model.waves, index)
        possible = wave.state in _ALLOWED[action]
        answer = self.post(f"/waves/{wave.id}/{action}", None, 200 if possible else 409)
        if not possible:
            return
        wave.status = _THEN[action]
        assert answer.data["status"] == wave.state
        if action == "release":
            self._record_allocations([one for one in wave.pickings if not one.ended])

    def _record_allocations(self, pickings: list[Picking]) -> None:
        """Record the allocations of pickings, and check the total quantity of each item."""
        items = {item for picking in pickings for item in picking.wanted}
        due = {
            item: min(
                sum((one.unallocated(item) for one in pickings if item in one.wanted), ZERO),
                self.model.pickable(item, pickings[0].order.whs),
            )
            for item in items
        }
        before = _allocated_by_item(pickings)
        for picking in pickings:
            shown = self.erp.get(f"/pickings/{picking.id}").data
            picking.allocated = dict(read_allocations(picking, shown))
            assert all(picking.unallocated(item) >= 0 for item in picking.wanted)
        after = _allocated_by_item(pickings)
        assert {item: after[item] for item in items} == {
            item: before[item] + due[item] for item in items
        }


def _allocated_by_item(pickings: list[Picking]) -> dict[str, Decimal]:
    found: dict[str, Decimal] = sums()
    for picking in pickings:
        for place, qty in picking.allocated.items():
            found[place.item] += qty
    return found
