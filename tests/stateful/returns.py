"""Rules of returns."""

from decimal import Decimal

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.stateful.adjustments import AdjustmentRules
from tests.stateful.machine import BINS, INDEX, ITEMS, LOTS, QTY, one_of, place_at, recent_one
from tests.stateful.picking import PickingRules
from tests.warehouse_model import ZERO, CustomerReturn, Order, Picking, Place, Sums, sums

_ACTION = one_of("restock restock quarantine scrap return_to_provider")


class ReturnRules(AdjustmentRules, PickingRules):
    """Returns of exit documents, from the announcement to the dispositions."""

    def stage_order(self, wanted: dict[str, Decimal], *, lot: int) -> None:
        """Put goods on the shelf, and pick them for an exit document."""
        for item, qty in wanted.items():
            self.adjust_stock(
                item=item, whs="YARD", bin_code="A-01", lot=lot, qty=qty, change="increase",
                status="available",
            )  # fmt: skip
        self.create_exit_document("YARD", wanted)
        self.create_picking(index=0, allocate=True)
        self.act_on_picking(0, "start")
        picking = self.model.pickings[-1]
        while picking.allocated:
            qty = picking.allocated[max(picking.allocated, key=str)]
            self.pick(index=0, place_index=0, bin_code="A-01", qty=qty, wrong=False, by_gtin=False)
        self.finalize_picking(0, None)

    @precondition(lambda self: self.model.exits)
    @rule(index=INDEX, wanted=st.dictionaries(ITEMS, st.integers(1, 3).map(Decimal), min_size=1))
    def create_return(self, index: int, wanted: dict[str, Decimal]) -> None:
        """Announce goods of an exit document, dispatched or not."""
        order = recent_one(self.model.exits, index)
        possible = all(qty <= self.model.returnable(order, item) for item, qty in wanted.items())
        lines = [{"item_code": item, "qty": qty} for item, qty in wanted.items()]
        body = {"exit_document_id": order.id, "lines": lines}
        answer = self.post("/returns", body, 201 if possible else 422)
        if possible:
            self.model.returns.append(CustomerReturn(answer.data["id"], order, wanted))

    @precondition(lambda self: self.model.returns)
    @rule(index=INDEX, item=ITEMS, bin_code=BINS, lot=LOTS, qty=QTY)
    def receive_return(self, index: int, item: str, bin_code: str, lot: int, qty: Decimal) -> None:
        """Receive goods of a return in quarantine."""
        one = recent_one(self.model.returns, index)
        place = place_at(item, one.order.whs, bin_code, lot, "quarantine")
        qty = Decimal(1) if place.serial else qty
        line = {
            "item_code": item, "qty": qty, "bin_code": bin_code, "batch": place.batch,
            "serials": [place.serial] if place.serial else None,
        }  # fmt: skip
        expected = 200
        if one.status not in {"expected", "receiving"}:
            expected = 409
        elif not self._may_arrive(one, place, qty):
            expected = 422
        self.post(f"/returns/{one.id}/lines", {"lines": [line]}, expected)
        if expected == 200:
            one.status = "receiving"
            one.undecided[place] += qty
            one.received[item] += qty
            one.serials |= {place.serial} if place.serial else set()
            if place.batch:
                one.batches[item, place.batch] += qty
            self.model.move(None, place, qty)

    def _may_arrive(self, one: CustomerReturn, place: Place, qty: Decimal) -> bool:
        if place.item not in one.announced or self.model.has_serial(place.item, place.serial):
            return False
        if place.serial and (
            self.model.departures.get((place.item, place.serial)) is not one.order
            or place.serial not in self.model.sent_serials(one.order)
            or any(place.serial in other.serials for other in self.model.returns
                   if other.order is one.order)
        ):  # fmt: skip
            return False
        if place.batch and qty > self.model.returnable_of_batch(one.order, place.item, place.batch):
            return False
        total = one.received.get(place.item, ZERO) + qty
        left = self.model.returnable(one.order, place.item) + one.taken(place.item)
        return max(total, one.announced[place.item]) <= left

    @precondition(lambda self: self.model.returns)
    @rule(index=INDEX, action=one_of("finish finish cancel"))
    def end_return(self, index: int, action: str) -> None:
        """Finish or cancel a return."""
        one = recent_one(self.model.returns, index)
        possible = one.status == ("receiving" if action == "finish" else "expected")
        self.post(f"/returns/{one.id}/{action}", None, 200 if possible else 409)
        if possible:
            one.status = "received" if action == "finish" else "cancelled"

    @precondition(lambda self: self.model.returns)
    @rule(
        index=INDEX, place_index=INDEX, bin_code=st.one_of(st.none(), BINS), qty=QTY,
        action=_ACTION,
    )  # fmt: skip
    def decide_on_return(
        self, *, index: int, place_index: int, bin_code: str | None, qty: Decimal, action: str
    ) -> None:
        """Decide on goods of a return; other work may have moved them."""
        one = recent_one(self.model.returns, index)
        goods = [place for place, left in one.undecided.items() if left]
        nothing = place_at("BRICK", one.order.whs, "A-01", 1, "quarantine")
        place = recent_one(goods or [nothing], place_index)
        if action == "return_to_provider" and place.item != "BRICK":
            return  # its document requires a batch or serial, which the model does not know
        qty = Decimal(1) if place.serial else qty
        bin_code = bin_code if action in {"restock", "return_to_provider"} else None
        line = {
            "item_code": place.item, "qty": qty, "batch": place.batch, "action": action,
            "serials": [place.serial] if place.serial else None, "bin_code": bin_code,
        }  # fmt: skip
        parts = one.parts(place, qty)
        expected = 200
        if one.status != "received":
            expected = 409
        elif sum(parts.values(), ZERO) < qty:
            expected = 422
        elif action != "quarantine" and any(
            self.model.stock.get(each, ZERO) < part for each, part in parts.items()
        ):
            expected = 409
        answer = self.post(f"/returns/{one.id}/dispositions", {"lines": [line]}, expected)
        if expected != 200:
            return
        allocated: Sums = sums()
        for each, part in parts.items():
            one.undecided[each] -= part
            if action == "quarantine":
                continue
            target = each._replace(status="available", bin=bin_code or each.bin)
            self.model.move(each, None if action == "scrap" else target, part)
            allocated[target] += part
        if not any(one.undecided.values()):
            one.status = "dispositioned"
        if action == "return_to_provider":
            one.deliveries += 1
            self._add_delivery(one, answer.data["code"], {place.item: qty}, allocated)

    def _add_delivery(
        self, one: CustomerReturn, code: str, wanted: dict[str, Decimal], allocated: Sums
    ) -> None:
        """Add the exit document of goods for the provider, and its picking."""
        reference = f"{code}/{one.deliveries}"
        [document] = self.erp.get("/exit-documents", query={"external_ref": reference}).data
        [work] = self.erp.get("/pickings", query={"document_id": document["id"]}).data
        order = Order(document["id"], one.order.whs, wanted)
        picking = Picking(work["id"], order, dict(wanted), allocated=allocated)
        order.open_work.add(picking.id)
        self.model.exits.append(order)
        self.model.pickings.append(picking)
