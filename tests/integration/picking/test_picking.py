"""Pickings from allocation to dispatch, and back."""

from typing import Any

import pytest

from shared.kernel.errors import ServiceUnavailable
from tests.clock import Clock
from tests.faults import AwsFaults, Killed, kill_after_step
from tests.integration.call_faults import at_calls
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.warehouse_scenario import WarehouseScenario

pytestmark = pytest.mark.usefixtures("consistent_stock")


def test_sales_order_is_picked_and_dispatched(yard: WarehouseScenario, stack: Stack) -> None:
    yard.stock("BRICK", 10)
    order = yard.order(("BRICK", 4))

    picking = yard.picking(order)

    assert picking["status"] == "pending"
    assert picking["code"] == f"PKG-{picking['id']}"
    assert picking["document"]["external_ref"] == "SO-1"
    assert picking["lines"] == [
        {
            "product_id": 1,
            "item_code": "BRICK",
            "qty": 4,
            "picked_qty": 0,
            "bin_code": "A-01",
            "batch_num": None,
            "serials": [],
            "status": "open",
            "fills": [],
        }
    ]
    assert yard.level("BRICK") == (10, 4, 6)
    assert yard.document(order)["status"] == "assigned"
    number = picking["id"]
    yard.act(number, "start")
    yard.pick(number, "BRICK", 1)
    assert yard.document(order)["status"] == "partial-complete"
    assert yard.document(order)["lines"][0]["open_qty"] == 3
    shown = yard.pick(number, "BRICK", 3).data
    assert (shown["lines"][0]["picked_qty"], shown["lines"][0]["status"]) == (4, "picked")
    assert yard.level("BRICK") == (10, 4, 6)
    ended = yard.act(number, "finalize", comments="Done").data
    assert (ended["status"], ended["has_shortage"], ended["comments"]) == (
        "finalized", False, "Done",
    )  # fmt: skip
    assert None not in {ended["started_at"], ended["finalized_at"]}
    assert yard.document(order)["status"] == "completed"
    assert yard.act(number, "synchronize").data["status"] == "synchronized"
    assert_invariants(stack.store())

    left = yard.erp.post(f"/exit-documents/{order}/dispatch")

    assert (left.status, left.data["status"]) == (200, "closed")
    assert left.data["lines"][0]["picked_qty"] == 4
    assert yard.level("BRICK") == (6, 0, 6)
    kinds = [event["type"]["S"] for event in stack.events()]
    raised = [kind for kind in kinds if kind not in {"product.created", "stock.updated"}]
    assert raised == ["picking.created", "picking.completed", "shipment.dispatched"]
    assert_invariants(stack.store())
    again = yard.erp.post(f"/exit-documents/{order}/dispatch")
    assert (again.status, again.code) == (409, "stale_state")
    moved = yard.erp.walk("/stock-movements", sort="created_at")
    assert [one["type"] for one in moved] == ["adjustment", "pick", "pick", "dispatch"]


def test_allocation_order_is_expiry_then_pick_face_then_age(yard: WarehouseScenario) -> None:
    yard.stock("CEMENT", 5, "A-01", batch="LATE", expiry_date="2031-01-01")
    yard.stock("CEMENT", 5, "B-01", batch="SOON", expiry_date="2030-01-01")
    yard.stock("CEMENT", 5, "X-01", batch="FIRST", expiry_date="2029-01-01")
    yard.stock("BRICK", 5, "A-01")
    yard.stock("BRICK", 5, "B-01")
    yard.stock("BRICK", 5, "F-01")

    cement = yard.picking(yard.order(("CEMENT", 7)))
    brick = yard.picking(yard.order(("BRICK", 12)))

    def places(shown: dict[str, Any]) -> list[tuple[str, float]]:
        return [(line["bin_code"], line["qty"]) for line in shown["lines"]]

    assert places(cement) == [("B-01", 5), ("A-01", 2)]
    assert places(brick) == [("F-01", 5), ("A-01", 5), ("B-01", 2)]


def test_missing_stock_is_allocated_when_it_arrives(yard: WarehouseScenario, clock: Clock) -> None:
    def places(shown: dict[str, Any]) -> list[tuple[str | None, float]]:
        return [(line["bin_code"], line["qty"]) for line in shown["lines"]]

    yard.stock("BRICK", 3)
    number = yard.started(yard.order(("BRICK", 5)))
    before = yard.erp.get(f"/pickings/{number}").data
    assert places(before) == [("A-01", 3), (None, 2)]

    clock.advance(60)
    yard.stock("BRICK", 9, "B-01")
    allocated = yard.act(number, "allocate").data
    again = yard.act(number, "allocate").data

    assert places(allocated) == [("A-01", 3), ("B-01", 2)]
    assert before["updated_at"] < allocated["updated_at"] == again["updated_at"]
    assert yard.level("BRICK") == (12, 5, 7)


def test_shortage_needs_a_reason_and_releases_allocations(yard: WarehouseScenario) -> None:
    yard.stock("BRICK", 5)
    order = yard.order(("BRICK", 5))
    number = yard.started(order)
    yard.pick(number, "BRICK", 2)

    silent = yard.act(number, "finalize", comments="Short")
    wrong = yard.act(number, "finalize", shortage_reason="eaten")
    ended = yard.act(number, "finalize", shortage_reason="damaged")

    assert (silent.status, silent.json()["error"]["field"]) == (422, "shortage_reason")
    assert (wrong.status, wrong.json()["error"]["field"]) == (422, "shortage_reason")
    assert (ended.data["has_shortage"], ended.data["status"]) == (True, "finalized")
    assert [line["status"] for line in ended.data["lines"]] == ["picked", "short"]
    assert yard.level("BRICK") == (5, 2, 3)
    assert yard.document(order)["status"] == "partial-complete"
    rest = yard.picking(order)
    assert [line["qty"] for line in rest["lines"]] == [3]
    still = yard.erp.post(f"/exit-documents/{order}/dispatch")
    assert (still.status, still.code) == (409, "conflict")
    yard.act(rest["id"], "cancel")
    left = yard.erp.post(f"/exit-documents/{order}/dispatch").data
    assert [(line["picked_qty"], line["open_qty"], line["status"]) for line in left["lines"]] == [
        (2, 0, "closed")
    ]


def test_cancelled_picking_restores_the_stock(yard: WarehouseScenario, stack: Stack) -> None:
    yard.stock("BRICK", 5)
    yard.stock("DRILL", 1, serial="S-1")
    order = yard.order(("BRICK", 5), ("DRILL", 1))
    number = yard.started(order)
    yard.pick(number, "BRICK", 2)
    yard.pick(number, "DRILL", 1, serials=["S-1"])

    cancelled = yard.act(number, "cancel")

    assert cancelled.data["status"] == "cancelled"
    assert yard.level("BRICK") == (5, 0, 5)
    assert yard.document(order)["status"] == "open"
    rows = yard.erp.get("/stocks", query={"status": "in"}).data
    assert {(row["item_code"], row["qty"], row["inventory_status"]) for row in rows} == {
        ("BRICK", 5, "available"), ("DRILL", 1, "available"),
    }  # fmt: skip
    assert_invariants(stack.store())
    assert yard.picking(order)["status"] == "pending"


def test_finalized_picking_can_be_reverted_until_dispatch(yard: WarehouseScenario) -> None:
    yard.stock("BRICK", 5)
    order = yard.order(("BRICK", 2))
    number = yard.picked(order, qty=2)

    assert yard.act(number, "revert").data["status"] == "reverted"
    assert yard.level("BRICK") == (5, 0, 5)
    assert yard.document(order)["status"] == "open"
    again = yard.picked(order, qty=2)
    yard.erp.post(f"/exit-documents/{order}/dispatch")
    late = yard.act(again, "revert")
    assert (late.status, late.code) == (409, "conflict")
    assert "dispatched" in late.json()["message"]


def test_shared_picking_is_reverted_as_far_as_it_is_staged(
    yard: WarehouseScenario, stack: Stack
) -> None:
    yard.stock("BRICK", 9)
    first, second, third = (
        yard.order(("BRICK", 2)),
        yard.order(("BRICK", 3)),
        yard.order(("BRICK", 4)),
    )
    number = yard.picked(first, second, third, qty=8)
    yard.erp.post(f"/exit-documents/{third}/dispatch").ok()
    [closing] = {yard.erp.post(f"/exit-documents/{one}/close").code for one in (first, second)}

    reverted = yard.act(number, "revert").ok()

    assert closing == "conflict"
    assert (reverted["status"], reverted["has_shortage"]) == ("reverted", False)
    assert [(line["qty"], line["picked_qty"], line["status"]) for line in reverted["lines"]] == [
        (3, 3, "picked")
    ]
    assert yard.level("BRICK") == (6, 0, 6)
    assert [yard.document(one)["status"] for one in (first, second, third)] == [
        "open", "open", "closed",
    ]  # fmt: skip
    assert_invariants(stack.store())
    assert yard.act(number, "revert").code == "stale_state"
    assert yard.erp.post(f"/exit-documents/{first}/close").data["status"] == "closed"
    again = yard.picked(second, qty=3)
    assert yard.erp.post(f"/exit-documents/{second}/dispatch").status == 200
    late = yard.act(again, "revert")
    assert (late.status, late.code) == (409, "conflict")


def test_picking_with_an_interrupted_dispatch_is_not_reverted(
    yard: WarehouseScenario, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.stock("BRICK", 9)
    yard.stock("CEMENT", 9, batch="L1")
    first, second = yard.order(("BRICK", 2), ("CEMENT", 2)), yard.order(("BRICK", 3))
    number = yard.started(first, second)
    yard.pick(number, "BRICK", 5).ok()
    yard.pick(number, "CEMENT", 2, batch="L1").ok()
    yard.act(number, "finalize").ok()
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 8)
    with pytest.raises(Killed), aws_faults.faulty(kill_after_step(1)):
        yard.erp.post(f"/exit-documents/{first}/dispatch", key="d-1")

    refused = yard.act(number, "revert")

    assert (refused.status, refused.json()["message"]) == (
        409,
        (
            f"PKG-{number} cannot be undone:"
            f" the dispatch of EX-{first} is not finished; repeat it first."
        ),
    )
    yard.erp.post(f"/exit-documents/{first}/dispatch").ok()
    lines = yard.act(number, "revert").ok()["lines"]
    assert [(line["item_code"], line["picked_qty"]) for line in lines] == [
        ("BRICK", 2), ("CEMENT", 2),
    ]  # fmt: skip
    assert yard.document(second)["status"] == "open"


def test_a_reverted_picking_has_no_shortage(yard: WarehouseScenario) -> None:
    yard.stock("BRICK", 5)
    number = yard.started(yard.order(("BRICK", 5), ("CEMENT", 1)))
    yard.pick(number, "BRICK", 2)
    ended = yard.act(number, "finalize", shortage_reason="other").data

    reverted = yard.act(number, "revert").data

    assert [line["status"] for line in ended["lines"]] == ["picked", "short", "short"]
    assert [line["status"] for line in reverted["lines"]] == ["open", "open"]
    assert (ended["has_shortage"], reverted["has_shortage"]) == (True, False)
    assert yard.erp.get("/pickings", query={"has_shortage": "true"}).data == []


def test_document_with_staged_goods_is_not_closed(yard: WarehouseScenario) -> None:
    yard.stock("BRICK", 5)
    order = yard.order(("BRICK", 3))
    number = yard.picked(order, qty=2)

    refused = yard.erp.post(f"/exit-documents/{order}/close")
    assert (refused.status, refused.code) == (409, "conflict")
    assert refused.json()["message"] == (
        "Document SO-1 has 2 picked units that wait for its dispatch."
        f" Dispatch it, or revert its pickings: picking {number}."
    )
    assert yard.document(order)["status"] == "partial-complete"
    yard.act(number, "revert")
    assert yard.erp.post(f"/exit-documents/{order}/close").data["status"] == "closed"
    assert yard.level("BRICK") == (5, 0, 5)


def test_any_serial_at_the_position_may_be_picked(yard: WarehouseScenario) -> None:
    yard.stock_serials("S-1", "S-2", "S-3")
    number = yard.started(yard.order(("DRILL", 2)))

    shown = yard.pick(number, "DRILL", 2, serials=["S-3", "S-1"]).data

    assert [(line["picked_qty"], sorted(line["serials"])) for line in shown["lines"]] == [
        (2, ["S-1", "S-3"])
    ]
    [free] = yard.erp.get("/stocks", query={"serial": "S-2"}).data
    assert free["inventory_status"] == "available"
    assert yard.level("DRILL") == (3, 2, 1)


def test_serial_of_another_picking_is_exchanged(yard: WarehouseScenario, clock: Clock) -> None:
    yard.stock_serials("S-1", "S-2", "S-3", "S-4", "S-5")
    first = yard.started(yard.order(("DRILL", 2)))
    second = yard.started(yard.order(("DRILL", 2)))
    third = yard.picking(yard.order(("DRILL", 1)))["id"]
    serials = _serials(yard, first, second, third)
    clock.advance(1)

    shown = yard.pick(first, "DRILL", 2, serials=[serials[1][1], serials[2][0]]).ok()

    [line] = shown["lines"]
    assert (line["picked_qty"], sorted(line["serials"])) == (2, [serials[1][1], serials[2][0]])
    after = _serials(yard, first, second, third)
    assert sorted(after[1] + after[2]) == sorted([serials[1][0], *serials[0]])
    assert serials[1][0] in after[1]
    times = [yard.erp.get(f"/pickings/{one}").data["updated_at"] for one in (first, second, third)]
    assert len(set(times)) == 1, "the sync loop finds the others, too"
    assert yard.level("DRILL") == (5, 5, 0)
    yard.pick(second, "DRILL", 2, serials=after[1]).ok()
    yard.act(third, "start").ok()
    yard.pick(third, "DRILL", 1, serials=after[2]).ok()


def _serials(yard: WarehouseScenario, *numbers: int) -> list[list[str]]:
    """Return the serials that pickings have allocated or picked."""
    shown = [yard.erp.get(f"/pickings/{number}").data["lines"] for number in numbers]
    return [sorted(serial for line in lines for serial in line["serials"]) for lines in shown]


def test_serials_are_exchanged_with_one_picking(yard: WarehouseScenario) -> None:
    yard.stock_serials("S-1", "S-2", "S-3", "S-4")
    first = yard.started(yard.order(("DRILL", 2)))
    second = yard.started(yard.order(("DRILL", 1), ("DRILL", 1)))
    serials = _serials(yard, first, second)

    yard.pick(first, "DRILL", 2, serials=serials[1]).ok()

    assert _serials(yard, first, second) == [serials[1], serials[0]]
    yard.pick(second, "DRILL", 2, serials=serials[0]).ok()


def test_serial_that_another_order_names_is_not_picked(
    yard: WarehouseScenario, stack: Stack
) -> None:
    yard.stock_serials("S-1", "S-2", "S-3")
    yard.started(yard.order(("DRILL", 2), serials=["S-2", "S-3"]))
    number = yard.started(yard.order(("DRILL", 1)))

    with stack.unchanged():
        refused = yard.pick(number, "DRILL", 1, serials=["S-2"])

    assert (refused.status, refused.json()["errors"]) == (
        422,
        [
            {
                "field": "serials",
                "message": "serial S-2 cannot be picked: the order of PKG-1 names it",
            }
        ],
    )
    yard.stock("DRILL", 1, "B-01", serial="S-4")
    yard.started(yard.order(("DRILL", 1)))
    yard.change_settings(pick_substitution="position")
    with stack.unchanged():
        elsewhere = yard.pick(number, "DRILL", 1, "B-01", serials=["S-4"])
    assert (elsewhere.status, elsewhere.code) == (409, "conflict")


def test_serial_in_another_warehouse_is_not_picked(yard: WarehouseScenario, stack: Stack) -> None:
    yard.stock_serials("S-1")
    yard.adjust("DRILL", increase=1, serial="S-2", warehouse="SHOP").ok(201)
    number = yard.started(yard.order(("DRILL", 1)))

    for substitution in ("none", "any"):
        yard.change_settings(pick_substitution=substitution)
        with stack.unchanged():
            refused = yard.pick(number, "DRILL", 1, serials=["S-2"])
            assert refused.invalid_fields == ["serials"]
            message = "serial S-2 is not available at A-01: it is available at A-01 in SHOP"
            assert message in refused.text
    gone = yard.pick(number, "DRILL", 1, serials=["S-9"])
    assert "serial S-9 is not available at A-01: it is not in stock" in gone.text


def test_allocated_serial_is_not_picked_at_another_position_or_as_another_batch(
    yard: WarehouseScenario, stack: Stack
) -> None:
    pump = {"item_code": "PUMP", "name": "Pump", "man_btch_num": True, "man_ser_num": True}
    yard.erp.post("/products", pump).ok(201)
    yard.stock("PUMP", 1, batch="L1", serial="S-1")
    yard.stock_serials("S-1")
    number = yard.started(yard.order(("PUMP", 1), ("DRILL", 1)))
    yard.change_settings(pick_substitution="any")

    for item, place in (
        ("DRILL", {"bin_code": "B-01"}),
        ("PUMP", {"bin_code": "B-01", "batch": "L1"}),
        ("PUMP", {"batch": "L2"}),
    ):
        with stack.unchanged():
            refused = yard.pick(number, item, 1, serials=["S-1"], **place)
            assert refused.invalid_fields == ["serials"], item
    yard.pick(number, "PUMP", 1, batch="L1", serials=["S-1"]).ok()
    yard.pick(number, "DRILL", 1, serials=["S-1"]).ok()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"qty": 6}, "qty"),
        ({"bin_code": "B-01"}, "bin_code"),
        ({"bin_code": "NONE"}, "bin_code"),
        ({"batch": "L1"}, "batch"),
        ({"serials": ["S-1"]}, "serials"),
        ({"item_code": "CEMENT"}, "item_code"),
        ({"item_code": "NONE"}, "item_code"),
        ({"item_code": "DRILL"}, "serials"),
        ({"item_code": "DRILL", "serials": ["S-1", "S-1"]}, "serials"),
        ({"item_code": "DRILL", "serials": ["S-9"]}, "serials"),
    ],
)
def test_invalid_pick_is_refused_and_changes_nothing(
    yard: WarehouseScenario, stack: Stack, body: dict[str, object], field: str
) -> None:
    yard.stock("BRICK", 9)
    yard.stock("DRILL", 1, serial="S-1")
    number = yard.started(yard.order(("BRICK", 5), ("DRILL", 1)))
    with stack.unchanged():
        wanted = {"item_code": "BRICK", "qty": 1, "bin_code": "A-01"} | body
        answer = yard.act(number, "picks", **wanted)

    assert (answer.status, answer.json()["error"]["field"]) == (422, field), answer.text


@pytest.mark.parametrize(
    ("substitution", "place", "status"),
    [
        ("none", ("B-01", "L1"), 422),
        ("none", ("A-01", "L2"), 422),
        ("position", ("B-01", "L1"), 200),
        ("position", ("A-01", "L2"), 422),
        ("batch", ("A-01", "L2"), 200),
        ("batch", ("B-01", "L1"), 422),
        ("any", ("B-01", "L2"), 200),
        ("any", ("X-01", "L1"), 422),
    ],
)
def test_substitution_follows_the_setting(
    yard: WarehouseScenario, substitution: str, place: tuple[str, str], status: int
) -> None:
    bin_code, batch = place
    yard.change_settings(pick_substitution=substitution)
    yard.stock("CEMENT", 5, "A-01", batch="L1", expiry_date="2030-01-01")
    for shelf in ("A-01", "B-01", "X-01"):
        for one in ("L1", "L2"):
            if (shelf, one) != ("A-01", "L1"):
                date = "2030-01-01" if one == "L1" else "2031-01-01"
                yard.stock("CEMENT", 5, shelf, batch=one, expiry_date=date)
    number = yard.started(yard.order(("CEMENT", 3)))

    answer = yard.pick(number, "CEMENT", 2, bin_code, batch=batch)

    assert answer.status == status, answer.text
    if status == 200:
        assert [(line["bin_code"], line["picked_qty"]) for line in answer.data["lines"]] == [
            (bin_code, 2), ("A-01", 0),
        ]  # fmt: skip
        assert yard.level("CEMENT") == (30, 3, 27)


def test_pick_that_is_refused_for_its_batch_names_it(yard: WarehouseScenario) -> None:
    yard.change_settings(pick_substitution="any")
    yard.stock("CEMENT", 5, batch="L1")
    yard.stock("BRICK", 5)
    number = yard.started(yard.order(("CEMENT", 3), ("BRICK", 3)))

    refused = [
        yard.pick(number, "CEMENT", 1), yard.pick(number, "BRICK", 1, batch="L1"),
        yard.pick(number, "CEMENT", 1, batch="L2"), yard.pick(number, "CEMENT", 4),
    ]  # fmt: skip

    wanted = {"field": "batch", "message": "is required: product CEMENT is managed by batch"}
    assert [answer.json()["errors"] for answer in refused] == [
        [wanted],
        [{"field": "batch", "message": "product BRICK is not managed by batch"}],
        [{"field": "qty", "message": "1 picked, 0 of batch L2 in stock at A-01"}],
        [wanted, {"field": "qty", "message": "4 picked, 3 of CEMENT left to pick there"}],
    ]


def test_pick_of_more_than_allocated_and_free_goods_says_both_numbers(
    yard: WarehouseScenario,
) -> None:
    yard.change_settings(pick_substitution="position")
    yard.stock("BRICK", 5)
    yard.stock("BRICK", 5, "B-01")
    number = yard.started(yard.order(("BRICK", 10)))
    yard.stock("BRICK", 1)

    short = yard.pick(number, "BRICK", 8)
    yard.stock("BRICK", 3)
    yard.picking(yard.order(("BRICK", 3)))
    taken = yard.pick(number, "BRICK", 8)

    assert short.problems == {"qty": "8 picked, 6 in stock at A-01"}
    message = "8 of BRICK picked at A-01, 5 allocated to the picking and 1 free there; the rest is"
    assert (taken.status, taken.json()["message"]) == (409, f"{message} allocated to other work.")
    assert yard.pick(number, "BRICK", 6).status == 200


@pytest.mark.parametrize("change", ["disabled", "is_blocked", "is_pickable"])
def test_allocated_goods_are_picked_at_a_position_that_was_blocked_since(
    yard: WarehouseScenario, stack: Stack, change: str
) -> None:
    yard.change_settings(pick_substitution="position")
    yard.stock("BRICK", 5)
    yard.stock("BRICK", 5, "B-01")
    number = yard.started(yard.order(("BRICK", 4)))
    for position in (1, 2):
        yard.erp.patch(f"/warehouse-positions/{position}", {change: change != "is_pickable"})

    refused, picked = yard.pick(number, "BRICK", 2, "B-01"), yard.pick(number, "BRICK", 4)

    word = {"is_blocked": "blocked", "is_pickable": "not pickable"}.get(change, change)
    assert (refused.status, refused.json()["errors"]) == (
        422, [{"field": "bin_code", "message": f"position B-01 is {word}"}],
    )  # fmt: skip
    assert picked.status == 200, picked.text
    assert_invariants(stack.store())


@pytest.mark.parametrize(
    ("substitution", "status"), [("none", 422), ("position", 422), ("batch", 422), ("any", 200)]
)
def test_serials_that_the_order_names_are_binding(
    yard: WarehouseScenario, substitution: str, status: int
) -> None:
    yard.change_settings(pick_substitution=substitution)
    yard.stock_serials("S-1", "S-2", "S-3")
    number = yard.started(yard.order(("DRILL", 2), serials=["S-3", "S-2"]))
    [line] = yard.erp.get(f"/pickings/{number}").data["lines"]
    assert (line["qty"], line["serials"]) == (2, ["S-2", "S-3"])

    answer = yard.pick(number, "DRILL", 2, serials=["S-1", "S-2"])

    assert answer.status == status, answer.text
    if status == 422:
        message = "S-1 cannot be picked: the order names serials, and S-2, S-3 are left to pick"
        assert answer.json()["errors"] == [{"field": "serials", "message": message}]
        assert yard.pick(number, "DRILL", 2, serials=["S-2", "S-3"]).status == 200


def test_batch_that_the_order_names_is_binding(yard: WarehouseScenario) -> None:
    for batch in ("L1", "L2"):
        yard.stock("CEMENT", 5, batch=batch, expiry_date="2031-01-01")
        yard.stock("CEMENT", 5, "B-01", batch=batch, expiry_date="2031-01-01")
    number = yard.started(yard.order(("CEMENT", 3), batch="L2"))

    for substitution in ("none", "position", "batch"):
        yard.change_settings(pick_substitution=substitution)
        refused = yard.pick(number, "CEMENT", 1, batch="L1")
        assert (refused.status, refused.json()["error"]["field"]) == (422, "batch")
    yard.change_settings(pick_substitution="position")
    elsewhere = yard.pick(number, "CEMENT", 1, "B-01", batch="L1")
    assert (elsewhere.status, elsewhere.json()["error"]["field"]) == (422, "batch")
    assert yard.pick(number, "CEMENT", 1, "B-01", batch="L2").status == 200
    yard.change_settings(pick_substitution="any")
    assert yard.pick(number, "CEMENT", 1, batch="L1").status == 200


def test_lines_without_serials_take_those_that_no_line_names(yard: WarehouseScenario) -> None:
    yard.stock_serials("S-1", "S-2", "S-3")
    free = yard.order(("DRILL", 1))
    named = yard.order(("DRILL", 1), serials=["S-1"])
    number = yard.started(free, named)

    refused = yard.pick(number, "DRILL", 2, serials=["S-2", "S-3"])
    assert (refused.status, refused.json()["error"]["field"]) == (422, "serials")
    assert yard.pick(number, "DRILL", 2, serials=["S-1", "S-3"]).status == 200
    picked = {order: yard.document(order)["lines"][0]["picked_qty"] for order in (free, named)}
    assert picked == {free: 1, named: 1}


def test_serial_that_the_order_names_is_allocated_when_it_arrives(yard: WarehouseScenario) -> None:
    yard.stock("DRILL", 1, serial="S-1")
    number = yard.started(yard.order(("DRILL", 2), serials=["S-1", "S-2"]))
    yard.stock("DRILL", 1, serial="S-3")

    assert yard.level("DRILL") == (2, 1, 1)
    yard.stock("DRILL", 1, serial="S-2")
    lines = yard.act(number, "allocate").data["lines"]
    assert [line["serials"] for line in lines] == [["S-1", "S-2"]]


def test_line_of_many_serials_is_allocated_completely(yard: WarehouseScenario) -> None:
    for number in range(34):
        yard.stock("DRILL", 1, serial=f"S-{number:02d}")

    picking = yard.picking(yard.order(("DRILL", 33)))

    assert [(line["qty"], len(line["serials"])) for line in picking["lines"]] == [(33, 33)]
    assert yard.level("DRILL") == (34, 33, 1)


def test_document_without_priority_counts_as_normal_in_a_picking(yard: WarehouseScenario) -> None:
    def order(priority: str | None) -> int:
        return yard.order(("BRICK", 1), head={"priority": priority})

    assert yard.picking(order(None), order("Baja"))["priority"] == 2
    assert yard.picking(order(None), order("Alta"))["priority"] == 1
    assert yard.picking(order(None), order(None))["priority"] is None


def test_picking_of_one_document_takes_its_carrier(yard: WarehouseScenario) -> None:
    def order() -> int:
        return yard.order(("BRICK", 1), head={"carrier_code": "DHL"})

    assert yard.picking(order())["carrier_code"] == "DHL"
    assert yard.picking(order(), carrier_code=None)["carrier_code"] == "DHL"
    assert yard.picking(order(), carrier_code="UPS")["carrier_code"] == "UPS"
    assert yard.picking(order(), order())["carrier_code"] is None


# Repeated requests


def test_key_that_has_expired_creates_another_picking(
    yard: WarehouseScenario, clock: Clock
) -> None:
    first, second = yard.order(("BRICK", 1)), yard.order(("BRICK", 1))
    made = yard.erp.post("/pickings", {"document_id": first}, key="k")
    clock.advance(25 * 3600)

    other = yard.erp.post("/pickings", {"document_id": second}, key="k").ok(201)
    assert other["uuid"] != made.data["uuid"]
    clock.advance(25 * 3600)
    body = {"document_id": first, "comments": "Again"}
    assert yard.erp.post("/pickings", body, key="k").code == "conflict"


def test_picking_that_ends_with_503_is_continued_by_its_repeat(
    yard: WarehouseScenario, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 1)
    yard.stock("BRICK", 5)
    yard.stock("DRILL", 1, serial="S-1")
    body = {"document_id": yard.order(("BRICK", 2), ("DRILL", 1))}

    def fail() -> None:
        raise ServiceUnavailable

    with aws_faults.faulty(at_calls("TransactWriteItems", range(1, 100), before=fail)):
        assert yard.erp.post("/pickings", body, key="k").status == 503
    again = yard.erp.post("/pickings", body, key="k").ok(201)
    assert [line["bin_code"] for line in again["lines"]] == ["A-01", "A-01"]
    assert len(yard.erp.walk("/pickings")) == 1
