"""Receive goods into stock, from the receipt to its end."""

from collections.abc import Callable
from decimal import Decimal

import pytest

from shared.kernel.db.actions import MAX_PLANNED_ACTIONS
from shared.warehouse.receiving.models import MAX_SERIALS, StoredReceipt
from shared.warehouse.receiving.repository import RECEIPTS
from shared.warehouse.receiving.service import receipt_differences
from tests.faults import AwsFaults, Fault, Killed, kill_after, kill_before
from tests.gateway import Erp
from tests.people import PICKER, PICKER_NAME
from tests.receiving_scenario import ReceivingScenario
from tests.stack import Stack
from tests.stock_invariants import assert_invariants

WHOLE = ({"qty": 10}, {"item_code": "CEMENT", "qty": 5}, {"item_code": "DRILL", "qty": 2})


def work_events(stack: Stack) -> list[str]:
    """Return the events of receipts and pickings, in the order in which they were raised."""
    kinds = [str(event["type"]["S"]) for event in stack.events()]
    return [kind for kind in kinds if kind.startswith("receipt.")]


def test_purchase_order_is_received_completely(
    receiving_scenario: ReceivingScenario, stack: Stack
) -> None:
    order = receiving_scenario.order(*WHOLE)

    made = receiving_scenario.erp.post(
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
        "operator": {"id": 7, "name": PICKER_NAME},
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
        "differences": [],
        "approvals": [],
    }
    assert receiving_scenario.document(order)["status"] == "assigned"

    started = receiving_scenario.act(number, "start").data
    assert (started["status"], started["started_at"]) == ("started", started["updated_at"])
    receiving_scenario.receive(number, 4)
    assert receiving_scenario.document(order)["status"] == "partial-complete"
    assert receiving_scenario.progress(order)[0] == (4, 6, "partial")
    receiving_scenario.receive(number, 6, bin_code="B-01")
    receiving_scenario.receive(number, 5, item_code="CEMENT", batch="L1", expiry_date="31/12/2030")
    answer = receiving_scenario.receive(number, 2, item_code="DRILL", serials=["S-1", "S-2"])
    assert answer.status == 200, answer.text
    assert receiving_scenario.progress(order) == [
        (10, 0, "complete"),
        (5, 0, "complete"),
        (2, 0, "complete"),
    ]
    assert receiving_scenario.document(order)["status"] == "completed"
    assert receiving_scenario.stock() == [
        ("BRICK", "A-01", 4), ("BRICK", "B-01", 6), ("CEMENT", "A-01", 5),
        ("DRILL", "A-01", 1), ("DRILL", "A-01", 1),
    ]  # fmt: skip

    ended = receiving_scenario.act(number, "finalize").data
    assert (ended["status"], ended["finalized_at"]) == ("finalized", ended["updated_at"])
    assert receiving_scenario.act(number, "synchronize").data["status"] == "synchronized"
    shown = receiving_scenario.shown(number)
    assert [tuple(line.values()) for line in shown["lines"]] == [
        (1, "BRICK", 4, None, []),
        (1, "BRICK", 6, None, []),
        (2, "CEMENT", 5, "L1", []),
        (3, "DRILL", 2, None, ["S-1", "S-2"]),
    ]
    assert work_events(stack) == ["receipt.created", "receipt.completed"]
    assert_invariants(stack.store())


def test_received_line_changes_rows_levels_movements_and_events(
    receiving_scenario: ReceivingScenario, stack: Stack
) -> None:
    number = receiving_scenario.started(receiving_scenario.order({"item_code": "CEMENT", "qty": 8}))
    before = len(stack.events())

    receiving_scenario.receive(
        number, 3, item_code="CEMENT", batch="L1", expiry_date="2030-12-31",
        inventory_status="quarantine", bin_code="B-01",
    )  # fmt: skip
    receiving_scenario.receive(number, 5, item_code="CEMENT", batch="L1", expiry_date="2030-12-31")

    [checked, free] = receiving_scenario.erp.get("/stocks", query={"item_code": "CEMENT"}).data
    assert (checked["qty"], checked["inventory_status"]) == (3, "quarantine")
    assert (free["qty"], free["inventory_status"]) == (5, "available")
    assert free["batch_num"] == checked["batch_num"] == "L1"
    assert free["expiry_date"] == checked["expiry_date"] == "2030-12-31"
    [level] = receiving_scenario.erp.get("/stock-levels").data
    assert (level["on_hand"], level["available"], level["quarantine"]) == (8, 5, 3)
    newest, first = receiving_scenario.erp.get("/stock-movements").data
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
    assert_invariants(stack.store())


def test_receipt_and_movements_keep_the_user(
    receiving_scenario: ReceivingScenario, stack: Stack
) -> None:
    order = receiving_scenario.order({"qty": 10})
    token = stack.user_token(sub="17", permissions="entries.manage")
    person = Erp(stack.gateway, token)

    number = person.post("/receipts", {"document_id": order}).data["id"]
    person.post(f"/receipts/{number}/start")
    receiving_scenario.receive(number, 1, by=person)

    assert receiving_scenario.shown(number)["user_id"] == 17
    [movement] = receiving_scenario.erp.get("/stock-movements").data
    assert movement["user_id"] == 17


def test_lines_of_one_item_are_filled_in_order(receiving_scenario: ReceivingScenario) -> None:
    order = receiving_scenario.order({"qty": 4}, {"item_code": "DRILL", "qty": 1}, {"qty": 6})
    number = receiving_scenario.started(order)

    receiving_scenario.receive(number, 5)

    drill = (0, 1, "open")
    assert receiving_scenario.progress(order) == [(4, 0, "complete"), drill, (1, 5, "partial")]
    receiving_scenario.receive(number, 5)
    assert receiving_scenario.progress(order) == [(4, 0, "complete"), drill, (6, 0, "complete")]


def test_line_of_the_same_batch_is_filled_first(receiving_scenario: ReceivingScenario) -> None:
    order = receiving_scenario.order(
        {"item_code": "CEMENT", "qty": 5},
        {"item_code": "CEMENT", "qty": 5, "batch": "L2"},
        {"item_code": "CEMENT", "qty": 5, "batch": "L3"},
    )
    number = receiving_scenario.started(order)

    receiving_scenario.receive(number, 6, item_code="CEMENT", batch="L3")

    assert [line[0] for line in receiving_scenario.progress(order)] == [1, 0, 5]
    receiving_scenario.receive(number, 9, item_code="CEMENT", batch="L3")
    assert [line[0] for line in receiving_scenario.progress(order)] == [5, 5, 5]


def test_purchase_order_has_several_receipts(
    receiving_scenario: ReceivingScenario, stack: Stack
) -> None:
    order = receiving_scenario.order({"qty": 10})
    first, second = receiving_scenario.started(order), receiving_scenario.started(order)

    receiving_scenario.receive(first, 4)
    receiving_scenario.receive(second, 6)

    assert receiving_scenario.progress(order) == [(10, 0, "complete")]
    assert receiving_scenario.receive(first, 1).code == "approval_required"
    refused = receiving_scenario.erp.post(f"/entry-documents/{order}/close")
    assert refused.status == 409
    assert f"id {first}, id {second}" in refused.json()["message"]
    for number in (first, second):
        assert receiving_scenario.act(number, "finalize").status == 200
    assert receiving_scenario.erp.post("/receipts", {"document_id": order}).code == "conflict"
    assert_invariants(stack.store())


def test_quantities_are_exact(receiving_scenario: ReceivingScenario, stack: Stack) -> None:
    order = receiving_scenario.order({"qty": 0.3})
    number = receiving_scenario.started(order)

    for qty in (0.1, 0.2):
        assert receiving_scenario.receive(number, qty).status == 200

    assert receiving_scenario.progress(order) == [(0.3, 0, "complete")]
    assert receiving_scenario.stock() == [("BRICK", "A-01", 0.3)]
    assert_invariants(stack.store())


def test_position_defaults_to_the_destination_on_the_document(
    receiving_scenario: ReceivingScenario,
) -> None:
    lines = ({"qty": 2}, {"qty": 2, "destination_bin": "B-01"}, {"qty": 2, "destination_bin": None})
    number = receiving_scenario.started(receiving_scenario.order(*lines))

    assert receiving_scenario.receive(number, 1).status == 200
    for qty in (2, 5):
        asked = receiving_scenario.receive(number, qty)
        assert (asked.status, asked.json()["error"]["field"]) == (422, "bin_code")
        assert "is required" in asked.json()["message"]
    assert receiving_scenario.receive(number, 1).status == 200
    assert receiving_scenario.receive(number, 2).status == 200
    assert receiving_scenario.receive(number, 1).json()["error"]["field"] == "bin_code"
    assert receiving_scenario.receive(number, 2, bin_code="F-01").status == 200
    assert receiving_scenario.stock() == [
        ("BRICK", "A-01", 2),
        ("BRICK", "B-01", 2),
        ("BRICK", "F-01", 2),
    ]


def test_expiry_date_defaults_to_that_of_the_expected_batch(
    receiving_scenario: ReceivingScenario,
) -> None:
    line = {"item_code": "CEMENT", "qty": 5, "batch": "L1", "expiry_date": "2031-01-31"}
    number = receiving_scenario.started(receiving_scenario.order(line))

    receiving_scenario.receive(number, 1, item_code="CEMENT", batch="L1")
    receiving_scenario.receive(number, 1, item_code="CEMENT", batch="L2")
    receiving_scenario.receive(number, 1, item_code="CEMENT", batch="L3", expiry_date="2032-01-31")

    rows = receiving_scenario.erp.get("/stocks").data
    assert [row["expiry_date"] for row in rows] == ["2031-01-31", None, "2032-01-31"]


def test_serial_that_left_the_stock_can_be_received_again(
    receiving_scenario: ReceivingScenario, stack: Stack
) -> None:
    number = receiving_scenario.started(receiving_scenario.order({"item_code": "DRILL", "qty": 2}))
    receiving_scenario.receive(number, 1, item_code="DRILL", serials=["S-1"])
    leaving = {"item_code": "DRILL", "warehouse": "YARD", "bin_code": "A-01", "serial": "S-1"}
    receiving_scenario.erp.post("/stock-adjustments", {**leaving, "decrease": 1, "reason": "Sold"})

    assert (
        receiving_scenario.receive(
            number, 1, item_code="DRILL", serials=["S-1"], bin_code="B-01"
        ).status
        == 200
    )

    assert receiving_scenario.stock() == [("DRILL", "B-01", 1)]
    assert_invariants(stack.store())


def test_most_serials_are_received_and_undone_in_one_request(
    receiving_scenario: ReceivingScenario, stack: Stack
) -> None:
    number = receiving_scenario.started(receiving_scenario.order({"item_code": "DRILL", "qty": 20}))
    serials = [f"S-{each}" for each in range(MAX_SERIALS)]

    assert receiving_scenario.receive(number, 20, item_code="DRILL", serials=serials).status == 200
    assert receiving_scenario.shown(number)["lines"][0]["serials"] == serials
    assert len(receiving_scenario.stock()) == 20
    assert_invariants(stack.store())
    assert receiving_scenario.act(number, "cancel").status == 200
    assert receiving_scenario.stock() == []
    assert_invariants(stack.store())


# More than the ordered quantity


def test_tolerance_counts_all_receipts_of_the_document(
    receiving_scenario: ReceivingScenario, stack: Stack
) -> None:
    cases = (
        (0, 10, 200), (0, 10.000001, 409), (5, 10.5, 200), (5, 10.500001, 409), (100, 20, 200),
    )  # fmt: skip
    for tolerance, qty, status in cases:
        receiving_scenario.yard.change_settings(receipt_tolerance=Decimal(tolerance))
        order = receiving_scenario.order({"qty": 7}, {"qty": 3})
        receiving_scenario.receive(receiving_scenario.started(order), 6)

        answer = receiving_scenario.receive(receiving_scenario.started(order), round(qty - 6, 6))

        assert answer.status == status, answer.text
        received = sum(line[0] for line in receiving_scenario.progress(order))
        assert received == (qty if status == 200 else 6)
        if status == 409:
            assert answer.code == "approval_required"
            assert str(qty) in answer.json()["message"]
    assert_invariants(stack.store())


def test_user_with_permission_approves_more_than_the_tolerance(
    receiving_scenario: ReceivingScenario, stack: Stack
) -> None:
    order = receiving_scenario.order({"qty": 10})
    number = receiving_scenario.started(order)

    def user(permissions: str) -> Erp:
        return Erp(stack.gateway, stack.user_token(permissions=permissions))

    chief = user("entries.manage approvals.grant")
    for refused in (
        receiving_scenario.receive(number, 11, approve=True),
        receiving_scenario.receive(number, 11, approve=True, by=user("entries.manage")),
        receiving_scenario.receive(number, 11, by=chief),
        receiving_scenario.receive(number, 11, approve=False, by=chief),
    ):
        assert (refused.status, refused.code) == (409, "approval_required")
    assert receiving_scenario.progress(order) == [(0, 10, "open")]

    assert receiving_scenario.receive(number, 11, approve=True, by=chief).status == 200
    assert receiving_scenario.progress(order) == [(11, 0, "complete")]
    assert receiving_scenario.receive(number, 1, approve=True, by=chief).status == 200
    assert receiving_scenario.progress(order) == [(12, 0, "complete")]
    assert receiving_scenario.stock() == [("BRICK", "A-01", 12)]
    assert_invariants(stack.store())


def test_approvals_are_recorded_on_the_receipt_and_in_the_audit_log(
    receiving_scenario: ReceivingScenario, stack: Stack
) -> None:
    claims = {"permissions": "entries.manage approvals.grant", "sub": str(PICKER)}
    chief = Erp(stack.gateway, stack.user_token(**claims))
    receiving_scenario.yard.change_settings(receipt_tolerance=Decimal(5))
    order = receiving_scenario.order({"qty": 7}, {"qty": 3})
    number = receiving_scenario.started(order)
    receiving_scenario.receive(number, 10.5, approve=True, by=chief)
    assert receiving_scenario.shown(number)["approvals"] == [], "within the tolerance"

    body = {"item_code": "BRICK", "qty": 2, "approve": True}
    path = f"/receipts/{number}/lines"
    answers = [chief.post(path, body, key="once") for _ in range(3)]
    assert {(answer.status, answer.text) for answer in answers} == {(200, answers[0].text)}

    quantities = {
        "item_code": "BRICK", "qty": 2, "ordered_qty": 10, "allowed_qty": 10.5,
        "received_qty": 12.5,
    }  # fmt: skip
    shown = receiving_scenario.shown(number)
    assert shown["approvals"] == answers[0].data["approvals"] == [
        {
            "code": "over_receipt", **quantities,
            "decided_by": {"user_id": 7, "name": PICKER_NAME}, "decided_at": shown["updated_at"],
        }
    ]  # fmt: skip
    log = stack.erp().walk("/audit-log", action="receipt.over_receipt_approved")
    assert log == [
        {
            "id": log[0]["id"], "action": "receipt.over_receipt_approved",
            "actor": {"type": "user", "id": "7", "name": PICKER_NAME},
            "target": {"type": "receipt", "id": str(number)}, "changes": {},
            "details": {**quantities, "document_id": order}, "reason": None,
            "request_id": answers[0].headers["X-Request-Id"], "created_at": shown["updated_at"],
        }
    ]  # fmt: skip
    assert "approvals" not in stack.erp().walk("/receipts")[0]

    assert receiving_scenario.act(number, "cancel").status == 200
    assert receiving_scenario.shown(number)["approvals"] == shown["approvals"]


def test_a_refused_approval_leaves_no_trace(
    receiving_scenario: ReceivingScenario, stack: Stack
) -> None:
    number = receiving_scenario.started(receiving_scenario.order({"qty": 1}))
    chief = Erp(stack.gateway, stack.user_token(permissions="entries.manage approvals.grant"))
    for line in ({"item_code": "BRICK", "bin_code": "NO-1"}, {"item_code": "NONE"}):
        answer = receiving_scenario.receive(number, 2, approve=True, by=chief, **line)
        assert answer.status == 422
    assert stack.erp().walk("/audit-log") == []
    assert receiving_scenario.receive(number, 2, approve=True).status == 409
    assert receiving_scenario.shown(number)["approvals"] == []
    assert [entry["action"] for entry in stack.erp().walk("/audit-log")] == ["approval.requested"]


@pytest.mark.parametrize("kind", [kill_before, kill_after])
def test_an_interrupted_approval_is_recorded_exactly_if_the_goods_are_received(
    kind: Callable[[int], Fault],
    receiving_scenario: ReceivingScenario,
    stack: Stack,
    aws_faults: AwsFaults,
) -> None:
    chief = Erp(stack.gateway, stack.user_token(permissions="entries.manage approvals.grant"))
    number = receiving_scenario.started(receiving_scenario.order({"qty": 1}))
    assert chief.get(f"/receipts/{number}").status == 200, "the caches are warm"
    as_prepared = stack.take_snapshot()
    with aws_faults.recorded() as seen:
        receiving_scenario.receive(number, 2, approve=True, by=chief)
    outcomes = set()
    for at in range(len(seen.calls)):
        as_prepared()
        with pytest.raises(Killed), aws_faults.faulty(kind(at)):
            receiving_scenario.receive(number, 2, approve=True, by=chief)
        received = bool(receiving_scenario.stock())
        outcomes.add(received)
        assert len(receiving_scenario.shown(number)["approvals"]) == received
        assert len(stack.erp().walk("/audit-log")) == received
    assert outcomes == ({False} if kind is kill_before else {False, True})


def test_an_approval_takes_no_more_round_trips_than_other_goods(
    receiving_scenario: ReceivingScenario, stack: Stack, aws_faults: AwsFaults
) -> None:
    claims = {"permissions": "entries.manage approvals.grant", "sub": str(PICKER)}
    chief = Erp(stack.gateway, stack.user_token(**claims))
    number = receiving_scenario.started(receiving_scenario.order({"qty": 9}))
    receiving_scenario.receive(number, 1, by=chief)
    round_trips = []
    for qty, approve in ((8, False), (1, True)):
        with aws_faults.recorded() as seen:
            answer = receiving_scenario.receive(number, qty, approve=approve, by=chief)
        assert answer.status == 200
        round_trips.append(seen.round_trips)
    assert round_trips[0] == round_trips[1]


def test_an_approved_line_with_many_serials_fits_into_one_transaction(
    receiving_scenario: ReceivingScenario, stack: Stack, aws_faults: AwsFaults
) -> None:
    chief = Erp(stack.gateway, stack.user_token(permissions="entries.manage approvals.grant"))
    number = receiving_scenario.started(receiving_scenario.order({"item_code": "DRILL", "qty": 1}))
    serials = [f"S-{each}" for each in range(MAX_SERIALS)]
    with aws_faults.recorded() as seen:
        answer = receiving_scenario.receive(
            number, MAX_SERIALS, item_code="DRILL", serials=serials, approve=True, by=chief,
        )  # fmt: skip
    assert answer.status == 200, answer.text
    assert (
        max(len(call.request.get("TransactItems", ())) for call in seen.calls)
        <= MAX_PLANNED_ACTIONS
    )
    assert len(receiving_scenario.shown(number)["approvals"]) == 1


def test_approved_quantity_above_every_tolerance_counts_for_the_first_line(
    receiving_scenario: ReceivingScenario, stack: Stack
) -> None:
    chief = Erp(stack.gateway, stack.user_token(permissions="entries.manage approvals.grant"))
    receiving_scenario.yard.change_settings(receipt_tolerance=Decimal(50))
    order = receiving_scenario.order({"qty": 4}, {"qty": 6, "destination_bin": "B-01"})
    number = receiving_scenario.started(order)

    assert receiving_scenario.receive(number, 15, bin_code="F-01").status == 200
    assert receiving_scenario.progress(order) == [(6, 0, "complete"), (9, 0, "complete")]
    assert receiving_scenario.receive(number, 1, bin_code="F-01").code == "approval_required"

    approved = receiving_scenario.receive(number, 1, bin_code="F-01", approve=True, by=chief)
    assert approved.status == 200
    assert receiving_scenario.progress(order) == [(7, 0, "complete"), (9, 0, "complete")]


# Differences from what the document announced


def test_differences_are_shown_on_the_receipt_and_on_the_document(
    receiving_scenario: ReceivingScenario, stack: Stack
) -> None:
    drills = {"item_code": "DRILL", "qty": 2, "serials": ["S-1", "S-2"]}
    cement = {"item_code": "CEMENT", "qty": 5, "batch": "L1"}
    order = receiving_scenario.order(drills, cement)
    first = receiving_scenario.started(order)

    def shown(number: int) -> list[tuple[int, str, str, str]]:
        found = receiving_scenario.shown(number)["differences"]
        return [(one["line_num"], one["item_code"], one["kind"], one["value"]) for one in found]

    def of_document() -> list[dict[str, object]]:
        found: list[dict[str, object]] = receiving_scenario.document(order)["differences"]
        return found

    unexpected = (1, "DRILL", "unexpected_serial", "S-9")
    missing = (1, "DRILL", "missing_serial", "S-2")
    receiving_scenario.receive(first, 1, item_code="DRILL", serials=["S-9"])
    assert shown(first) == [unexpected], "line 1 is not complete"
    answer = receiving_scenario.receive(first, 1, item_code="DRILL", serials=["S-1"])
    assert answer.data["differences"] == receiving_scenario.shown(first)["differences"]
    assert shown(first) == [unexpected, missing]
    ended = receiving_scenario.act(first, "finalize")
    assert ended.headers["ETag"] == receiving_scenario.erp.get(f"/receipts/{first}").headers["ETag"]
    second = receiving_scenario.started(order)
    receiving_scenario.receive(second, 3, item_code="CEMENT", batch="L2")

    assert shown(first) == [unexpected, missing]
    assert shown(second) == [(2, "CEMENT", "unexpected_batch", "L2")]
    assert [(one["kind"], one["value"]) for one in of_document()] == [
        ("unexpected_serial", "S-9"), ("missing_serial", "S-2"), ("unexpected_batch", "L2"),
    ]  # fmt: skip
    receiving_scenario.act(second, "finalize")
    closed = receiving_scenario.erp.post(f"/entry-documents/{order}/close")
    assert closed.data["differences"] == of_document()
    assert shown(second)[1:] == [(2, "CEMENT", "missing_batch", "L1")]
    assert "differences" not in receiving_scenario.erp.walk("/entry-documents")[0]
    for number in (first, second):
        receiving_scenario.act(number, "revert")
        assert shown(number) == []
    assert {one["kind"] for one in of_document()} == {"missing_serial", "missing_batch"}
    assert_invariants(stack.store())


def test_goods_that_nobody_announced_cost_no_more_reads(
    receiving_scenario: ReceivingScenario, stack: Stack, aws_faults: AwsFaults
) -> None:
    order = receiving_scenario.order({"qty": 5})
    number = receiving_scenario.started(order)
    receiving_scenario.receive(number, 2)

    for path in (f"/receipts/{number}", f"/entry-documents/{order}"):
        with aws_faults.recorded() as seen:
            assert receiving_scenario.erp.get(path).data["differences"] == []
        assert len(seen.calls) == 1
    stored = RECEIPTS.get(stack.store(), number).entity
    assert not stored.announced
    earlier = StoredReceipt.model_validate(stored.model_dump(exclude={"announced"}))
    assert receipt_differences(stack.store(), earlier) == []
