"""Messages: what the protocol asks of them, and what invalid ones are answered."""

import base64
import json
from typing import Any

import pytest

from functions.mcp.handler import INSTRUCTIONS
from tests.agent import Agent, error_of
from tests.cases import each_case
from tests.gateway import Erp
from tests.log_lines import captured
from tests.stack import ADDRESS, Stack, set_attributes
from tests.tenant_cache import apply_now

_META = "io.modelcontextprotocol/"
VERSION_KEY, CAPABILITIES_KEY = f"{_META}protocolVersion", f"{_META}clientCapabilities"
MODERN = {VERSION_KEY: "2026-07-28", CAPABILITIES_KEY: {}}
CALL = {"name": "find_products", "arguments": {}}
LEGACY = {"MCP-Protocol-Version": "2025-11-25", "Mcp-Method": None}


@pytest.fixture
def agent(stack: Stack) -> Agent:
    return Agent(stack.erp())


def _error(agent: Agent, *sent: Any, **more: Any) -> tuple[int, int]:
    """Return status and code of the answer to an invalid message; its id is that of the message."""
    answer = agent.send(*sent, id="a", **more)
    assert answer.json()["id"] == "a"
    return error_of(answer)


def test_server_says_versions_and_capabilities(agent: Agent) -> None:
    result = agent.result("server/discover")
    assert result["supportedVersions"] == ["2026-07-28", "2025-11-25", "2025-06-18"]
    assert (result["capabilities"], result["instructions"]) == ({"tools": {}}, INSTRUCTIONS)
    assert (result["ttlMs"], result["cacheScope"]) == (3_600_000, "public")
    assert result["resultType"] == "complete"
    assert result["_meta"][f"{_META}serverInfo"]["name"] == "stowage"


@each_case(("raw", "code"), [
    ("{", -32700), ("", -32700), ("\xff", -32700), ('{"a": NaN}', -32700),
    ("[]", -32600), ('[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600),
    ("null", -32600), ("1", -32600), ('"x"', -32600), ("{}", -32600),
    ('{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}', -32600),
    ('{"jsonrpc": "2.0", "id": 1}', -32600), ('{"jsonrpc": "2.0", "id": 1, "method": 5}', -32600),
    ('{"jsonrpc": "2.0", "id": null, "method": "tools/list"}', -32600),
    ('{"jsonrpc": "2.0", "id": true, "method": "tools/list"}', -32600),
    ('{"jsonrpc": "2.0", "id": 1.5, "method": "tools/list"}', -32600),
    ('{"jsonrpc": "2.0", "id": {}, "method": "tools/list"}', -32600),
    ('{"jsonrpc": "2.0", "id": 1, "result": {}}', -32600),
    ('{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": []}', -32602),
    ('{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": 5}}', -32602),
])  # fmt: skip
def test_invalid_messages_are_errors_of_json_rpc(agent: Agent, raw: str, code: int) -> None:
    answer = agent.erp.post("/mcp", raw=raw)
    assert error_of(answer) == (400, code)
    assert answer.json()["jsonrpc"] == "2.0"


def test_text_that_is_no_json_type_is_an_error(agent: Agent) -> None:
    answer = agent.erp.post("/mcp", raw="{}", headers={"Content-Type": "text/plain"})
    assert error_of(answer) == (400, -32700)


@each_case(("headers", "code"), [
    ({"MCP-Protocol-Version": None}, -32020), ({"MCP-Protocol-Version": "2025-11-25"}, -32020),
    ({"MCP-Protocol-Version": "1900-01-01"}, -32020), ({"MCP-Protocol-Version": ""}, -32020),
    ({"Mcp-Method": None}, -32020), ({"Mcp-Method": "tools/list"}, -32020),
    ({"Mcp-Method": "TOOLS/CALL"}, -32020), ({"Mcp-Name": None}, -32020),
    ({"Mcp-Name": "get_stock"}, -32020), ({"Mcp-Name": "=?base64?!?="}, -32020),
    ({"Mcp-Name": "=?base64?/w==?="}, -32020),
])  # fmt: skip
def test_headers_that_differ_from_the_body_are_refused(
    agent: Agent, headers: dict[str, str | None], code: int
) -> None:
    assert _error(agent, "tools/call", CALL, headers=headers) == (400, code)


def test_name_in_a_header_may_be_encoded(agent: Agent) -> None:
    name = base64.b64encode(b"find_products").decode()
    answer = agent.send("tools/call", CALL, headers={"Mcp-Name": f"=?base64?{name}?="})
    assert answer.status == 200


@each_case(("meta", "code"), [
    ({**MODERN, VERSION_KEY: "2025-11-25"}, -32020), ({**MODERN, VERSION_KEY: 5}, -32020),
    ({CAPABILITIES_KEY: {}}, -32602), ({VERSION_KEY: "2026-07-28"}, -32602),
    ({**MODERN, CAPABILITIES_KEY: []}, -32602), ({**MODERN, CAPABILITIES_KEY: None}, -32602),
])  # fmt: skip
def test_incomplete_requests_are_refused(agent: Agent, meta: dict[str, Any], code: int) -> None:
    assert _error(agent, "tools/list", {"_meta": meta}) == (400, code)


def test_unsupported_version_names_those_that_are(agent: Agent) -> None:
    meta = {**MODERN, VERSION_KEY: "2099-01-01"}
    version = {"MCP-Protocol-Version": "2099-01-01"}
    answer = agent.send("tools/list", {"_meta": meta}, headers=version)
    assert error_of(answer) == (400, -32022)
    assert answer.json()["error"]["data"] == {
        "supported": ["2026-07-28", "2025-11-25", "2025-06-18"],
        "requested": "2099-01-01",
    }


@each_case(
    "method", ["resources/list", "prompts/get", "initialize", "ping", "subscriptions/listen", ""]
)
def test_unknown_methods_are_not_found(agent: Agent, method: str) -> None:
    assert _error(agent, method) == (404, -32601)


@each_case("params", [
    {"name": "drop_table"}, {"name": ""}, {"name": "find_products", "arguments": []},
    {"name": "find_products", "arguments": "x"}, {"name": "find_products", "arguments": None},
    {**CALL, "inputResponses": []}, {**CALL, "inputResponses": {"approval": {}}},
    {**CALL, "inputResponses": {"approval": {"action": "grant"}}},
    {**CALL, "inputResponses": {"approval": []}},
])  # fmt: skip
def test_invalid_calls_are_errors_of_the_protocol(agent: Agent, params: dict[str, Any]) -> None:
    assert _error(agent, "tools/call", params) == (400, -32602)


def test_call_without_a_name_is_refused(agent: Agent) -> None:
    assert _error(agent, "tools/call", {}, headers={"Mcp-Name": "x"}) == (400, -32020)
    legacy = agent.send("tools/call", {"_meta": {}}, headers=LEGACY)
    assert error_of(legacy) == (400, -32602)


def test_list_has_one_page(agent: Agent) -> None:
    assert _error(agent, "tools/list", {"cursor": "x"}) == (400, -32602)


@each_case(("tool", "arguments", "fields"), [
    ("find_products", {"search": 5, "page": 0, "x": 1}, {"search", "page", "x"}),
    ("get_stock", {}, {"item_code"}),
    ("get_customer_order", {"order_id": "5"}, {"order_id"}),
    ("get_approval", {"approval_id": -1}, {"approval_id"}),
    ("find_customer_orders", {"status": "lost", "late": "yes"}, {"status", "late"}),
    ("adjust_stock", {"idempotency_key": "a b", "expected_qty": -1, "counted_qty": "1"},
     {"idempotency_key", "item_code", "warehouse", "bin_code", "expected_qty", "counted_qty",
      "reason"}),
    ("receive_goods", {"idempotency_key": "k", "order_id": 1, "lines": [{"qty": 0, "bin": "A"}]},
     {"lines.0.item_code", "lines.0.qty", "lines.0.bin"}),
    ("create_customer_order", {"idempotency_key": "k" * 201, "lines": []},
     {"idempotency_key", "external_ref", "doc_date", "partner_code", "warehouse_code", "lines"}),
])  # fmt: skip
def test_every_problem_of_arguments_is_named(
    agent: Agent, tool: str, arguments: dict[str, Any], fields: set[str]
) -> None:
    refused = agent.refused(tool, **arguments)
    assert refused["code"] == "validation_failed"
    assert {one["field"] for one in refused["errors"]} == fields


def test_text_that_is_no_unicode_comes_back_escaped(agent: Agent) -> None:
    bad = "\ud800"
    unknown = agent.send(bad, id=bad, headers={"Mcp-Method": "x"})
    no_tool = agent.send("tools/call", {"name": bad}, headers={"Mcp-Name": "x"})
    legacy = agent.send("tools/call", {"name": bad, "_meta": {}}, headers=LEGACY)
    called = agent.send("tools/call", {"name": "find_products", "arguments": {bad: bad}})
    assert [one.status for one in (unknown, no_tool, legacy, called)] == [400, 400, 400, 200]
    for answer in (unknown, no_tool, legacy, called):
        assert answer.text.encode()
    assert unknown.json()["id"] == bad
    [problem] = called.json()["result"]["structuredContent"]["errors"]
    assert problem == {"field": "", "message": "must be valid Unicode text"}


def test_number_of_named_problems_is_limited(agent: Agent) -> None:
    unknown = {f"x{number}": 1 for number in range(500)}
    refused = agent.refused("find_products", **unknown)
    assert len(refused["errors"]) == 50
    assert refused["message"].endswith("(and 499 more)")


def test_rules_of_the_interface_have_its_texts(agent: Agent) -> None:
    order = {"external_ref": "S", "doc_date": "2026-01-01", "partner_code": "C",
             "lines": [{"item_code": "NONE", "qty": 1}]}  # fmt: skip
    refused = agent.refused(
        "create_customer_order", **order, warehouse_code="W", idempotency_key="k"
    )
    direct = agent.erp.post(
        "/exit-documents", {**order, "type": "sale_order", "warehouse_code": "W"}, key="d"
    ).json()
    assert refused["errors"] == direct["errors"]
    assert refused["message"] == direct["message"]
    unknown = agent.refused("get_customer_order", order_id=9)
    assert unknown["code"] == "not_found"


def test_body_of_more_than_a_megabyte_is_refused(agent: Agent) -> None:
    answer = agent.send("tools/call", {**CALL, "padding": "x" * 1_048_576})
    assert (answer.status, answer.code) == (413, "payload_too_large")


def test_deep_body_is_refused(agent: Agent) -> None:
    assert error_of(agent.erp.post("/mcp", raw="[" * 100_000)) == (400, -32700)


@each_case("method", ["GET", "PUT", "PATCH", "DELETE"])
def test_only_post_is_allowed(agent: Agent, method: str) -> None:
    answer = agent.erp.send(method, "/mcp")
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")


def test_request_without_a_valid_token_is_refused(stack: Stack) -> None:
    assert Agent(Erp(stack.gateway, None)).send("tools/list").status == 401
    assert Agent(Erp(stack.gateway, "x")).send("tools/list").status == 401


def test_suspended_company_is_refused(agent: Agent) -> None:
    apply_now(set_attributes, state={"S": "suspended"})
    assert agent.send("tools/list").code == "tenant_suspended"


def test_calls_count_as_requests(agent: Agent) -> None:
    first = agent.send("tools/list").headers["RateLimit-Remaining"]
    assert int(agent.send("tools/call", CALL).headers["RateLimit-Remaining"]) < int(first)


def test_log_line_names_route_and_tool(agent: Agent) -> None:
    with captured() as written:
        agent.send("tools/call", CALL)
    [line] = written.lines("answered")
    assert (line["route"], line["tool"], line["status"]) == ("POST /mcp", "find_products", 200)


def test_pages_of_other_origins_are_refused(agent: Agent) -> None:
    own = ADDRESS.removesuffix("/api/v1")
    assert agent.send("tools/list", headers={"Origin": own}).status == 200
    for origin in ("https://evil.example", "null", own.replace("https", "http")):
        assert agent.send("tools/list", headers={"Origin": origin}).code == "forbidden"


def test_notifications_are_accepted_without_an_answer(agent: Agent) -> None:
    body = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    for version in ("2025-06-18", "2025-11-25"):
        headers = {"MCP-Protocol-Version": version}
        answer = agent.erp.post("/mcp", raw=json.dumps(body), headers=headers)
        assert (answer.status, answer.text) == (202, "")


# Clients of earlier versions


@each_case(("asked", "answered"), [
    ("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("2024-11-05", "2025-11-25"),
    (None, "2025-11-25"), ([], "2025-11-25"),
])  # fmt: skip
def test_earlier_client_begins_with_initialize(agent: Agent, asked: Any, answered: str) -> None:
    params = {"_meta": {}, "protocolVersion": asked, "capabilities": {}}
    headers = {"MCP-Protocol-Version": None, "Mcp-Method": None}
    answer = agent.send("initialize", params, headers=headers)
    result = answer.json()["result"]
    assert (answer.status, result["protocolVersion"]) == (200, answered)
    assert result["serverInfo"]["name"] == "stowage"
    assert "Mcp-Session-Id" not in answer.headers


def test_earlier_client_lists_and_calls_tools_without_a_session(agent: Agent) -> None:
    listed = agent.send("tools/list", {"_meta": {}}, headers=LEGACY).json()["result"]
    assert listed.keys() == {"tools"}
    called = agent.send("tools/call", {**CALL, "_meta": {}}, headers=LEGACY).json()["result"]
    assert called.keys() == {"content", "structuredContent", "isError"}
    assert agent.send("ping", {"_meta": {}}, headers=LEGACY).json()["result"] == {}
    unknown = agent.send("server/discover", {"_meta": {}}, headers=LEGACY)
    assert error_of(unknown) == (404, -32601)


def test_earlier_client_without_the_version_is_refused(agent: Agent) -> None:
    none = {"MCP-Protocol-Version": None, "Mcp-Method": None}
    assert _error(agent, "tools/list", {"_meta": {}}, headers=none) == (400, -32020)
    old = {**none, "MCP-Protocol-Version": "2024-11-05"}
    assert _error(agent, "tools/list", {"_meta": {}}, headers=old) == (400, -32022)
    assert _error(agent, "initialize", {"_meta": {}}, headers=old) == (400, -32022)
