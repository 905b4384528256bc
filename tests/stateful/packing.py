"""Rules of packing orders and handling units."""

from decimal import Decimal

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.stateful.machine import INDEX, QTY, recent_one
from tests.stateful.picking import PickingRules
from tests.warehouse_model import ZERO, PackingOrder, Unit, add

_BEING_PACKED = ("open", "in_progress")
_LEVELS = 3


class PackingRules(PickingRules):
    """Packing orders of exit documents, and their handling units."""

    @precondition(lambda self: self.model.exits)
    @rule(index=INDEX)
    def create_packing_order(self, index: int) -> None:
        order = recent_one(self.model.exits, index)
        own = (one for one in self.model.pickings if one.order is order)
        pickings = [one for one in own if one.id in order.finished and not one.dispatched]
        expected = 201
        if not pickings:
            expected = 422
        elif any(self.model.active_packing(one) for one in pickings):
            expected = 409
        answer = self.post("/packing-orders", {"exit_document_id": order.id}, expected)
        if expected == 201:
            assert answer.data["picking_ids"] == [one.id for one in pickings]
            packing = PackingOrder(answer.data["id"], order, pickings)
            self.model.packing_orders.append(packing)

    @precondition(lambda self: self.model.packing_orders)
    @rule(index=INDEX, inside=st.booleans())
    def create_unit(self, *, index: int, inside: bool) -> None:
        """Create a unit, or one in the newest unit of the packing order."""
        packing = recent_one(self.model.packing_orders, index)
        parent = packing.units[-1] if inside and packing.units else None
        expected = 201
        if parent and parent.level == _LEVELS:
            expected = 422
        elif packing.status not in _BEING_PACKED or (parent and parent.status != "open"):
            expected = 409
        body = {"type": "carton", "parent_id": parent.id if parent else None}
        answer = self.post(f"/packing-orders/{packing.id}/handling-units", body, expected)
        if expected == 201:
            packing.units.append(Unit(answer.data["id"], parent, answer.data["sscc"]))
            packing.has_passed = False

    def _units(self) -> list[tuple[PackingOrder, Unit]]:
        return [(packing, unit) for packing in self.model.packing_orders for unit in packing.units]

    @precondition(lambda self: self._units())
    @rule(index=INDEX, lot=INDEX, qty=QTY, action=st.sampled_from(("contents", "contents/remove")))
    def pack(self, index: int, lot: int, qty: Decimal, action: str) -> None:
        """Put goods of a staged lot into a unit, or take them out."""
        packing, unit = recent_one(self._units(), index)
        staged = sorted(packing.staged)
        if not staged:
            return
        item, batch, serial = recent_one(staged, lot)
        qty = Decimal(1) if serial else qty
        body = {
            "item_code": item, "qty": qty, "batch": batch or None,
            "serials": [serial] if serial else None,
        }  # fmt: skip
        name = (item, batch, serial)
        left = packing.staged[name] - packing.packed(name)
        if action == "contents/remove":
            left = unit.contents.get(name, ZERO)
        expected = 200
        if packing.status not in _BEING_PACKED or unit.status != "open":
            expected = 409
        elif qty > left:
            expected = 422
        self.post(f"/handling-units/{unit.id}/{action}", body, expected)
        if expected == 200:
            change = qty if action == "contents" else -qty
            add(unit.contents, name, change)
            packing.status = "in_progress"
            packing.has_passed = False

    @precondition(lambda self: self._units())
    @rule(index=INDEX, action=st.sampled_from(("close", "close", "reopen")))
    def act_on_unit(self, index: int, action: str) -> None:
        """Close or reopen a unit."""
        packing, unit = recent_one(self._units(), index)
        possible = packing.status in _BEING_PACKED
        possible &= unit.status == ("open" if action == "close" else "closed")
        if action == "close":
            inner = [one for one in packing.units if one.parent is unit]
            possible &= all(one.status == "closed" for one in inner)
        else:
            possible &= unit.parent is None or unit.parent.status == "open"
        self.post(f"/handling-units/{unit.id}/{action}", None, 200 if possible else 409)
        if possible:
            unit.status = "closed" if action == "close" else "open"
            packing.has_passed = False

    @precondition(lambda self: self._units())
    @rule(index=INDEX)
    def delete_unit(self, index: int) -> None:
        packing, unit = recent_one(self._units(), index)
        possible = packing.status in _BEING_PACKED and not unit.contents
        possible &= unit.parent is None or unit.parent.status == "open"
        possible &= not any(one.parent is unit for one in packing.units)
        answer = self.erp.delete(f"/handling-units/{unit.id}")
        assert answer.status == (200 if possible else 409), answer.text
        if possible:
            packing.units.remove(unit)
            packing.has_passed = False

    @precondition(lambda self: self.model.packing_orders)
    @rule(index=INDEX, end=st.sampled_from(("complete", "short", "cancel")))
    def end_packing(self, index: int, end: str) -> None:
        """Complete or cancel a packing order."""
        packing = recent_one(self.model.packing_orders, index)
        if end == "cancel":
            possible = packing.is_active
        else:
            possible = packing.status in _BEING_PACKED
            possible &= end == "short" or packing.is_complete
            possible &= packing.has_passed or not self.model.rfid_required
        body = {"short": True, "reason": "Loose"} if end == "short" else None
        action = "cancel" if end == "cancel" else "complete"
        path = f"/packing-orders/{packing.id}/{action}"
        self.post(path, body, 200 if possible else 409)
        if possible and end == "cancel":
            packing.status = "cancelled"
            packing.units.clear()
        elif possible:
            packing.units[:] = [one for one in packing.units if one not in packing.empty_units]
            packing.status = "packed"
