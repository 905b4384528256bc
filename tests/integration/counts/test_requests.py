"""Counts through the interface: who sees what, approvals and repeated requests."""

from decimal import Decimal
from typing import Any

import pytest

from tests.clock import Clock
from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.integration.approvals.conftest import approval_of
from tests.integration.call_faults import at_calls, die
from tests.stack import Stack
from tests.warehouse_scenario import WarehouseScenario

pytestmark = pytest.mark.usefixtures("consistent_stock")

_BRICK = {"bin_code": "A-01", "item_code": "BRICK"}


def _create(erp: Erp, **more: Any) -> dict[str, Any]:
    body = {"warehouse_code": "YARD", "positions": ["A-01"], **more}
    created: dict[str, Any] = erp.post("/counts", body).ok(201)
    return created


def test_count_is_shown_with_its_lines(yard: WarehouseScenario, clock: Clock) -> None:
    clock.freeze()
    yard.stock("BRICK", 10)
    created = _create(yard.erp, assigned_to=7, due_at="2026-03-02T09:00:00Z", comments="Yearly")
    times = {created.pop("created_at"), created.pop("updated_at")}
    assert len(times) == 1
    progress = {"lines": 1, "counted": 0, "differences": 0, "units": 0}
    assigned = created.pop("assigned_to")
    assert assigned["id"] == 7
    assert created == {
        "object": "count",
        "id": 1,
        "code": "CN-1",
        "status": "open",
        "warehouse_code": "YARD",
        "blind": True,
        "due_at": "2026-03-02T09:00:00.000Z",
        "comments": "Yearly",
        "progress": progress,
        "actions": ["lines", "cancel"],
    }

    [counted] = yard.erp.post("/counts/1/lines", {**_BRICK, "qty": 8}).ok()["lines"]

    assert counted.pop("counted_at") in times
    assert counted == {
        "line_num": 1,
        "status": "counted",
        "bin_code": "A-01",
        "item_code": "BRICK",
        "product_name": "Brick",
        "batch_num": None,
        "serial_number": None,
        "inventory_status": "available",
        "expected_qty": 10,
        "counted_qty": 8,
        "difference": -2,
        "counted_by": None,
        "movement_id": None,
    }
    shown = yard.erp.get("/counts/1").ok()
    assert shown["progress"] == {"lines": 1, "counted": 1, "differences": 1, "units": 8}
    assert [line["counted_qty"] for line in shown["lines"]] == [8]
    assert yard.erp.walk("/counts", assigned_to=7)[0]["progress"] == shown["progress"]


def test_who_may_only_count_does_not_see_what_is_expected_in_a_blind_count(
    yard: WarehouseScenario, stack: Stack
) -> None:
    yard.stock("BRICK", 10)
    _create(yard.erp)
    picker = Erp(stack.gateway, stack.user_token(sub="7", permissions="exits.manage"))
    manager = Erp(stack.gateway, stack.user_token(sub="7", permissions="inventory.manage"))

    [counted] = picker.post("/counts/1/lines", {**_BRICK, "qty": 8}).ok()["lines"]

    assert counted["counted_by"]["id"] == 7
    assert (counted["expected_qty"], counted["difference"]) == (None, None)
    hidden, shown = picker.get("/counts/1").ok(), manager.get("/counts/1").ok()
    assert (hidden["lines"][0]["expected_qty"], shown["lines"][0]["expected_qty"]) == (None, 10)
    assert (hidden["progress"]["differences"], shown["progress"]["differences"]) == (None, 1)
    assert picker.get("/counts").data[0]["progress"]["differences"] is None
    manager.post("/counts/1/cancel").ok()
    _create(yard.erp, blind=False)
    assert picker.get("/counts/2").ok()["lines"][0]["expected_qty"] == 10


def test_posting_with_an_approval_adjusts_all_lines(yard: WarehouseScenario, stack: Stack) -> None:
    yard.change_settings(approval_adjustment_qty=Decimal(2))
    yard.stock("BRICK", 2)
    _create(yard.erp)
    yard.erp.post("/counts/1/lines", {**_BRICK, "qty": 7}).ok()
    yard.erp.post("/counts/1/finish").ok()
    number = approval_of(yard.erp.post("/counts/1/post"))
    assert yard.erp.get(f"/approvals/{number}").ok()["resource"] == {"object": "count", "id": 1}
    yard.stock("BRICK", 1)  # what moves meanwhile is no other figure
    supervisor = Erp(stack.gateway, stack.user_token(permissions="approvals.grant"))
    supervisor.post(f"/approvals/{number}/grant").ok()

    assert yard.erp.post("/counts/1/post").ok()["status"] == "posted"

    assert yard.level("BRICK")[0] == 8
    assert yard.erp.post("/counts/1/post").code == "stale_state"


@pytest.mark.parametrize("moment", ["before", "after"])
def test_repeat_of_a_killed_creation_goes_on_and_answers_the_same(
    yard: WarehouseScenario, aws_faults: AwsFaults, clock: Clock, moment: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 6)
    yard.stock_serials(*(f"S{number}" for number in range(8)))
    body = {"warehouse_code": "YARD", "positions": ["A-01", "B-01"]}
    fault = {"before": at_calls("TransactWriteItems", {2}, before=die),
             "after": at_calls("TransactWriteItems", {2}, after=die)}[moment]  # fmt: skip
    assert aws_faults.kills(fault, lambda: yard.erp.post("/counts", body, key="k"))
    clock.advance(6)

    answer = yard.erp.post("/counts", body, key="k")

    assert (answer.ok(201)["id"], answer.data["progress"]["lines"]) == (1, 9)
    again = yard.erp.post("/counts", body, key="k")
    assert (again.text, again.headers["Idempotent-Replayed"]) == (answer.text, "true")
    assert len(yard.erp.walk("/counts")) == 1


@pytest.mark.parametrize("reason", ["request", "movements"])
def test_differences_that_were_refused_need_no_second_approval_unless_they_are_counted_again(
    yard: WarehouseScenario, stack: Stack, reason: str
) -> None:
    yard.stock("BRICK", 10)
    yard.stock("CEMENT", 4, batch="L1")
    picking = yard.picking(yard.order(("BRICK", 9)))["id"]
    yard.change_settings(approval_adjustment_qty=Decimal(1))
    _create(yard.erp)
    yard.erp.post("/counts/1/lines", {**_BRICK, "qty": 8}).ok()
    cement = {"bin_code": "A-01", "item_code": "CEMENT", "batch": "L1", "qty": 1}
    yard.erp.post("/counts/1/lines", cement).ok()
    yard.erp.post("/counts/1/finish").ok()
    supervisor = Erp(stack.gateway, stack.user_token(permissions="approvals.grant"))
    number = approval_of(yard.erp.post("/counts/1/post"))
    supervisor.post(f"/approvals/{number}/grant").ok()

    assert yard.erp.post("/counts/1/post").code == "conflict"
    assert yard.erp.post("/counts/1/post").code == "conflict"

    yard.act(picking, "cancel").ok()
    if reason == "request":
        yard.erp.post("/counts/1/recount", {"lines": [1]}).ok()
    else:
        yard.change_settings(approval_adjustment_qty=None)
        yard.adjust("BRICK", decrease=9).ok(201)
        yard.change_settings(approval_adjustment_qty=Decimal(1))
        assert yard.erp.post("/counts/1/post").ok()["status"] == "counting"
    yard.erp.post("/counts/1/lines", {**_BRICK, "qty": 15}).ok()
    yard.erp.post("/counts/1/finish").ok()
    assert yard.erp.post("/counts/1/post").code == "approval_required"
