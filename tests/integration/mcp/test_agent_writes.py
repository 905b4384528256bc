"""Writes of tools take effect once, and stop for approvals as those of the interface."""

from decimal import Decimal
from typing import Any

import pytest

from tests.agent import Agent
from tests.clock import Clock
from tests.concurrency import run_concurrently
from tests.faults import AwsFaults, kill_after
from tests.gateway import Erp
from tests.integration.mcp.conftest import LINES, ORDER, PLACE
from tests.people import PICKER
from tests.receiving_scenario import ReceivingScenario
from tests.sampling import deadly_calls
from tests.stack import Stack
from tests.stock_invariants import assert_invariants

CORRECTION: dict[str, Any] = {**PLACE, "expected_qty": 0, "counted_qty": 50, "reason": "Found"}
ASKING: dict[str, Any] = {"elicitation": {}}


@pytest.fixture
def supervisor(stack: Stack) -> Erp:
    """A user who decides on approvals."""
    claims = {"permissions": "entries.manage inventory.manage approvals.grant", "sub": str(PICKER)}
    return Erp(stack.gateway, stack.user_token(**claims))


def _until_done(agent: Agent, clock: Clock, tool: str, **arguments: Any) -> dict[str, Any]:
    """Repeat a call until no earlier one is under way any more."""
    while True:
        data: dict[str, Any] = agent.call(tool, **arguments)["structuredContent"]
        if data.get("code") != "duplicate_in_flight":
            return data
        assert data["retry_after_seconds"] >= 1
        clock.advance(data["retry_after_seconds"])


def test_repeat_of_a_call_has_the_first_answer(agent: Agent, scenario: ReceivingScenario) -> None:
    call = {**CORRECTION, "idempotency_key": "once"}
    first, second = agent.ok("adjust_stock", **call), agent.ok("adjust_stock", **call)
    assert second == {**first, "replayed": True}
    assert scenario.stock() == [("BRICK", "A-01", 50)]
    another = agent.refused("adjust_stock", **{**call, "counted_qty": 51})
    assert another["code"] == "idempotency_key_reused"
    late = agent.refused("adjust_stock", **{**call, "idempotency_key": "twice"})
    assert late["code"] == "stale_state"
    assert late["errors"] == [{"field": "expected_qty", "message": "0 expected, 50 there"}]
    # The refusal is stored, and repeated.
    assert agent.refused("adjust_stock", **{**call, "idempotency_key": "twice"}) == late


def test_repeats_at_once_create_one_order(agent: Agent, scenario: ReceivingScenario) -> None:
    def create(_: int) -> dict[str, Any]:
        return agent.call("create_customer_order", **ORDER, idempotency_key="order")

    answers = run_concurrently(8, create)
    codes = {one["structuredContent"].get("code") for one in answers}
    assert codes <= {None, "duplicate_in_flight"}
    assert len(scenario.erp.walk("/exit-documents")) == 1


def test_delivery_that_is_cut_anywhere_is_received_once(
    agent: Agent, scenario: ReceivingScenario, aws_faults: AwsFaults, clock: Clock, stack: Stack
) -> None:
    order = scenario.order({"qty": 4})
    call = {"order_id": order, "lines": LINES, "idempotency_key": "delivery"}
    restore = stack.take_snapshot()
    with aws_faults.recorded() as seen:
        agent.ok("receive_goods", **call)
    for at in deadly_calls("delivery of an agent", seen.operations, every=4):
        restore()
        assert aws_faults.kills(kill_after(at), lambda: agent.call("receive_goods", **call))
        done = _until_done(agent, clock, "receive_goods", **call)
        assert done["status"] == "finalized", at
        assert scenario.stock() == [("BRICK", "A-01", 4)], at
        assert len(scenario.erp.walk("/receipts")) == 1, at
        assert_invariants(stack.store())


def test_receipt_of_invalid_lines_stays_open_for_the_corrected_call(
    agent: Agent, scenario: ReceivingScenario
) -> None:
    order = scenario.order({"qty": 4})
    call = {"order_id": order, "idempotency_key": "delivery"}
    refused = agent.refused("receive_goods", **call, lines=[{"item_code": "NONE", "qty": 1}])
    assert refused["code"] == "validation_failed"
    assert refused["errors"][0]["field"] == "lines.0.item_code"
    done = agent.ok("receive_goods", **call, lines=LINES)
    assert done["receipt_id"] == refused["receipt_id"]
    assert [row["status"] for row in scenario.erp.walk("/receipts")] == ["finalized"]


def test_call_passes_once_its_approval_is_granted(
    agent: Agent, scenario: ReceivingScenario, supervisor: Erp
) -> None:
    scenario.yard.change_settings(approval_adjustment_qty=Decimal(10))
    call = {**CORRECTION, "idempotency_key": "large"}
    refused = agent.refused("adjust_stock", **call)
    assert refused["code"] == "approval_required"
    number = refused["approval_id"]
    assert agent.ok("get_approval", approval_id=number)["status"] == "pending"
    assert agent.refused("adjust_stock", **call)["approval_id"] == number
    assert supervisor.post(f"/approvals/{number}/grant", {}).status == 200
    assert agent.ok("adjust_stock", **call)["qty_after"] == 50
    assert agent.ok("adjust_stock", **call)["replayed"]
    assert agent.ok("get_approval", approval_id=number)["status"] == "used"


def test_client_that_can_ask_waits_for_the_approval(
    scenario: ReceivingScenario, supervisor: Erp
) -> None:
    scenario.yard.change_settings(approval_adjustment_qty=Decimal(10))
    agent = Agent(scenario.erp, ASKING)
    params = {"name": "adjust_stock", "arguments": {**CORRECTION, "idempotency_key": "large"}}
    asked = agent.result("tools/call", params)
    assert asked["resultType"] == "input_required"
    question = asked["inputRequests"]["approval"]
    assert question["method"] == "elicitation/create"
    assert "approval 1" in question["params"]["message"]

    accepted = {**params, "inputResponses": {"approval": {"action": "accept", "content": {}}}}
    assert agent.result("tools/call", accepted) == asked  # confirming grants nothing
    declined = {**params, "inputResponses": {"approval": {"action": "decline"}}}
    stopped = agent.result("tools/call", declined)
    assert (stopped["isError"], stopped["structuredContent"]["code"]) == (True, "conflict")
    supervisor.post("/approvals/1/grant", {})
    passed = agent.result("tools/call", accepted)
    assert (passed["resultType"], passed["isError"]) == ("complete", False)
    assert scenario.stock() == [("BRICK", "A-01", 50)]


def test_more_than_ordered_waits_for_an_approval_in_one_receipt(
    agent: Agent, scenario: ReceivingScenario, supervisor: Erp
) -> None:
    order = scenario.order({"qty": 3})
    call = {"order_id": order, "lines": LINES, "idempotency_key": "delivery"}
    refused = agent.refused("receive_goods", **call)
    assert refused["code"] == "approval_required"
    supervisor.post(f"/approvals/{refused['approval_id']}/grant", {})
    assert agent.ok("receive_goods", **call)["receipt_id"] == refused["receipt_id"]
    assert scenario.stock() == [("BRICK", "A-01", 4)]


def test_agents_cannot_approve_themselves(agent: Agent, scenario: ReceivingScenario) -> None:
    order = scenario.order({"qty": 3})
    line = {**LINES[0], "approve": True}
    refused = agent.refused("receive_goods", order_id=order, lines=[line], idempotency_key="k")
    assert refused["errors"] == [{"field": "lines.0.approve", "message": "is not known"}]
