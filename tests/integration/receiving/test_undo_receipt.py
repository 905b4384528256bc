"""Cancelled and reverted receipts: their goods leave the stock again."""

from typing import Any

import pytest

from tests.clock import Clock
from tests.faults import AwsFaults, Killed, kill_after_step
from tests.gateway import Erp
from tests.receiving_scenario import ReceivingScenario
from tests.stack import Stack
from tests.stock_invariants import assert_invariants

TEN = {"qty": 10}


@pytest.mark.parametrize("way", [("cancel",), ("finalize", "revert")])
def test_cancelled_or_reverted_goods_leave_the_stock(
    receiving_scenario: ReceivingScenario, stack: Stack, way: tuple[str, ...]
) -> None:
    order = receiving_scenario.order(
        TEN, {"item_code": "CEMENT", "qty": 5}, {"item_code": "DRILL", "qty": 2}
    )
    other = receiving_scenario.started(order)
    receiving_scenario.receive(other, 3)
    number = receiving_scenario.started(order)
    receiving_scenario.receive(number, 2)
    receiving_scenario.receive(number, 5)
    receiving_scenario.receive(
        number, 5, item_code="CEMENT", batch="L1", inventory_status="damaged"
    )
    receiving_scenario.receive(number, 2, item_code="DRILL", serials=["S-1", "S-2"])
    lines = receiving_scenario.shown(number)["lines"]

    for action in way:
        answer = receiving_scenario.act(number, action).ok()

    assert answer["status"] == {"cancel": "cancelled", "revert": "reverted"}[way[-1]]
    assert answer["lines"] == lines, "the ERP sees what it has to take back"
    assert receiving_scenario.stock() == [("BRICK", "A-01", 3)]
    assert receiving_scenario.progress(order) == [(3, 7, "partial"), (0, 5, "open"), (0, 2, "open")]
    assert receiving_scenario.document(order)["status"] == "partial-complete"
    undone = receiving_scenario.erp.walk(
        "/stock-movements", type="receipt_undone", sort="created_at"
    )
    assert [(one["item_code"], one["qty"], one["to"]) for one in undone] == [
        ("BRICK", 2, None), ("BRICK", 5, None), ("CEMENT", 5, None),
        ("DRILL", 1, None), ("DRILL", 1, None),
    ]  # fmt: skip
    assert {one["document"]["id"] for one in undone} == {number}
    assert_invariants(stack.store())

    again = receiving_scenario.started(order)
    receiving_scenario.receive(again, 2, item_code="DRILL", serials=["S-1", "S-2"]).ok()
    assert_invariants(stack.store())


def test_goods_of_a_position_that_was_deleted_are_no_longer_there(
    receiving_scenario: ReceivingScenario,
) -> None:
    erp = receiving_scenario.erp
    number = receiving_scenario.started(receiving_scenario.order({"qty": 1}))
    receiving_scenario.receive(number, 1)
    count = {"item_code": "BRICK", "warehouse": "YARD", "bin_code": "A-01", "reason": "Count"}
    erp.post("/stock-adjustments", {**count, "counted_qty": 0}).ok(201)
    receiving_scenario.act(number, "finalize").ok()
    erp.delete("/warehouse-positions/1").ok()
    erp.post("/warehouse-positions", {"whs_code": "YARD", "bin_code": "A-01"}).ok(201)
    erp.post("/stock-adjustments", {**count, "counted_qty": 1}).ok(201)

    refused = receiving_scenario.act(number, "revert")

    assert (refused.status, refused.json()["message"]) == (
        409,
        "BRICK is no longer at A-01 with the status available; in stock: 1 available at YARD A-01.",
    )  # fmt: skip


def test_document_is_open_again_after_receipts_without_goods(
    receiving_scenario: ReceivingScenario,
) -> None:
    order = receiving_scenario.order(TEN)
    first, second = receiving_scenario.receipt(order), receiving_scenario.started(order)

    receiving_scenario.act(first, "cancel")
    assert receiving_scenario.document(order)["status"] == "assigned"
    receiving_scenario.act(second, "finalize")
    assert receiving_scenario.document(order)["status"] == "open"
    assert receiving_scenario.erp.post(f"/entry-documents/{order}/close").status == 200


def test_receipt_reverted_after_closing_does_not_reopen_the_document(
    receiving_scenario: ReceivingScenario, stack: Stack
) -> None:
    order = receiving_scenario.order(TEN, {"qty": 1})
    number = receiving_scenario.started(order)
    receiving_scenario.receive(number, 10)
    receiving_scenario.act(number, "finalize")
    assert receiving_scenario.erp.post(f"/entry-documents/{order}/close").status == 200

    assert receiving_scenario.act(number, "revert").status == 200

    assert receiving_scenario.document(order)["status"] == "closed"
    assert receiving_scenario.progress(order) == [(0, 0, "closed"), (0, 0, "closed")]
    assert_invariants(stack.store())


def test_reopened_document_protects_its_master_data_again(
    receiving_scenario: ReceivingScenario,
) -> None:
    order = receiving_scenario.order(TEN)
    number = receiving_scenario.started(order)
    receiving_scenario.receive(number, 10)
    receiving_scenario.act(number, "finalize")

    assert receiving_scenario.act(number, "revert").status == 200

    assert receiving_scenario.document(order)["status"] == "open"
    refused = receiving_scenario.erp.delete("/products/1")
    assert (refused.status, refused.code) == (409, "conflict")
    assert "open documents" in refused.json()["message"]


def _sold(receiving_scenario: ReceivingScenario) -> None:
    receiving_scenario.yard.adjust("BRICK", decrease=1).ok(201)


def _allocated(receiving_scenario: ReceivingScenario) -> None:
    receiving_scenario.yard.picking(receiving_scenario.yard.order(("BRICK", 1)))


def _quarantined(receiving_scenario: ReceivingScenario) -> None:
    receiving_scenario.yard.adjust("DRILL", serial="S-1", to_status="quarantine").ok(201)


def _moved(receiving_scenario: ReceivingScenario) -> None:
    receiving_scenario.yard.adjust("DRILL", serial="S-1", decrease=1).ok(201)
    receiving_scenario.yard.adjust("DRILL", "B-01", serial="S-1", increase=1).ok(201)


def test_undo_is_refused_when_goods_are_gone_or_allocated(
    receiving_scenario: ReceivingScenario, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = receiving_scenario.order(
        {"item_code": "CEMENT", "qty": 1}, TEN, {"item_code": "DRILL", "qty": 1}
    )
    number = receiving_scenario.started(order)
    receiving_scenario.receive(number, 1, item_code="CEMENT", batch="L1")
    receiving_scenario.receive(number, 10)
    receiving_scenario.receive(number, 1, item_code="DRILL", serials=["S-1"])
    as_it_was = stack.take_snapshot()
    for happens, item in (
        (_sold, "BRICK"), (_allocated, "BRICK"), (_quarantined, "DRILL"), (_moved, "DRILL"),
    ):  # fmt: skip
        happens(receiving_scenario)
        stock, lines = receiving_scenario.erp.walk("/stocks"), receiving_scenario.progress(order)
        for action in ("cancel", "revert"):
            for step in (80, 8):
                monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", step)
                answer = receiving_scenario.act(number, action)
                assert (answer.status, answer.code) == (409, "conflict"), happens
                assert item in answer.json()["message"]
            if action == "cancel":
                assert receiving_scenario.act(number, "finalize").status == 200
        assert receiving_scenario.shown(number)["status"] == "finalized"
        assert len(receiving_scenario.shown(number)["lines"]) == 3
        assert receiving_scenario.erp.walk("/stocks") == stock
        assert receiving_scenario.progress(order) == lines
        assert_invariants(stack.store())
        as_it_was()


@pytest.fixture
def long_receipt(
    receiving_scenario: ReceivingScenario, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, int]:
    """A purchase order of five lines and its receipt, which is undone in four steps."""
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 7)
    items = ("BRICK", "CEMENT", "BRICK", "DRILL", "BRICK")
    order = receiving_scenario.order(*({"item_code": item, "qty": 2} for item in items))
    number = receiving_scenario.started(order)
    goods: dict[str, dict[str, Any]] = {
        "BRICK": {}, "CEMENT": {"batch": "L1"}, "DRILL": {"serials": ["S-1", "S-2"]},
    }  # fmt: skip
    for item in items:
        receiving_scenario.receive(number, 2, item_code=item, **goods[item]).ok()
    return order, number


def test_long_receipt_is_undone_in_steps(
    receiving_scenario: ReceivingScenario,
    stack: Stack,
    aws_faults: AwsFaults,
    long_receipt: tuple[int, int],
) -> None:
    order, number = long_receipt
    before = len(stack.events())

    with aws_faults.recorded() as seen:
        answer = receiving_scenario.act(number, "cancel", key="c-1")

    assert (answer.status, answer.data["status"]) == (200, "cancelled")
    assert len(answer.data["lines"]) == 5
    assert seen.operations.count("TransactWriteItems") == 4
    assert receiving_scenario.stock() == []
    assert receiving_scenario.document(order)["status"] == "open"
    changed = [event["id"]["N"] for event in stack.events()[before:]]
    assert len(changed) == len(set(changed)), "bricks go in two steps, and raise one event"
    assert_invariants(stack.store())


def test_interrupted_undo_of_a_long_receipt_continues_when_repeated(
    receiving_scenario: ReceivingScenario,
    stack: Stack,
    aws_faults: AwsFaults,
    clock: Clock,
    long_receipt: tuple[int, int],
) -> None:
    order, number = long_receipt
    receiving_scenario.act(number, "finalize")
    as_it_was = stack.take_snapshot()
    for step in (1, 2, 3):
        with pytest.raises(Killed), aws_faults.faulty(kill_after_step(step)):
            receiving_scenario.act(number, "revert", key="r-1")

        assert_invariants(stack.store())
        halfway = receiving_scenario.shown(number)
        assert halfway["status"] == "finalized"
        received = sum(line[0] for line in receiving_scenario.progress(order))
        assert received == sum(row[2] for row in receiving_scenario.stock())
        assert received == sum(line["qty"] for line in halfway["lines"])
        clock.advance(61)
        again = receiving_scenario.act(number, "revert", key="r-1")
        assert (again.status, again.data["status"]) == (200, "reverted")
        assert len(again.data["lines"]) == 5
        assert receiving_scenario.stock() == []
        assert receiving_scenario.document(order)["status"] == "open"
        assert_invariants(stack.store())
        as_it_was()


def test_if_match_holds_for_a_long_receipt_undone_in_steps(
    receiving_scenario: ReceivingScenario, erp: Erp, long_receipt: tuple[int, int]
) -> None:
    path = f"/receipts/{long_receipt[1]}"
    tag = erp.get(path).headers["ETag"]

    erp.post(f"{path}/cancel", headers={"If-Match": tag}).ok()
    assert receiving_scenario.stock() == []
    again = erp.post(f"{path}/cancel", headers={"If-Match": tag})
    assert (again.status, again.code) == (409, "stale_state")


def test_reopened_document_has_the_present_code_of_its_product(
    receiving_scenario: ReceivingScenario,
) -> None:
    receiving, yard = receiving_scenario, receiving_scenario.yard
    order = receiving.order({"qty": 10}, {"qty": 5})
    first, second = receiving.started(order), receiving.started(order)
    receiving.receive(first, 10).ok()
    receiving.receive(second, 5).ok()
    for number in (first, second):
        receiving.act(number, "finalize").ok()
    yard.adjust(counted_qty=0).ok(201)
    receiving.erp.patch("/products/1", {"item_code": "BLOCK"}).ok()
    yard.stock("BLOCK", 10)

    receiving.act(first, "revert").ok()

    assert [line["item_code"] for line in receiving.document(order)["lines"]] == ["BLOCK"] * 2
    again = receiving.started(order)
    receiving.receive(again, 10, item_code="BLOCK").ok()
    assert receiving.document(order)["status"] == "completed"
