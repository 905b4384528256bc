"""Single lines of receipts that are undone: their goods leave the stock again."""

from typing import Any

import pytest

from tests.gateway import Erp
from tests.receiving_scenario import ReceivingScenario
from tests.stack import Stack
from tests.stock_invariants import assert_invariants

pytestmark = pytest.mark.usefixtures("consistent_stock")


def test_undone_goods_leave_the_stock_and_the_document_follows(
    receiving_scenario: ReceivingScenario, stack: Stack
) -> None:
    receiving = receiving_scenario
    order = receiving.order({"qty": 4}, {"qty": 6})
    number = receiving.started(order)
    receiving.receive(number, 3).ok()
    receiving.receive(number, 7).ok()
    assert receiving.document(order)["status"] == "completed"
    before = len(stack.events())

    shown = receiving.undo(number, 8).ok()

    assert (shown["status"], [line["qty"] for line in shown["lines"]]) == ("started", [2])
    assert receiving.stock() == [("BRICK", "A-01", 2)]
    assert receiving.document(order)["status"] == "partial-complete"
    assert receiving.progress(order) == [(2, 2, "partial"), (0, 6, "open")]
    assert [event["type"]["S"] for event in stack.events()[before:]] == ["stock.updated"]
    [moved] = receiving.erp.walk("/stock-movements", type="receipt_undone")
    assert (moved["qty"], moved["document"]) == (8, {"type": "receipt", "id": number})
    assert_invariants(stack.store())
    assert receiving.undo(number, 2).ok()["lines"] == []
    assert receiving.document(order)["status"] == "assigned"
    receiving.receive(number, 10).ok()
    assert receiving.act(number, "finalize").ok()["lines"][0]["qty"] == 10


def test_undo_of_a_part_empties_the_last_line_of_the_document_first(
    receiving_scenario: ReceivingScenario,
) -> None:
    order = receiving_scenario.order({"qty": 4}, {"qty": 6})
    number = receiving_scenario.started(order)
    receiving_scenario.receive(number, 10).ok()

    receiving_scenario.undo(number, 5).ok()

    assert receiving_scenario.progress(order) == [(4, 0, "complete"), (1, 5, "partial")]


def test_serials_are_taken_out_by_name(receiving_scenario: ReceivingScenario) -> None:
    receiving = receiving_scenario
    number = receiving.started(receiving.order({"item_code": "DRILL", "qty": 4}))
    drill: dict[str, Any] = {"item_code": "DRILL"}
    receiving.receive(number, 3, **drill, serials=["S-1", "S-2", "S-3"]).ok()
    receiving.receive(number, 1, **drill, serials=["S-4"]).ok()

    shown = receiving.undo(number, 3, **drill, serials=["S-4", "S-1", "S-3"]).ok()

    assert [(line["qty"], line["serials"]) for line in shown["lines"]] == [(1, ["S-2"])]
    rows = receiving.erp.walk("/stocks", status="in")
    assert [row["serial_number"] for row in rows] == ["S-2"]
    receiving.receive(number, 1, **drill, serials=["S-1"]).ok()
    assert receiving.act(number, "cancel").ok()["status"] == "cancelled"
    assert receiving.stock() == []


def test_only_goods_of_the_named_position_batch_and_status_are_undone(
    receiving_scenario: ReceivingScenario,
) -> None:
    receiving = receiving_scenario
    number = receiving.started(receiving.order({"qty": 9}, {"item_code": "CEMENT", "qty": 9}))
    cement: dict[str, Any] = {"item_code": "CEMENT"}
    places: list[dict[str, Any]] = [{}, {"bin_code": "B-01"}, {"inventory_status": "damaged"}]
    for place in places:
        receiving.receive(number, 2, **place).ok()
    for batch in ("L1", "L2"):
        receiving.receive(number, 2, **cement, batch=batch).ok()

    receiving.undo(number, 2, bin_code="B-01", expiry_date="2030-01-01", approve=True).ok()
    receiving.undo(number, 1, inventory_status="damaged").ok()
    receiving.undo(number, 1).ok()
    receiving.undo(number, 2, **cement, batch="L1").ok()

    shown = receiving.shown(number)["lines"]
    assert [(line["item_code"], line["batch_num"], line["qty"]) for line in shown] == [
        ("BRICK", None, 1), ("BRICK", None, 1), ("CEMENT", "L2", 2),
    ]  # fmt: skip
    rows = receiving.erp.walk("/stocks", status="in")
    assert sorted((row["item_code"], row["inventory_status"], row["qty"]) for row in rows) == [
        ("BRICK", "available", 1), ("BRICK", "damaged", 1), ("CEMENT", "available", 2),
    ]  # fmt: skip


def test_goods_are_undone_at_a_position_that_got_another_code(
    receiving_scenario: ReceivingScenario,
) -> None:
    receiving, erp = receiving_scenario, receiving_scenario.erp
    number = receiving.started(receiving.order({"qty": 4}))
    receiving.receive(number, 4, bin_code="B-01").ok()

    def move(from_bin: str, to_bin: str) -> None:
        line = {"item_code": "BRICK", "qty": 4, "from_bin": from_bin, "to_bin": to_bin}
        warehouses = {"from_warehouse": "YARD", "to_warehouse": "YARD"}
        erp.post("/transfers", {**warehouses, "lines": [line]}).ok(201)

    move("B-01", "A-01")
    erp.patch("/warehouse-positions/2", {"bin_code": "B-09"}).ok()
    move("A-01", "B-09")

    assert receiving.shown(number)["lines"][0]["bin_code"] == "B-01"
    assert receiving.undo(number, 4, bin_code="B-01").ok()["lines"] == []
    assert receiving.stock() == []


def test_goods_are_undone_by_gtin(receiving_scenario: ReceivingScenario) -> None:
    receiving = receiving_scenario
    gtins = {"gtins": [{"gtin": "14006381333938", "units": 2}]}
    receiving.erp.put("/products/1/packaging", gtins).ok()
    number = receiving.started(receiving.order({"qty": 6}))
    cases = {"gtin": "14006381333938", "qty": 2}
    receiving.act(number, "lines", body={**cases, "qty": 3}).ok()

    receiving.act(number, "lines/undo", body=cases).ok()

    assert receiving.stock() == [("BRICK", "A-01", 2)]
    assert receiving.act(number, "lines/undo", body=cases).invalid_fields == ["qty"]


def test_undo_of_what_was_not_received_is_refused_with_all_problems(
    receiving_scenario: ReceivingScenario, stack: Stack
) -> None:
    receiving = receiving_scenario
    cement: dict[str, Any] = {"item_code": "CEMENT"}
    drill: dict[str, Any] = {"item_code": "DRILL"}
    number = receiving.started(
        receiving.order({"qty": 9}, {**cement, "qty": 2}, {**drill, "qty": 2})
    )
    receiving.receive(number, 2).ok()
    early = receiving.undo(number, 1, **drill, serials=["S-1"])
    receiving.receive(number, 2, bin_code="B-01").ok()
    receiving.receive(number, 2, **cement, batch="L1").ok()
    receiving.receive(number, 1, **drill, serials=["S-1"]).ok()
    here = {"bin_code": "A-01"}
    cases: list[tuple[dict[str, Any], list[tuple[str, str]]]] = [
        ({}, [("bin_code", "is required: received at A-01, B-01")]),
        ({**here, "qty": 3}, [("qty", "3 to undo, 2 of BRICK received at A-01 as available")]),
        ({**here, "inventory_status": "damaged"},
         [("qty", "1 to undo, 0 of BRICK received at A-01 as damaged")]),
        ({"bin_code": "F-01"}, [("bin_code", "nothing of BRICK is received at F-01"),
                                ("qty", "1 to undo, 0 of BRICK received at F-01 as available")]),
        ({"item_code": "NONE"}, [("item_code", "NONE is not on the document PO-1")]),
        ({**here, "batch": "L1"}, [("batch", "product BRICK is not managed by batch")]),
        (cement, [("batch", "is required: product CEMENT is managed by batch")]),
        ({**cement, "batch": "L2"},
         [("qty", "1 to undo, 0 of CEMENT of batch L2 received as available")]),
        ({**here, "serials": ["S-1"], "qty": 4},
         [("serials", "product BRICK is not managed by serial"),
          ("qty", "4 to undo, 2 of BRICK received at A-01 as available")]),
        (drill, [("serials", "is required: product DRILL is managed by serial")]),
        ({**drill, "serials": ["S-2"]}, [("serials", "not received there: S-2")]),
        ({**drill, "serials": ["S-1", "S-2"], "qty": 2},
         [("qty", "2 to undo, 1 of DRILL received as available")]),
        ({"qty": 0, "serials": [""]},
         [("qty", "must be more than 0"), ("serials.0", "must not be empty")]),
    ]  # fmt: skip

    assert early.invalid_fields == ["qty"]
    for body, problems in cases:
        with stack.unchanged():
            answer = receiving.undo(number, **{"qty": 1, **body})
        assert answer.status == 422, body
        found = [(one["field"], one["message"]) for one in answer.json()["errors"]]
        assert found == problems, body


def test_undone_goods_must_be_there_and_free(
    receiving_scenario: ReceivingScenario, stack: Stack
) -> None:
    receiving, yard = receiving_scenario, receiving_scenario.yard
    number = receiving.started(receiving.order({"qty": 9}, {"item_code": "DRILL", "qty": 1}))
    receiving.receive(number, 5).ok()
    receiving.receive(number, 1, item_code="DRILL", serials=["S-1"]).ok()
    drill: dict[str, Any] = {"item_code": "DRILL", "serials": ["S-1"]}
    as_it_was = stack.take_snapshot()
    gone = "The received goods are no longer available: "
    cases: list[tuple[Any, float, dict[str, Any], str]] = [
        (lambda: _moved(receiving.erp), 5, {},
         (f"{gone}5 requested, 2 available of BRICK at A-01;"
         " in stock: 2 available at YARD A-01, 3 available at YARD B-01.")),
        (lambda: yard.picking(yard.order(("BRICK", 4))), 2, {},
         (f"{gone}2 requested, 1 available of BRICK at A-01;"
         " in stock: 5 available at YARD A-01 (4 allocated).")),
        (lambda: yard.adjust("DRILL", serial="S-1", to_status="quarantine"), 1, drill,
         ("Serial S-1 of DRILL is no longer at A-01 with the status available;"
         " in stock: 1 quarantine at YARD A-01.")),
        (lambda: yard.adjust("DRILL", serial="S-1", decrease=1), 1, drill,
         f"{gone}1 requested, 0 available of DRILL at A-01; in stock: nowhere."),
    ]  # fmt: skip
    for happens, qty, goods, message in cases:
        happens()
        with stack.unchanged():
            refused = receiving.undo(number, qty, **goods)
        assert (refused.status, refused.code) == (409, "conflict")
        assert refused.json()["message"] == message
        as_it_was()


def _moved(erp: Erp) -> None:
    line = {"item_code": "BRICK", "qty": 3, "from_bin": "A-01", "to_bin": "B-01"}
    ends = {"from_warehouse": "YARD", "to_warehouse": "YARD"}
    erp.post("/transfers", {**ends, "lines": [line]}).ok(201)


def test_undone_goods_give_back_the_tolerance(
    receiving_scenario: ReceivingScenario, stack: Stack
) -> None:
    receiving = receiving_scenario
    chief = Erp(stack.gateway, stack.user_token(permissions="entries.manage approvals.grant"))
    number = receiving.started(receiving.order({"qty": 10}))
    receiving.receive(number, 12, by=chief, approve=True).ok()

    shown = receiving.undo(number, 3).ok()

    assert [one["received_qty"] for one in shown["approvals"]] == [12]
    assert receiving.receive(number, 2).code == "approval_required"
    receiving.receive(number, 1).ok()
