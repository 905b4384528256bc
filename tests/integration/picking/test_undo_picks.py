"""Single picks that are undone: their goods are allocated where they were picked."""

from typing import Any

import pytest

from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.warehouse_scenario import WarehouseScenario

pytestmark = pytest.mark.usefixtures("consistent_stock")


def _lines(shown: dict[str, Any]) -> list[tuple[str | None, float, float, str]]:
    return [
        (line["bin_code"], line["qty"], line["picked_qty"], line["status"])
        for line in shown["lines"]
    ]


def test_undone_pick_is_allocated_to_the_picking_again(
    yard: WarehouseScenario, stack: Stack
) -> None:
    yard.stock("BRICK", 10)
    order = yard.order(("BRICK", 4))
    number = yard.started(order)
    yard.pick(number, "BRICK", 4).ok()
    assert yard.document(order)["status"] == "completed"
    before = len(stack.events())

    part = yard.undo(number, "BRICK", 3)

    assert (part.status, part.data["status"]) == (200, "started")
    assert _lines(part.data) == [("A-01", 4, 1, "partial")]
    assert yard.level("BRICK") == (10, 4, 6)
    document = yard.document(order)
    assert (document["status"], document["lines"][0]["open_qty"]) == ("partial-complete", 3)
    whole = yard.undo(number, "BRICK", 1).ok()
    assert _lines(whole) == [("A-01", 4, 0, "open")]
    assert yard.document(order)["status"] == "assigned"
    assert len(stack.events()) == before, "levels are as they were"
    moved = yard.erp.walk("/stock-movements", type="pick_undone", sort="created_at")
    assert [(one["qty"], one["document"]["id"]) for one in moved] == [(3, number), (1, number)]
    assert yard.pick(number, "BRICK", 4).status == 200
    assert yard.act(number, "finalize").data["has_shortage"] is False


def test_last_line_is_undone_first(yard: WarehouseScenario) -> None:
    yard.stock("BRICK", 10)
    first, second = yard.order(("BRICK", 2)), yard.order(("BRICK", 3))
    number = yard.started(first, second)
    yard.pick(number, "BRICK", 5).ok()

    yard.undo(number, "BRICK", 4).ok()

    picked = [yard.document(order)["lines"][0]["picked_qty"] for order in (first, second)]
    assert picked == [1, 0]


def test_serials_are_undone_by_name(yard: WarehouseScenario) -> None:
    yard.stock_serials("S-1", "S-2", "S-3")
    number = yard.started(yard.order(("DRILL", 3)))
    yard.pick(number, "DRILL", 3, serials=["S-1", "S-2", "S-3"]).ok()

    shown = yard.undo(number, "DRILL", 2, serials=["S-1", "S-3"]).ok()

    assert _lines(shown) == [("A-01", 3, 1, "partial")]
    rows = yard.erp.get("/stocks", query={"status": "in", "item_code": "DRILL"}).data
    assert {row["serial_number"]: row["inventory_status"] for row in rows} == {
        "S-1": "available", "S-2": "staged", "S-3": "available",
    }  # fmt: skip
    assert yard.level("DRILL") == (3, 3, 0)
    assert yard.pick(number, "DRILL", 2, serials=["S-3", "S-1"]).status == 200


def test_substituted_goods_return_where_they_were_picked(yard: WarehouseScenario) -> None:
    yard.change_settings(pick_substitution="position")
    yard.stock("BRICK", 5)
    yard.stock("BRICK", 5, "B-01")
    number = yard.started(yard.order(("BRICK", 4)))
    yard.pick(number, "BRICK", 3, "B-01").ok()
    for change in ({"is_blocked": True}, {"is_pickable": False}):
        yard.erp.patch("/warehouse-positions/2", change).ok()

    shown = yard.undo(number, "BRICK", 3, "B-01").ok()

    assert sorted(_lines(shown)) == [("A-01", 1, 0, "open"), ("B-01", 3, 0, "open")]
    assert yard.level("BRICK") == (10, 4, 6)


def test_pick_by_gtin_is_undone_by_gtin(yard: WarehouseScenario) -> None:
    gtins = {"gtins": [{"gtin": "14006381333938", "units": 2}]}
    yard.erp.put("/products/1/packaging", gtins).ok()
    yard.stock("BRICK", 10)
    number = yard.started(yard.order(("BRICK", 6)))
    goods = {"gtin": "14006381333938", "qty": 2, "bin_code": "A-01"}
    yard.act(number, "picks", **goods).ok()

    refused = yard.act(number, "picks/undo", **{**goods, "qty": 3})
    shown = yard.act(number, "picks/undo", **goods).ok()

    assert refused.invalid_fields == ["qty"]
    assert _lines(shown) == [("A-01", 6, 0, "open")]


def test_undo_of_what_is_not_picked_there_is_refused_with_all_problems(
    yard: WarehouseScenario, stack: Stack
) -> None:
    yard.stock("BRICK", 9)
    yard.stock("BRICK", 9, "B-01")
    yard.stock("CEMENT", 9, batch="L1")
    yard.stock_serials("S-1", "S-2")
    number = yard.started(yard.order(("BRICK", 5), ("CEMENT", 2), ("DRILL", 2)))
    cases: list[tuple[dict[str, Any], list[tuple[str, str]]]] = [
        ({"qty": 1, "item_code": "CEMENT", "batch": "L1"},
         [("bin_code", "nothing of CEMENT is picked at A-01"),
          ("qty", "1 to undo, 0 of CEMENT of batch L1 picked at A-01")]),
    ]  # fmt: skip
    _refused(yard, stack, number, cases)
    yard.pick(number, "BRICK", 2).ok()
    yard.pick(number, "CEMENT", 2, batch="L1").ok()
    yard.pick(number, "DRILL", 1, serials=["S-1"]).ok()
    cement, drill = {"item_code": "CEMENT"}, {"item_code": "DRILL"}
    cases = [
        ({"qty": 3}, [("qty", "3 to undo, 2 of BRICK picked at A-01")]),
        ({"bin_code": "B-01"}, [("bin_code", "nothing of BRICK is picked at B-01"),
                                ("qty", "1 to undo, 0 of BRICK picked at B-01")]),
        ({"item_code": "NONE"}, [("item_code", f"NONE is not on PKG-{number}")]),
        ({"batch": "L1"}, [("batch", "product BRICK is not managed by batch")]),
        (cement, [("batch", "is required: product CEMENT is managed by batch")]),
        ({**cement, "batch": "L2"}, [("qty", "1 to undo, 0 of CEMENT of batch L2 picked at A-01")]),
        ({"serials": ["S-1"], "qty": 4},
         [("serials", "product BRICK is not managed by serial"),
          ("qty", "4 to undo, 2 of BRICK picked at A-01")]),
        (drill, [("serials", "is required: product DRILL is managed by serial")]),
        ({**drill, "serials": ["S-2"]}, [("serials", "not picked at A-01: S-2")]),
        ({**drill, "qty": 2, "serials": ["S-1", "S-2"]},
         [("qty", "2 to undo, 1 of DRILL picked at A-01")]),
        ({"qty": 0, "serials": [""]},
         [("qty", "must be more than 0"), ("serials.0", "must not be empty")]),
    ]  # fmt: skip
    _refused(yard, stack, number, cases)


def _refused(
    yard: WarehouseScenario,
    stack: Stack,
    number: int,
    cases: list[tuple[dict[str, Any], list[tuple[str, str]]]],
) -> None:
    for body, problems in cases:
        with stack.unchanged():
            answer = yard.undo(number, **{"item_code": "BRICK", "qty": 1, **body})
        assert answer.status == 422, body
        found = [(one["field"], one["message"]) for one in answer.json()["errors"]]
        assert found == problems, body


def test_undo_of_many_lines_takes_a_smaller_quantity(yard: WarehouseScenario, stack: Stack) -> None:
    yard.stock("BRICK", 100)
    number = yard.started(yard.order(*[("BRICK", 2)] * 26))
    for qty in (50, 2):
        yard.pick(number, "BRICK", qty).ok()

    refused = yard.undo(number, "BRICK", 51)
    yard.undo(number, "BRICK", 50).ok()

    assert refused.json()["errors"] == [
        {
            "field": "qty",
            "message": "undoes 26 picks, at most 25 per request; undo a smaller quantity",
        }
    ]
    assert_invariants(stack.store())
