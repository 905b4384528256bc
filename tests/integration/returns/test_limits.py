"""What may come back of an exit document: batches, serials, and products that are not on it."""

from typing import Any

import pytest

from tests.return_scenario import ReturnScenario

pytestmark = pytest.mark.usefixtures("consistent_stock")


def _drill(*serials: str, **more: object) -> dict[str, Any]:
    return {"item_code": "DRILL", "qty": len(serials), "serials": list(serials), **more}


def _cement(qty: float, batch: str | None, **more: object) -> dict[str, Any]:
    return {"item_code": "CEMENT", "qty": qty, "batch": batch, **more}


def _bought(scenario: ReturnScenario, serial: str) -> int:
    """Receive a drill with a purchase order; return the receipt."""
    erp = scenario.erp
    body = {
        "type": "purchase_order", "doc_date": "2026-03-01", "partner_code": "P-1",
        "warehouse_code": "YARD", "lines": [{"item_code": "DRILL", "qty": 1}],
    }  # fmt: skip
    order = erp.post("/entry-documents", {**body, "external_ref": "PO-1"}, key="po").id
    receipt = erp.post("/receipts", {"document_id": order}).id
    erp.post(f"/receipts/{receipt}/start").ok()
    erp.post(f"/receipts/{receipt}/lines", {**_drill(serial), "bin_code": "A-01"}).ok()
    return receipt


def test_serial_comes_back_only_to_the_document_with_which_it_last_left(
    scenario: ReturnScenario,
) -> None:
    announced = scenario.expected(lines=[_drill("S-1")])
    receipt = _bought(scenario, "S-1")
    scenario.erp.post(f"/receipts/{receipt}/finalize").ok()
    second = scenario.yard.dispatched(DRILL={"qty": 1, "serials": ["S-1"]})
    message = f"serial S-1 of DRILL has left again since EX-{scenario.order}, with EX-{second}"

    assert scenario.receive(announced, _drill("S-1")).blocked == {"lines.0.serials.0": message}
    scenario.done(announced, "cancel")
    assert scenario.draft(lines=[_drill("S-1")]).blocked == {"lines.0.serials.0": message}
    scenario.receive(scenario.expected(lines=[_drill("S-1")], exit_document_id=second),
                     _drill("S-1")).ok()  # fmt: skip


def test_serial_that_left_by_an_adjustment_does_not_come_back(scenario: ReturnScenario) -> None:
    scenario.yard.stock("DRILL", 1, serial="S-1")
    scenario.yard.adjust("DRILL", serial="S-1", decrease=1).ok(201)

    refused = scenario.draft(lines=[_drill("S-1")])

    assert refused.blocked == {
        "lines.0.serials.0": f"serial S-1 of DRILL has left again since EX-{scenario.order},"
        " by adjustment"
    }


@pytest.mark.parametrize("end", ["cancel", "revert"])
def test_arrival_that_was_undone_does_not_count(scenario: ReturnScenario, end: str) -> None:
    receipt = _bought(scenario, "S-1")
    if end == "revert":
        scenario.erp.post(f"/receipts/{receipt}/finalize").ok()
    scenario.erp.post(f"/receipts/{receipt}/{end}").ok()

    scenario.receive(scenario.expected(("DRILL", 1)), _drill("S-1")).ok()


def test_batch_comes_back_as_far_as_it_left(scenario: ReturnScenario) -> None:
    code = f"EX-{scenario.order}"
    refused = scenario.draft(lines=[_cement(1, "L9"), _cement(1, None)])
    assert refused.blocked == {"lines.0.batch": f"batch L9 of CEMENT did not leave with {code}"}
    scenario.yard.stock("CEMENT", 6, batch="L2")
    scenario.yard.stock("CEMENT", 2, batch="L3")
    order = scenario.yard.order(("CEMENT", 8))
    picking = scenario.yard.started(order)
    for qty, batch in ((6, "L2"), (2, "L3")):
        scenario.yard.pick(picking, "CEMENT", qty, batch=batch).ok()
    scenario.yard.act(picking, "finalize").ok()
    scenario.erp.post(f"/exit-documents/{order}/dispatch").ok()
    scenario.order = order
    other = scenario.expected(lines=[_cement(1, "L3")])
    number = scenario.expected(lines=[_cement(4, None)])

    refused = scenario.receive(number, _cement(1, "L3"), _cement(1, "L3"), _cement(1, "L1"))

    assert refused.blocked == {
        "lines.1.qty": f"2 of batch L3 of CEMENT to return; 2 dispatched with EX-{order},"
        " 1 returned, 1 left",
        "lines.2.batch": f"batch L1 of CEMENT did not leave with EX-{order}",
    }
    scenario.receive(number, _cement(1, "L3"), _cement(3, "L2")).ok()
    assert scenario.draft(lines=[_cement(1, "L3")]).code == "rule_blocked"
    scenario.done(other, "cancel")
    scenario.expected(lines=[_cement(1, "L3"), _cement(3, "L2")])


def test_serial_comes_back_in_the_batch_with_which_it_left(scenario: ReturnScenario) -> None:
    product = {"item_code": "SAW", "name": "Saw", "man_ser_num": True, "man_btch_num": True}
    scenario.erp.post("/products", product).ok(201)
    for serial, batch in (("W-1", "L1"), ("W-2", "L2")):
        scenario.yard.stock("SAW", 1, serial=serial, batch=batch)
    order = scenario.yard.order(("SAW", 2))
    picking = scenario.yard.started(order)
    for serial, batch in (("W-1", "L1"), ("W-2", "L2")):
        scenario.yard.pick(picking, "SAW", 1, serials=[serial], batch=batch).ok()
    scenario.yard.act(picking, "finalize").ok()
    scenario.erp.post(f"/exit-documents/{order}/dispatch").ok()
    saw = {"item_code": "SAW", "qty": 1, "serials": ["W-1"]}
    number = scenario.expected(lines=[saw], exit_document_id=order)

    refused = scenario.receive(number, {**saw, "batch": "L2"})

    assert refused.blocked == {
        "lines.0.serials.0": f"serial W-1 of SAW left with EX-{order} in batch L1, not L2"
    }
    scenario.receive(number, {**saw, "batch": "L1"}).ok()


def test_goods_that_left_before_they_were_tracked_come_back_with_any_serial_and_batch(
    scenario: ReturnScenario,
) -> None:
    product = scenario.erp.post("/products", {"item_code": "SAW", "name": "Saw"}).id
    scenario.yard.stock("SAW", 2)
    order = scenario.yard.dispatched(SAW={"qty": 2})
    tracked = {"man_ser_num": True, "man_btch_num": True}
    scenario.erp.patch(f"/products/{product}", tracked).ok()
    scenario.yard.stock("SAW", 1, serial="Z3", batch="L9")

    def saw(*serials: str, batch: str = "L1") -> dict[str, Any]:
        goods = {"item_code": "SAW", "qty": len(serials), "batch": batch}
        return {**goods, "serials": list(serials)}

    refused = scenario.draft(lines=[saw("Z3")], exit_document_id=order)
    assert refused.blocked == {"lines.0.serials.0": "serial Z3 of SAW is in stock at YARD A-01"}
    number = scenario.expected(lines=[saw("Z1")], exit_document_id=order)
    scenario.receive(number, saw("Z2", batch="L2")).ok()
    refused = scenario.receive(number, saw("Z3"))
    assert set(refused.problems) == {"lines.0.serials.0"}
    scenario.done(number, "finish")
    other = scenario.expected(("SAW", 1), exit_document_id=order)
    refused = scenario.receive(other, saw("Z4", "Z5"))
    assert set(refused.blocked) == {"lines.0.qty", "lines.0.serials.1"}
    scenario.receive(other, saw("Z4")).ok()


def test_wrong_item_is_limited_by_nothing_and_shown_in_the_differences(
    scenario: ReturnScenario,
) -> None:
    scenario.erp.post("/products", {"item_code": "SAW", "name": "Saw", "man_ser_num": True}).ok(201)
    saw = {"item_code": "SAW", "qty": 1, "serials": ["W-1"]}
    for line in (saw, {**saw, "reason": "other"}):
        refused = scenario.draft(lines=[line])
        assert set(refused.blocked) == {"lines.0.qty", "lines.0.serials.0"}
    refused = scenario.draft(lines=[{"item_code": "BRICK", "qty": 11, "reason": "wrong_item"}])
    assert set(refused.blocked) == {"lines.0.qty"}, "a product of the document"

    lines = [{"item_code": "BRICK", "qty": 1}, {**saw, "reason": "wrong_item"}]
    number = scenario.expected(lines=lines)
    wrong = [{"line_num": 2, "item_code": "SAW", "kind": "wrong_item", "value": "SAW"}]
    assert scenario.shown(number)["differences"] == wrong
    scenario.receive(number, {**saw, "serials": ["W-2"]}, {**saw, "serials": ["W-3"]}).ok()
    assert scenario.done(number, "finish")["differences"] == wrong
    decided = {"action": "restock", **saw, "serials": ["W-2"]}
    scenario.decide(number, decided, {**decided, "serials": ["W-3"], "action": "scrap"}).ok()
    scenario.yard.change_settings(blind_returns=True)
    blind = {"exit_document_id": None, "warehouse_code": "YARD", "partner_code": "C-1"}
    assert scenario.shown(scenario.expected(lines=lines, **blind))["differences"] == []
