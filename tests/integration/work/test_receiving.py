"""Goods arrive, and are in stock at once."""

from decimal import Decimal
from typing import Any

from tests.dock import Dock
from tests.gateway import Erp
from tests.stack import Stack
from tests.stock_proof import prove

WHOLE = ({"qty": 10}, {"item_code": "CEMENT", "qty": 5}, {"item_code": "DRILL", "qty": 2})


def told(stack: Stack) -> list[str]:
    """The events of work, in the order in which they were raised."""
    kinds = [str(event["type"]["S"]) for event in stack.events()]
    return [kind for kind in kinds if kind.startswith("receipt.")]


def test_an_order_is_received_and_the_erp_told(dock: Dock, stack: Stack) -> None:
    order = dock.order(*WHOLE)

    made = dock.erp.post(
        "/receipts",
        {"document_id": order, "operator_id": 7, "concept": "Truck 3", "comments": "One\ntwo"},
    )

    assert made.status == 201
    assert made.headers["Location"].endswith(f"/receipts/{made.data['id']}")
    number = made.data["id"]
    assert made.data == {
        "id": number,
        "uuid": made.data["uuid"],
        "concept": "Truck 3",
        "status": "pending",
        "comments": "One\ntwo",
        "user_id": None,
        "operator": {"id": 7, "name": None},
        "document": {
            "id": order,
            "type": "purchase_order",
            "doc_num": f"EN-{order}",
            "card_code": "P-1",
            "external_ref": "PO-1",
        },
        "started_at": None,
        "finalized_at": None,
        "created_at": made.data["created_at"],
        "updated_at": made.data["created_at"],
        "lines": [],
    }
    assert dock.document(order)["status"] == "assigned"

    started = dock.act(number, "start").data
    assert (started["status"], started["started_at"]) == ("started", started["updated_at"])
    dock.receive(number, 4)
    assert dock.document(order)["status"] == "partial-complete"
    assert dock.progress(order)[0] == (4, 6, "partial")
    dock.receive(number, 6, bin_code="B-01")
    dock.receive(number, 5, item_code="CEMENT", batch="L1", expiry_date="31/12/2030")
    answer = dock.receive(number, 2, item_code="DRILL", serials=["S-1", "S-2"])
    assert answer.status == 200, answer.text
    assert dock.progress(order) == [(10, 0, "complete"), (5, 0, "complete"), (2, 0, "complete")]
    assert dock.document(order)["status"] == "completed"
    assert dock.stock() == [
        ("BRICK", "A-01", 4), ("BRICK", "B-01", 6), ("CEMENT", "A-01", 5),
        ("DRILL", "A-01", 1), ("DRILL", "A-01", 1),
    ]  # fmt: skip

    ended = dock.act(number, "finalize").data
    assert (ended["status"], ended["finalized_at"]) == ("finalized", ended["updated_at"])
    assert dock.act(number, "synchronize").data["status"] == "synchronized"
    shown = dock.shown(number)
    assert [tuple(line.values()) for line in shown["lines"]] == [
        (1, "BRICK", 4, None, []),
        (1, "BRICK", 6, None, []),
        (2, "CEMENT", 5, "L1", []),
        (3, "DRILL", 2, None, ["S-1", "S-2"]),
    ]
    assert told(stack) == ["receipt.created", "receipt.completed"]
    prove(stack.store())


def test_each_line_raises_rows_levels_movements_and_events(dock: Dock, stack: Stack) -> None:
    number = dock.started(dock.order({"item_code": "CEMENT", "qty": 8}))
    before = len(stack.events())

    dock.receive(
        number, 3, item_code="CEMENT", batch="L1", expiry_date="2030-12-31",
        inventory_status="quarantine", bin_code="B-01",
    )  # fmt: skip
    dock.receive(number, 5, item_code="CEMENT", batch="L1", expiry_date="2030-12-31")

    [checked, free] = dock.erp.get("/stocks", query={"item_code": "CEMENT"}).data
    assert (checked["qty"], checked["inventory_status"]) == (3, "quarantine")
    assert (free["qty"], free["inventory_status"]) == (5, "available")
    assert free["batch_num"] == checked["batch_num"] == "L1"
    assert free["expiry_date"] == checked["expiry_date"] == "2030-12-31"
    [level] = dock.erp.get("/stock-levels").data
    assert (level["on_hand"], level["available"], level["quarantine"]) == (8, 5, 3)
    newest, first = dock.erp.get("/stock-movements").data
    assert first == {
        "id": first["id"],
        "type": "receipt",
        "product_id": 2,
        "item_code": "CEMENT",
        "qty": 3,
        "from": None,
        "to": {"whs_code": "YARD", "bin_code": "B-01", "inventory_status": "quarantine"},
        "batch_num": "L1",
        "serial_number": None,
        "document": {"type": "receipt", "id": number},
        "user_id": None,
        "client_id": "erp",
        "reason": None,
        "created_at": first["created_at"],
    }
    assert newest["qty"] == 5
    assert [event["type"]["S"] for event in stack.events()[before:]] == ["stock.updated"] * 2
    prove(stack.store())


def test_the_user_who_receives_is_kept(dock: Dock, stack: Stack) -> None:
    order = dock.order({"qty": 10})
    token = stack.user_token(sub="17", permissions="entries.manage")
    person = Erp(stack.gateway, token)

    number = person.post("/receipts", {"document_id": order}).data["id"]
    person.post(f"/receipts/{number}/start")
    dock.receive(number, 1, by=person)

    assert dock.shown(number)["user_id"] == 17
    [movement] = dock.erp.get("/stock-movements").data
    assert movement["user_id"] == 17


def test_lines_of_an_item_fill_in_their_order(dock: Dock) -> None:
    order = dock.order({"qty": 4}, {"item_code": "DRILL", "qty": 1}, {"qty": 6})
    number = dock.started(order)

    dock.receive(number, 5)

    drill = (0, 1, "open")
    assert dock.progress(order) == [(4, 0, "complete"), drill, (1, 5, "partial")]
    dock.receive(number, 5)
    assert dock.progress(order) == [(4, 0, "complete"), drill, (6, 0, "complete")]


def test_a_line_that_names_the_batch_fills_first(dock: Dock) -> None:
    order = dock.order(
        {"item_code": "CEMENT", "qty": 5},
        {"item_code": "CEMENT", "qty": 5, "batch": "L2"},
        {"item_code": "CEMENT", "qty": 5, "batch": "L3"},
    )
    number = dock.started(order)

    dock.receive(number, 6, item_code="CEMENT", batch="L3")

    assert [line[0] for line in dock.progress(order)] == [1, 0, 5]
    dock.receive(number, 9, item_code="CEMENT", batch="L3")
    assert [line[0] for line in dock.progress(order)] == [5, 5, 5]


def test_several_receipts_work_on_one_order(dock: Dock, stack: Stack) -> None:
    order = dock.order({"qty": 10})
    first, second = dock.started(order), dock.started(order)

    dock.receive(first, 4)
    dock.receive(second, 6)

    assert dock.progress(order) == [(10, 0, "complete")]
    assert dock.receive(first, 1).code == "approval_required"
    refused = dock.erp.post(f"/entry-documents/{order}/close")
    assert refused.status == 409
    assert f"id {first}, id {second}" in refused.json()["message"]
    for number in (first, second):
        assert dock.act(number, "finalize").status == 200
    assert dock.erp.post("/receipts", {"document_id": order}).code == "conflict"
    prove(stack.store())


def test_quantities_are_exact(dock: Dock, stack: Stack) -> None:
    order = dock.order({"qty": 0.3})
    number = dock.started(order)

    for qty in (0.1, 0.2):
        assert dock.receive(number, qty).status == 200

    assert dock.progress(order) == [(0.3, 0, "complete")]
    assert dock.stock() == [("BRICK", "A-01", 0.3)]
    prove(stack.store())


def test_the_document_tells_where_to_put_it(dock: Dock) -> None:
    lines = ({"qty": 2}, {"qty": 2, "destination_bin": "B-01"}, {"qty": 2, "destination_bin": None})
    number = dock.started(dock.order(*lines))

    assert dock.receive(number, 1).status == 200
    for qty in (2, 5):
        asked = dock.receive(number, qty)
        assert (asked.status, asked.json()["error"]["field"]) == (422, "bin_code")
        assert "is required" in asked.json()["message"]
    assert dock.receive(number, 1).status == 200
    assert dock.receive(number, 2).status == 200
    assert dock.receive(number, 1).json()["error"]["field"] == "bin_code"
    assert dock.receive(number, 2, bin_code="F-01").status == 200
    assert dock.stock() == [("BRICK", "A-01", 2), ("BRICK", "B-01", 2), ("BRICK", "F-01", 2)]


def test_the_document_tells_the_expiry_of_the_batch_it_expects(dock: Dock) -> None:
    line = {"item_code": "CEMENT", "qty": 5, "batch": "L1", "expiry_date": "2031-01-31"}
    number = dock.started(dock.order(line))

    dock.receive(number, 1, item_code="CEMENT", batch="L1")
    dock.receive(number, 1, item_code="CEMENT", batch="L2")
    dock.receive(number, 1, item_code="CEMENT", batch="L3", expiry_date="2032-01-31")

    rows = dock.erp.get("/stocks").data
    assert [row["expiry_date"] for row in rows] == ["2031-01-31", None, "2032-01-31"]


def test_a_batch_has_one_expiry_date_at_its_place(dock: Dock, stack: Stack) -> None:
    number = dock.started(dock.order({"item_code": "CEMENT", "qty": 9}))
    cement: dict[str, Any] = {"item_code": "CEMENT", "batch": "L1"}
    dock.receive(number, 1, **cement)
    dock.receive(number, 1, **cement, expiry_date="2031-01-31")

    other = dock.receive(number, 1, **cement, expiry_date="2031-02-28")

    assert (other.status, other.json()["error"]["field"]) == (422, "expiry_date")
    assert "2031-01-31" in other.json()["message"]
    assert (
        dock.receive(number, 1, **cement, expiry_date="2031-02-28", bin_code="B-01").status == 200
    )
    assert dock.receive(number, 1, **cement).status == 200
    rows = dock.erp.get("/stocks").data
    assert [(row["qty"], row["expiry_date"]) for row in rows] == [
        (3, "2031-01-31"),
        (1, "2031-02-28"),
    ]
    prove(stack.store())


def test_a_serial_that_left_may_come_back(dock: Dock, stack: Stack) -> None:
    number = dock.started(dock.order({"item_code": "DRILL", "qty": 2}))
    dock.receive(number, 1, item_code="DRILL", serials=["S-1"])
    leaving = {"item_code": "DRILL", "warehouse": "YARD", "bin_code": "A-01", "serial": "S-1"}
    dock.erp.post("/stock-adjustments", {**leaving, "decrease": 1, "reason": "Sold"})

    assert (
        dock.receive(number, 1, item_code="DRILL", serials=["S-1"], bin_code="B-01").status == 200
    )

    assert dock.stock() == [("DRILL", "B-01", 1)]
    prove(stack.store())


def test_twenty_five_serials_fit_into_one_call_and_go_again(dock: Dock, stack: Stack) -> None:
    number = dock.started(dock.order({"item_code": "DRILL", "qty": 25}))
    serials = [f"S-{each}" for each in range(25)]

    assert dock.receive(number, 25, item_code="DRILL", serials=serials).status == 200
    assert dock.shown(number)["lines"][0]["serials"] == serials
    assert len(dock.stock()) == 25
    prove(stack.store())
    assert dock.act(number, "cancel").status == 200
    assert dock.stock() == []
    prove(stack.store())


# More than was ordered


def test_the_tolerance_counts_over_all_receipts(dock: Dock, stack: Stack) -> None:
    cases = (
        (0, 10, 200), (0, 10.000001, 409), (5, 10.5, 200), (5, 10.500001, 409), (100, 20, 200),
    )  # fmt: skip
    for tolerance, qty, status in cases:
        dock.floor.settle(receipt_tolerance=Decimal(tolerance))
        order = dock.order({"qty": 7}, {"qty": 3})
        dock.receive(dock.started(order), 6)

        answer = dock.receive(dock.started(order), round(qty - 6, 6))

        assert answer.status == status, answer.text
        received = sum(line[0] for line in dock.progress(order))
        assert received == (qty if status == 200 else 6)
        if status == 409:
            assert answer.code == "approval_required"
            assert str(qty) in answer.json()["message"]
    prove(stack.store())


def test_a_user_with_the_permission_approves_more(dock: Dock, stack: Stack) -> None:
    order = dock.order({"qty": 10})
    number = dock.started(order)

    def user(permissions: str) -> Erp:
        return Erp(stack.gateway, stack.user_token(permissions=permissions))

    chief = user("entries.manage approvals.grant")
    for refused in (
        dock.receive(number, 11, approve=True),
        dock.receive(number, 11, approve=True, by=user("entries.manage")),
        dock.receive(number, 11, by=chief),
        dock.receive(number, 11, approve=False, by=chief),
    ):
        assert (refused.status, refused.code) == (409, "approval_required")
    assert dock.progress(order) == [(0, 10, "open")]

    assert dock.receive(number, 11, approve=True, by=chief).status == 200
    assert dock.progress(order) == [(11, 0, "complete")]
    assert dock.receive(number, 1, approve=True, by=chief).status == 200
    assert dock.progress(order) == [(12, 0, "complete")]
    assert dock.stock() == [("BRICK", "A-01", 12)]
    prove(stack.store())


def test_what_is_more_than_all_lines_counts_for_the_first(dock: Dock) -> None:
    dock.floor.settle(receipt_tolerance=Decimal(50))
    order = dock.order({"qty": 4}, {"qty": 6, "destination_bin": "B-01"})
    number = dock.started(order)

    assert dock.receive(number, 15, bin_code="F-01").status == 200

    assert dock.progress(order) == [(9, 0, "complete"), (6, 0, "complete")]
