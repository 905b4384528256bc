"""From the first promise of stock to the truck, and back again."""

from typing import Any

import pytest

from tests.floor import Floor
from tests.stack import Stack
from tests.stock_proof import prove


def test_an_order_is_picked_and_dispatched(floor: Floor, stack: Stack) -> None:
    floor.stock("BRICK", 10)
    order = floor.order(("BRICK", 4))

    picking = floor.picking(order)

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
        }
    ]
    assert floor.level("BRICK") == (10, 4, 6)
    assert floor.document(order)["status"] == "assigned"
    number = picking["id"]
    floor.act(number, "start")
    floor.pick(number, "BRICK", 1)
    assert floor.document(order)["status"] == "partial-complete"
    assert floor.document(order)["lines"][0]["open_qty"] == 3
    shown = floor.pick(number, "BRICK", 3).data
    assert (shown["lines"][0]["picked_qty"], shown["lines"][0]["status"]) == (4, "picked")
    assert floor.level("BRICK") == (10, 4, 6)
    ended = floor.act(number, "finalize", comments="Done").data
    assert (ended["status"], ended["has_shortage"], ended["comments"]) == (
        "finalized", False, "Done",
    )  # fmt: skip
    assert None not in {ended["started_at"], ended["finalized_at"]}
    assert floor.document(order)["status"] == "completed"
    assert floor.act(number, "synchronize").data["status"] == "synchronized"
    prove(stack.store())

    left = floor.erp.post(f"/exit-documents/{order}/dispatch")

    assert (left.status, left.data["status"]) == (200, "closed")
    assert left.data["lines"][0]["picked_qty"] == 4
    assert floor.level("BRICK") == (6, 0, 6)
    kinds = [event["type"]["S"] for event in stack.events()]
    told = [kind for kind in kinds if kind not in {"product.created", "stock.updated"}]
    assert told == ["picking.created", "picking.completed", "shipment.dispatched"]
    prove(stack.store())
    again = floor.erp.post(f"/exit-documents/{order}/dispatch")
    assert (again.status, again.code) == (409, "conflict")
    moved = floor.erp.walk("/stock-movements", sort="created_at")
    assert [one["type"] for one in moved] == ["adjustment", "pick", "pick", "dispatch"]


def test_first_expired_then_pick_faces_then_first_received(floor: Floor) -> None:
    floor.stock("CEMENT", 5, "A-01", batch="LATE", expiry_date="2031-01-01")
    floor.stock("CEMENT", 5, "B-01", batch="SOON", expiry_date="2030-01-01")
    floor.stock("CEMENT", 5, "X-01", batch="FIRST", expiry_date="2029-01-01")
    floor.stock("BRICK", 5, "A-01")
    floor.stock("BRICK", 5, "B-01")
    floor.stock("BRICK", 5, "F-01")

    cement = floor.picking(floor.order(("CEMENT", 7)))
    brick = floor.picking(floor.order(("BRICK", 12)))

    def places(shown: dict[str, Any]) -> list[tuple[str, float]]:
        return [(line["bin_code"], line["qty"]) for line in shown["lines"]]

    assert places(cement) == [("B-01", 5), ("A-01", 2)]
    assert places(brick) == [("F-01", 5), ("A-01", 5), ("B-01", 2)]


def test_what_is_not_there_stays_open_until_it_comes(floor: Floor, stack: Stack) -> None:
    floor.stock("BRICK", 3)
    number = floor.started(floor.order(("BRICK", 5)))
    lines = floor.erp.get(f"/pickings/{number}").data["lines"]
    assert [(line["bin_code"], line["qty"]) for line in lines] == [("A-01", 3), (None, 2)]

    floor.stock("BRICK", 9, "B-01")
    lines = floor.act(number, "allocate").data["lines"]

    assert [(line["bin_code"], line["qty"]) for line in lines] == [("A-01", 3), ("B-01", 2)]
    assert floor.level("BRICK") == (12, 5, 7)
    prove(stack.store())


def test_a_shortage_needs_its_reason_and_frees_what_was_promised(
    floor: Floor, stack: Stack
) -> None:
    floor.stock("BRICK", 5)
    order = floor.order(("BRICK", 5))
    number = floor.started(order)
    floor.pick(number, "BRICK", 2)

    silent = floor.act(number, "finalize", comments="Short")
    wrong = floor.act(number, "finalize", shortage_reason="eaten")
    ended = floor.act(number, "finalize", shortage_reason="damaged")

    assert (silent.status, silent.json()["error"]["field"]) == (422, "shortage_reason")
    assert (wrong.status, wrong.json()["error"]["field"]) == (422, "shortage_reason")
    assert (ended.data["has_shortage"], ended.data["status"]) == (True, "finalized")
    assert [line["status"] for line in ended.data["lines"]] == ["picked", "short"]
    assert floor.level("BRICK") == (5, 2, 3)
    assert floor.document(order)["status"] == "partial-complete"
    rest = floor.picking(order)
    assert [line["qty"] for line in rest["lines"]] == [3]
    still = floor.erp.post(f"/exit-documents/{order}/dispatch")
    assert (still.status, still.code) == (409, "conflict")
    floor.act(rest["id"], "cancel")
    left = floor.erp.post(f"/exit-documents/{order}/dispatch").data
    assert [(line["picked_qty"], line["open_qty"], line["status"]) for line in left["lines"]] == [
        (2, 0, "closed")
    ]
    prove(stack.store())


def test_a_cancelled_picking_leaves_everything_as_it_was(floor: Floor, stack: Stack) -> None:
    floor.stock("BRICK", 5)
    floor.stock("DRILL", 1, serial="S-1")
    order = floor.order(("BRICK", 5), ("DRILL", 1))
    number = floor.started(order)
    floor.pick(number, "BRICK", 2)
    floor.pick(number, "DRILL", 1, serials=["S-1"])

    cancelled = floor.act(number, "cancel")

    assert cancelled.data["status"] == "cancelled"
    assert floor.level("BRICK") == (5, 0, 5)
    assert floor.document(order)["status"] == "open"
    rows = floor.erp.get("/stocks", query={"status": "in"}).data
    assert {(row["item_code"], row["qty"], row["inventory_status"]) for row in rows} == {
        ("BRICK", 5, "available"), ("DRILL", 1, "available"),
    }  # fmt: skip
    prove(stack.store())
    assert floor.picking(order)["status"] == "pending"


def test_a_finished_picking_is_reverted_until_it_is_dispatched(floor: Floor, stack: Stack) -> None:
    floor.stock("BRICK", 5)
    order = floor.order(("BRICK", 2))
    number = floor.started(order)
    floor.pick(number, "BRICK", 2)
    floor.act(number, "finalize")

    assert floor.act(number, "revert").data["status"] == "reverted"
    assert floor.level("BRICK") == (5, 0, 5)
    assert floor.document(order)["status"] == "open"
    again = floor.started(order)
    floor.pick(again, "BRICK", 2)
    floor.act(again, "finalize")
    floor.erp.post(f"/exit-documents/{order}/dispatch")
    late = floor.act(again, "revert")
    assert (late.status, late.code) == (409, "conflict")
    assert "dispatched" in late.json()["message"]
    prove(stack.store())


def test_any_serial_of_the_shelf_may_be_taken(floor: Floor, stack: Stack) -> None:
    for serial in ("S-1", "S-2", "S-3"):
        floor.stock("DRILL", 1, serial=serial)
    number = floor.started(floor.order(("DRILL", 2)))

    shown = floor.pick(number, "DRILL", 2, serials=["S-3", "S-1"]).data

    assert [(line["picked_qty"], sorted(line["serials"])) for line in shown["lines"]] == [
        (2, ["S-1", "S-3"])
    ]
    [free] = floor.erp.get("/stocks", query={"serial": "S-2"}).data
    assert free["inventory_status"] == "available"
    assert floor.level("DRILL") == (3, 2, 1)
    prove(stack.store())


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"qty": 6}, "qty"),
        ({"qty": 0}, "qty"),
        ({"qty": -1}, "qty"),
        ({"qty": 1e30}, "qty"),
        ({"qty": 0.0000001}, "qty"),
        ({"qty": "1"}, "qty"),
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
def test_a_wrong_pick_is_named_and_changes_nothing(
    floor: Floor, stack: Stack, body: dict[str, object], field: str
) -> None:
    floor.stock("BRICK", 9)
    floor.stock("DRILL", 1, serial="S-1")
    number = floor.started(floor.order(("BRICK", 5), ("DRILL", 1)))
    before = [item for item in stack.items() if not item["PK"]["S"].startswith("sequence")]

    wanted = {"item_code": "BRICK", "qty": 1, "bin_code": "A-01"} | body
    answer = floor.act(number, "picks", **wanted)

    assert (answer.status, answer.json()["error"]["field"]) == (422, field), answer.text
    after = [item for item in stack.items() if not item["PK"]["S"].startswith("sequence")]
    assert after == before


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
def test_what_may_be_picked_instead_is_a_setting(
    floor: Floor, stack: Stack, substitution: str, place: tuple[str, str], status: int
) -> None:
    bin_code, batch = place
    floor.settle(pick_substitution=substitution)
    floor.stock("CEMENT", 5, "A-01", batch="L1", expiry_date="2030-01-01")
    for shelf in ("A-01", "B-01", "X-01"):
        for one in ("L1", "L2"):
            if (shelf, one) != ("A-01", "L1"):
                floor.stock("CEMENT", 5, shelf, batch=one, expiry_date="2031-01-01")
    number = floor.started(floor.order(("CEMENT", 3)))

    answer = floor.pick(number, "CEMENT", 2, bin_code, batch=batch)

    assert answer.status == status, answer.text
    if status == 200:
        assert [(line["bin_code"], line["picked_qty"]) for line in answer.data["lines"]] == [
            (bin_code, 2), ("A-01", 0),
        ]  # fmt: skip
        assert floor.level("CEMENT") == (30, 3, 27)
    prove(stack.store())


def test_acts_that_the_state_does_not_allow_say_so(floor: Floor, stack: Stack) -> None:
    floor.stock("BRICK", 9)
    order = floor.order(("BRICK", 1))
    number: int = floor.picking(order)["id"]

    for what in ("finalize", "revert", "synchronize"):
        early = floor.act(number, what)
        assert (early.status, early.code) == (409, "conflict")
        assert "pending" in early.json()["message"]
    assert floor.pick(number, "BRICK", 1).code == "conflict"
    twice = floor.erp.post("/pickings", {"document_id": order})
    assert (twice.status, twice.code) == (409, "conflict")
    assert f"PKG-{number}" in twice.json()["message"]
    closing = floor.erp.post(f"/exit-documents/{order}/close")
    assert (closing.status, closing.code) == (409, "conflict")
    floor.act(number, "cancel")
    for what in ("start", "cancel", "allocate", "revert", "finalize"):
        assert floor.act(number, what).code == "conflict"
    prove(stack.store())


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "document_id"),
        ({"document_id": 1, "document_ids": [1]}, "document_id"),
        ({"document_id": 99}, "document_id"),
        ({"document_ids": [1, 99]}, "document_ids.1"),
        ({"document_ids": []}, "document_ids"),
        ({"document_id": "1"}, "document_id"),
        ({"document_id": 1, "priority": -1}, "priority"),
        ({"document_id": 1, "allocate": "yes"}, "allocate"),
        ({"document_id": 1, "operator_id": 0}, "operator_id"),
    ],
)
def test_a_wrong_field_of_a_new_picking_is_named(
    floor: Floor, body: dict[str, object], field: str
) -> None:
    floor.order(("BRICK", 1))
    answer = floor.erp.post("/pickings", body)
    assert (answer.status, answer.json()["error"]["field"]) == (422, field)


def test_a_line_of_many_serials_is_promised_whole(floor: Floor, stack: Stack) -> None:
    for number in range(34):
        floor.stock("DRILL", 1, serial=f"S-{number:02d}")

    picking = floor.picking(floor.order(("DRILL", 33)))

    assert [(line["qty"], len(line["serials"])) for line in picking["lines"]] == [(33, 33)]
    assert floor.level("DRILL") == (34, 33, 1)
    prove(stack.store())


def test_a_large_picking_is_promised_in_steps(floor: Floor, stack: Stack) -> None:
    codes = [f"P-{number:02d}" for number in range(23)]
    for code in codes:
        assert floor.erp.post("/products", {"item_code": code, "name": code}).status == 201
        floor.stock(code, 3)
    order = floor.order(*((code, 2) for code in codes))

    picking = floor.picking(order)

    assert [line["bin_code"] for line in picking["lines"]] == ["A-01"] * 23
    number = picking["id"]
    floor.act(number, "start")
    for code in codes:
        assert floor.pick(number, code, 2).status == 200
    assert floor.act(number, "finalize").status == 200
    assert floor.erp.post(f"/exit-documents/{order}/dispatch").status == 200
    prove(stack.store())
    levels = floor.erp.walk("/stock-levels")
    assert [(level["on_hand"], level["allocated"]) for level in levels] == [(1, 0)] * 23


@pytest.mark.parametrize("how", ["cancel", "revert"])
def test_a_picking_of_many_orders_and_products_is_taken_back(
    floor: Floor, stack: Stack, how: str
) -> None:
    codes = [f"P-{number:02d}" for number in range(20)]
    for code in codes:
        assert floor.erp.post("/products", {"item_code": code, "name": code}).status == 201
        floor.stock(code, 3)
    orders = [floor.order((code, 2)) for code in codes]
    number = floor.started(*orders)
    for code in codes:
        assert floor.pick(number, code, 2).status == 200
    if how == "revert":
        assert floor.act(number, "finalize").status == 200

    assert floor.act(number, how).status == 200

    levels = floor.erp.walk("/stock-levels")
    assert [(level["on_hand"], level["allocated"]) for level in levels] == [(3, 0)] * 20
    assert {floor.document(order)["status"] for order in orders} == {"open"}
    prove(stack.store())
