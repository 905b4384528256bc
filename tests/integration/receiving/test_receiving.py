"""Receive goods into stock, from the receipt to its end."""

from decimal import Decimal

import pytest

from shared.warehouse.receiving.models import MAX_SERIALS, StoredReceipt
from shared.warehouse.receiving.repository import RECEIPTS
from shared.warehouse.receiving.service import receipt_differences
from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.people import PICKER, PICKER_NAME
from tests.receiving_scenario import ReceivingScenario
from tests.stack import Stack
from tests.stock_invariants import assert_invariants

pytestmark = pytest.mark.usefixtures("consistent_stock")

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
        "actions": ["start", "cancel"],
    }
    assert receiving_scenario.document(order)["status"] == "assigned"

    started = receiving_scenario.act(number, "start").data
    assert (started["status"], started["started_at"]) == ("started", started["updated_at"])
    receiving_scenario.receive(number, 4)
    assert receiving_scenario.document(order)["status"] == "partial-complete"
    assert receiving_scenario.progress(order)[0] == (4, 6, "partial")
    receiving_scenario.receive(number, 6, bin_code="B-01")
    receiving_scenario.receive(number, 5, item_code="CEMENT", batch="L1", expiry_date="31/12/2030")
    receiving_scenario.receive(number, 2, item_code="DRILL", serials=["S-1", "S-2"]).ok()
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
    assert [tuple(line.values())[:5] for line in shown["lines"]] == [
        (1, "BRICK", 4, None, []),
        (1, "BRICK", 6, None, []),
        (2, "CEMENT", 5, "L1", []),
        (3, "DRILL", 2, None, ["S-1", "S-2"]),
    ]
    assert work_events(stack) == ["receipt.created", "receipt.completed"]


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


def test_purchase_order_has_several_receipts(receiving_scenario: ReceivingScenario) -> None:
    order = receiving_scenario.order({"qty": 10})
    first, second = receiving_scenario.started(order), receiving_scenario.started(order)

    receiving_scenario.receive(first, 4)
    receiving_scenario.receive(second, 6)

    assert receiving_scenario.progress(order) == [(10, 0, "complete")]
    assert receiving_scenario.receive(first, 1).code == "approval_required"
    refused = receiving_scenario.erp.post(f"/entry-documents/{order}/close")
    assert refused.status == 409
    assert f"receipt {first}, receipt {second}" in refused.json()["message"]
    for number in (first, second):
        assert receiving_scenario.act(number, "finalize").status == 200
    assert receiving_scenario.erp.post("/receipts", {"document_id": order}).code == "stale_state"


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
    receiving_scenario: ReceivingScenario,
) -> None:
    number = receiving_scenario.started(receiving_scenario.order({"item_code": "DRILL", "qty": 2}))
    receiving_scenario.receive(number, 1, item_code="DRILL", serials=["S-1"])
    receiving_scenario.yard.adjust("DRILL", serial="S-1", decrease=1).ok(201)

    receiving_scenario.receive(number, 1, item_code="DRILL", serials=["S-1"], bin_code="B-01").ok()

    assert receiving_scenario.stock() == [("DRILL", "B-01", 1)]


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


# More than the ordered quantity


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


# Differences from what the document announced


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

    receiving_scenario.receive(number, 1, bin_code="F-01", approve=True, by=chief).ok()
    assert receiving_scenario.progress(order) == [(7, 0, "complete"), (9, 0, "complete")]


def test_differences_are_shown_on_the_receipt_and_on_the_document(
    receiving_scenario: ReceivingScenario,
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
