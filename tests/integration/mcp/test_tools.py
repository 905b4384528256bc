"""What the tools do: each calls operations of the interface, and answers with little."""

import json
from typing import Any

from functions.mcp.app import lambda_handler
from functions.mcp.handler import TOOLS
from shared.http.api_handler import ApiHandler
from tests.agent import Agent
from tests.cases import each_case
from tests.clock import Clock
from tests.gateway import Erp
from tests.integration.mcp.conftest import LINES, ORDER, PLACE
from tests.integration.routes import operations
from tests.receiving_scenario import ReceivingScenario
from tests.stack import Stack


def _correct(agent: Agent, expected: float, counted: float, key: str) -> dict[str, Any]:
    """Set the stock of BRICK at A-01 to a counted quantity."""
    return agent.ok(
        "adjust_stock",
        **PLACE,
        expected_qty=expected,
        counted_qty=counted,
        reason="Counted",
        idempotency_key=key,
    )


def _arrived(agent: Agent, scenario: ReceivingScenario) -> dict[str, Any]:
    order = scenario.order({"qty": 4})
    return agent.ok("receive_goods", order_id=order, lines=LINES, idempotency_key="delivery")


def test_products_are_found_by_words(agent: Agent) -> None:
    found = agent.ok("find_products", search="bri")
    [product] = found["products"]
    assert (product["item_code"], product["name"]) == ("BRICK", "Brick")
    assert product.keys() == {"id", "item_code", "name", "man_btch_num", "man_ser_num"}
    assert (found["page"], found["pages"], found["total"]) == (1, 1, 1)


def test_delivery_is_received_with_a_receipt_of_its_own(
    agent: Agent, scenario: ReceivingScenario
) -> None:
    received = _arrived(agent, scenario)
    assert received["status"] == "finalized"
    assert received["lines"] == [{"item_code": "BRICK", "qty": 4, "bin_code": "A-01"}]
    assert scenario.stock() == [("BRICK", "A-01", 4)]
    shown = agent.ok("get_purchase_order", order_id=1)
    assert shown["lines"][0]["received_qty"] == 4
    assert [one["id"] for one in shown["receipts"]] == [received["receipt_id"]]


def test_unknown_order_of_a_delivery_is_named_as_the_tool_names_it(agent: Agent) -> None:
    refused = agent.refused("receive_goods", order_id=9, lines=LINES, idempotency_key="delivery")
    problem = {"field": "order_id", "message": "no entry document has the id 9"}
    assert refused["errors"] == [problem]
    assert refused["message"] == "order_id: no entry document has the id 9"


def test_stock_is_shown_in_sums_and_by_position(agent: Agent, scenario: ReceivingScenario) -> None:
    _arrived(agent, scenario)
    found = agent.ok("get_stock", item_code="BRICK", warehouse="YARD")
    assert [(one["whs_code"], one["on_hand"]) for one in found["levels"]] == [("YARD", 4)]
    [row] = found["rows"]
    assert (row["bin_code"], row["qty"], row["inventory_status"]) == ("A-01", 4, "available")


def test_created_order_is_shown_with_its_pickings(
    agent: Agent, scenario: ReceivingScenario
) -> None:
    made = agent.ok("create_customer_order", **ORDER, priority=1, idempotency_key="order")
    assert made["external_ref"] == "SO-1"
    assert "already_existed" not in made
    picking = scenario.erp.post("/pickings", {"document_ids": [made["id"]]}).id
    shown = agent.ok("get_customer_order", order_id=made["id"])
    assert [(one["item_code"], one["open_qty"]) for one in shown["lines"]] == [("BRICK", 4)]
    assert [one["id"] for one in shown["pickings"]] == [picking]
    other = agent.ok("create_customer_order", **ORDER, comments="x", idempotency_key="other")
    assert (other["id"], other["already_existed"]) == (made["id"], True)
    assert "comments" in other["warning"]


def test_created_purchase_order_is_an_entry_document(
    agent: Agent, scenario: ReceivingScenario
) -> None:
    made = agent.ok("create_purchase_order", **ORDER, idempotency_key="order")
    document = scenario.document(made["id"])
    assert (document["type"], document["external_ref"]) == ("purchase_order", "SO-1")


def test_late_orders_are_unfinished_and_were_due_before_today(
    agent: Agent, scenario: ReceivingScenario, clock: Clock
) -> None:
    clock.freeze()
    today = scenario.erp.post("/exit-documents", {**ORDER, "type": "sale_order"}, key="today")
    day = today.data["created_at"][:10]
    for number, due in enumerate((day, "2026-01-31", "2026-01-31")):
        more = {"external_ref": f"L-{number}", "due_date": due, "idempotency_key": f"late-{number}"}
        made = agent.ok("create_customer_order", **{**ORDER, **more})
    scenario.erp.post(f"/exit-documents/{made['id']}/close")
    late = agent.ok("find_customer_orders", late=True)
    assert [one["external_ref"] for one in late["orders"]] == ["L-1"]
    closed = agent.ok("find_customer_orders", late=True, status="closed", search="c-1 L-2")
    assert [one["external_ref"] for one in closed["orders"]] == ["L-2"]
    assert agent.ok("find_purchase_orders", search="L-1")["total"] == 0


def test_difference_is_explained_by_the_movements_at_the_position(
    agent: Agent, scenario: ReceivingScenario
) -> None:
    _arrived(agent, scenario)
    _correct(agent, 4, 3, "first")
    scenario.yard.adjust(to_status="damaged", qty=1).ok(201)
    told = agent.ok("explain_stock_difference", **PLACE, believed_qty=4)
    shown = [(one["type"], one["change"], one["qty_after"]) for one in told["movements"]]
    assert shown == [("status_change", 0, 3), ("adjustment", -1, 3), ("receipt", 4, 4)]
    assert told["believed_qty_was_true_until"] == told["movements"][1]["at"]
    assert told["movements"][-1]["document"] == "receipt 1"
    assert not told["older_movements"]
    never = agent.ok("explain_stock_difference", **PLACE, believed_qty=77)
    assert never["believed_qty_was_true_until"] is None
    empty = agent.ok("explain_stock_difference", **{**PLACE, "bin_code": "B-01"})
    assert (empty["qty_now"], empty["movements"]) == (0, [])


def test_long_ledger_is_calculated_from_its_known_part(
    agent: Agent, scenario: ReceivingScenario
) -> None:
    for _ in range(23):
        scenario.yard.stock("BRICK", 1)
    told = agent.ok("explain_stock_difference", **PLACE, believed_qty=1)
    assert (told["qty_now"], len(told["movements"]), told["older_movements"]) == (23, 20, True)
    assert told["movements"][-1]["qty_after"] == 4
    assert told["believed_qty_was_true_until"] is not None


def test_every_tool_calls_declared_operations_of_the_interface() -> None:
    known = operations()
    for tool in TOOLS.values():
        assert set(tool.operations) <= known.keys(), tool.name


def test_tools_are_listed_alike_and_take_few_tokens(agent: Agent) -> None:
    """A token of a model is about four characters of English text and JSON."""
    first, second = agent.send("tools/list"), agent.send("tools/list")
    result = first.json()["result"]
    assert result == second.json()["result"]
    assert (result["ttlMs"], result["cacheScope"]) == (300_000, "private")
    assert [tool["name"] for tool in result["tools"]] == [*TOOLS]
    assert len(TOOLS) == 12
    assert len(json.dumps(result["tools"])) / 4 < 4_000


def test_schemas_of_arguments_are_complete_without_references(agent: Agent) -> None:
    for tool in agent.tools():
        text = json.dumps(tool["inputSchema"])
        assert "$ref" not in text, tool["name"]
        assert "anyOf" not in text, tool["name"]
        assert tool["inputSchema"]["additionalProperties"] is False, tool["name"]
        writes = "idempotency_key" in tool["inputSchema"].get("required", [])
        assert writes is not tool["annotations"]["readOnlyHint"], tool["name"]


@each_case(
    ("scope", "tools"),
    [
        ("products:read", ["find_products"]),
        ("stocks:read", ["get_stock", "explain_stock_difference"]),
        ("stocks:write", ["adjust_stock"]),
        ("receipts:write", ["create_purchase_order", "receive_goods"]),
        ("changes:read", []),
    ],
)
def test_only_tools_of_the_scopes_are_listed_and_called(
    scope: str, tools: list[str], stack: Stack
) -> None:
    limited = Agent(stack.erp(scopes=[scope]))
    assert [tool["name"] for tool in limited.tools()] == tools
    lacking = limited.refused("get_approval", approval_id=1)
    assert (lacking["code"], lacking["scope"]) == ("missing_scope", "receipts:read")


def test_tools_of_users_follow_their_permissions(stack: Stack) -> None:
    reader = Agent(Erp(stack.gateway, stack.user_token()))
    assert {tool["name"] for tool in reader.tools()} == {
        name for name, tool in TOOLS.items() if not tool.writes
    }
    refused = reader.refused("create_customer_order", **ORDER, idempotency_key="k")
    assert refused["code"] == "forbidden"
    restricted = Agent(Erp(stack.gateway, stack.user_token(second_factor=False)))
    assert restricted.send("tools/list").code == "client_not_allowed"


def test_handler_adds_no_route_to_the_interface() -> None:
    assert isinstance(lambda_handler, ApiHandler)
    assert lambda_handler.operations == []
