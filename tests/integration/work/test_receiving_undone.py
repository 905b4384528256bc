"""Receipts that are cancelled or reverted: their goods leave the stock again."""

from itertools import count
from typing import Any

import pytest

from tests.clock import Clock
from tests.dock import Dock
from tests.faults import Answer, Call, Fault, Forward, Killed, Wire
from tests.gateway import Erp
from tests.stack import Stack
from tests.stock_proof import prove

TEN = {"qty": 10}


@pytest.mark.parametrize("way", [("cancel",), ("finalize", "revert")])
def test_what_was_received_is_put_back(dock: Dock, stack: Stack, way: tuple[str, ...]) -> None:
    order = dock.order(TEN, {"item_code": "CEMENT", "qty": 5}, {"item_code": "DRILL", "qty": 2})
    other = dock.started(order)
    dock.receive(other, 3)
    number = dock.started(order)
    dock.receive(number, 2)
    dock.receive(number, 5)
    dock.receive(number, 5, item_code="CEMENT", batch="L1", inventory_status="damaged")
    dock.receive(number, 2, item_code="DRILL", serials=["S-1", "S-2"])
    lines = dock.shown(number)["lines"]

    for action in way:
        answer = dock.act(number, action)
        assert answer.status == 200, answer.text

    assert answer.data["status"] == {"cancel": "cancelled", "revert": "reverted"}[way[-1]]
    assert answer.data["lines"] == lines, "the ERP sees what it has to take back"
    assert dock.stock() == [("BRICK", "A-01", 3)]
    assert dock.progress(order) == [(3, 7, "partial"), (0, 5, "open"), (0, 2, "open")]
    assert dock.document(order)["status"] == "partial-complete"
    undone = dock.erp.walk("/stock-movements", type="receipt_undone", sort="created_at")
    assert [(one["item_code"], one["qty"], one["to"]) for one in undone] == [
        ("BRICK", 2, None), ("BRICK", 5, None), ("CEMENT", 5, None),
        ("DRILL", 1, None), ("DRILL", 1, None),
    ]  # fmt: skip
    assert {one["document"]["id"] for one in undone} == {number}
    prove(stack.store())

    again = dock.started(order)
    assert dock.receive(again, 2, item_code="DRILL", serials=["S-1", "S-2"]).status == 200
    prove(stack.store())


def test_a_document_forgets_receipts_without_goods(dock: Dock) -> None:
    order = dock.order(TEN)
    first, second = dock.receipt(order), dock.started(order)

    dock.act(first, "cancel")
    assert dock.document(order)["status"] == "assigned"
    dock.act(second, "finalize")
    assert dock.document(order)["status"] == "open"
    assert dock.erp.post(f"/entry-documents/{order}/close").status == 200


def test_a_receipt_reverted_after_the_end_opens_nothing(dock: Dock, stack: Stack) -> None:
    order = dock.order(TEN, {"qty": 1})
    number = dock.started(order)
    dock.receive(number, 10)
    dock.act(number, "finalize")
    assert dock.erp.post(f"/entry-documents/{order}/close").status == 200

    assert dock.act(number, "revert").status == 200

    assert dock.document(order)["status"] == "closed"
    assert dock.progress(order) == [(0, 0, "closed"), (0, 0, "closed")]
    prove(stack.store())


def test_a_completed_order_is_open_again_and_its_master_data_stays(dock: Dock) -> None:
    order = dock.order(TEN)
    number = dock.started(order)
    dock.receive(number, 10)
    dock.act(number, "finalize")
    [brick] = dock.erp.get("/products", query={"item_code": "BRICK"}).data

    assert dock.act(number, "revert").status == 200

    assert dock.document(order)["status"] == "open"
    refused = dock.erp.delete(f"/products/{brick['id']}")
    assert (refused.status, refused.code) == (409, "conflict")
    assert "open documents" in refused.json()["message"]


def _sold(dock: Dock) -> None:
    body = {"item_code": "BRICK", "warehouse": "YARD", "bin_code": "A-01", "decrease": 1}
    assert dock.erp.post("/stock-adjustments", {**body, "reason": "Broken"}).status == 201


def _promised(dock: Dock) -> None:
    dock.floor.picking(dock.floor.order(("BRICK", 1)))


def _checked(dock: Dock) -> None:
    body = {"item_code": "DRILL", "warehouse": "YARD", "bin_code": "A-01", "serial": "S-1"}
    body |= {"to_status": "quarantine", "reason": "Looks used"}
    assert dock.erp.post("/stock-adjustments", body).status == 201


def _moved(dock: Dock) -> None:
    body: dict[str, object] = {"item_code": "DRILL", "warehouse": "YARD", "serial": "S-1"}
    for bin_code, way in (("A-01", "decrease"), ("B-01", "increase")):
        body |= {"bin_code": bin_code, "reason": "Moved"}
        assert dock.erp.post("/stock-adjustments", {**body, way: 1}).status == 201


def test_what_is_gone_or_promised_is_not_put_back(
    dock: Dock, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = dock.order({"item_code": "CEMENT", "qty": 1}, TEN, {"item_code": "DRILL", "qty": 1})
    number = dock.started(order)
    dock.receive(number, 1, item_code="CEMENT", batch="L1")
    dock.receive(number, 10)
    dock.receive(number, 1, item_code="DRILL", serials=["S-1"])
    as_it_was = stack.keep()
    for happens, item in (
        (_sold, "BRICK"), (_promised, "BRICK"), (_checked, "DRILL"), (_moved, "DRILL"),
    ):  # fmt: skip
        happens(dock)
        stock, lines = dock.erp.walk("/stocks"), dock.progress(order)
        for action in ("cancel", "revert"):
            for step in (80, 8):
                monkeypatch.setattr("shared.warehouse.receiving.rules._STEP", step)
                answer = dock.act(number, action)
                assert (answer.status, answer.code) == (409, "conflict"), happens
                assert item in answer.json()["message"]
            if action == "cancel":
                assert dock.act(number, "finalize").status == 200
        assert dock.shown(number)["status"] == "finalized"
        assert len(dock.shown(number)["lines"]) == 3
        assert dock.erp.walk("/stocks") == stock
        assert dock.progress(order) == lines
        prove(stack.store())
        as_it_was()


@pytest.fixture
def long_receipt(dock: Dock, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """An order of five lines and its receipt, whose goods need three transactions to go."""
    monkeypatch.setattr("shared.warehouse.receiving.rules._STEP", 11)
    items = ("BRICK", "CEMENT", "BRICK", "DRILL", "BRICK")
    order = dock.order(*({"item_code": item, "qty": 2} for item in items))
    number = dock.started(order)
    goods: dict[str, dict[str, Any]] = {
        "BRICK": {}, "CEMENT": {"batch": "L1"}, "DRILL": {"serials": ["S-1", "S-2"]},
    }  # fmt: skip
    for item in items:
        answer = dock.receive(number, 2, item_code=item, **goods[item])
        assert answer.status == 200, answer.text
    return order, number


def test_a_long_receipt_is_put_back_in_steps(
    dock: Dock, stack: Stack, wire: Wire, long_receipt: tuple[int, int]
) -> None:
    order, number = long_receipt
    before = len(stack.events())

    with wire.recorded() as seen:
        answer = dock.act(number, "cancel", key="c-1")

    assert (answer.status, answer.data["status"]) == (200, "cancelled")
    assert len(answer.data["lines"]) == 5
    assert seen.operations.count("TransactWriteItems") == 4
    assert dock.stock() == []
    assert dock.document(order)["status"] == "open"
    changed = [event["id"]["N"] for event in stack.events()[before:]]
    assert len(changed) == len(set(changed)) + 1, "bricks go in two steps"
    prove(stack.store())


def _dies_after_step(last: int) -> Fault:
    steps = count(1)

    def fault(call: Call, forward: Forward) -> Answer:
        answer = forward()
        if call.operation == "TransactWriteItems" and next(steps) == last:
            raise Killed(f"after step {last}")
        return answer

    return fault


def test_a_long_receipt_half_put_back_goes_on_when_it_is_asked_again(
    dock: Dock, stack: Stack, wire: Wire, clock: Clock, long_receipt: tuple[int, int]
) -> None:
    order, number = long_receipt
    dock.act(number, "finalize")
    as_it_was = stack.keep()
    for step in (1, 2, 3):
        with pytest.raises(Killed), wire.faulty(_dies_after_step(step)):
            dock.act(number, "revert", key="r-1")

        prove(stack.store())
        halfway = dock.shown(number)
        assert halfway["status"] == "finalized"
        received = sum(line[0] for line in dock.progress(order))
        assert received == sum(row[2] for row in dock.stock())
        assert received == sum(line["qty"] for line in halfway["lines"])
        clock.advance(61)
        again = dock.act(number, "revert", key="r-1")
        assert (again.status, again.data["status"]) == (200, "reverted")
        assert len(again.data["lines"]) == 5
        assert dock.stock() == []
        assert dock.document(order)["status"] == "open"
        prove(stack.store())
        as_it_was()


def test_a_long_receipt_is_put_back_for_who_has_read_it(
    dock: Dock, erp: Erp, long_receipt: tuple[int, int]
) -> None:
    path = f"/receipts/{long_receipt[1]}"
    tag = erp.get(path).headers["ETag"]

    answer = erp.post(f"{path}/cancel", headers={"If-Match": tag})

    assert answer.status == 200, answer.text
    assert dock.stock() == []
    again = erp.post(f"{path}/cancel", headers={"If-Match": tag})
    assert (again.status, again.code) == (409, "stale_state")
