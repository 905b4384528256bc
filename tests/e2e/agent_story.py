"""Work with the tools of agents, with the Python client of the Model Context Protocol.

Run by test_agents.py with the package mcp, which the tests do not install. Reads BASE_URL, TOKEN,
SUPERVISOR (the token of a user who decides on approvals) and RUN from the environment.
"""

import asyncio
import os
import sys
from contextlib import suppress
from typing import Any

import httpx2
from mcp import Client
from mcp.client import ClientRequestContext
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import ElicitRequestParams, ElicitResult

_BASE, _RUN = os.environ["BASE_URL"], os.environ["RUN"]
_CODE = f"AGENT-{_RUN}"
_PLACE = {"item_code": _CODE, "warehouse": "AGE", "bin_code": "A-01"}
_ORDER: dict[str, Any] = {"doc_date": "2026-03-01", "partner_code": "P-1", "warehouse_code": "AGE"}
_asked: list[str] = []


def _http(token: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60)


async def _grant(_context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    """Let the supervisor grant the approval before the user confirms."""
    _asked.append(params.message)
    number = params.message.partition("on approval ")[2].partition(" ")[0]
    async with _http(os.environ["SUPERVISOR"]) as supervisor:
        answer = await supervisor.post(f"{_BASE}/approvals/{number}/grant", json={})
        assert answer.status_code == httpx2.codes.OK, answer.text
    return ElicitResult(action="accept", content={})


async def _call(client: Client, tool: str, **arguments: Any) -> Any:
    """Return the data of a tool, refused or not."""
    return (await client.call_tool(tool, arguments)).structured_content


async def _work(client: Client) -> None:
    """Find a product, order it, receive it, correct its stock, and explain the difference."""
    tools = await client.list_tools()
    assert len(tools.tools) == 12, tools
    found = await _call(client, "find_products", search=_CODE)
    assert [one["item_code"] for one in found["products"]] == [_CODE]

    key = f"{_RUN}-purchase"
    lines = [{"item_code": _CODE, "qty": 40}]
    order: dict[str, Any] = {**_ORDER, "external_ref": key, "lines": lines, "idempotency_key": key}
    made = await _call(client, "create_purchase_order", **order)
    assert (await _call(client, "create_purchase_order", **order))["replayed"]
    delivery = {"order_id": made["id"], "lines": [{**lines[0], "bin_code": "A-01"}]}
    await _call(client, "receive_goods", **delivery, idempotency_key=f"{_RUN}-delivery")
    shown = await _call(client, "get_purchase_order", order_id=made["id"])
    assert (shown["status"], shown["lines"][0]["received_qty"]) == ("completed", 40)

    correction: dict[str, Any] = {**_PLACE, "expected_qty": 40, "reason": "Counted"}
    small = {**correction, "counted_qty": 38, "idempotency_key": f"{_RUN}-small"}
    await _call(client, "adjust_stock", **small)
    stale = {**small, "idempotency_key": f"{_RUN}-stale"}
    assert (await _call(client, "adjust_stock", **stale))["code"] == "stale_state"
    large = {**correction, "expected_qty": 38, "counted_qty": 8, "idempotency_key": f"{_RUN}-large"}
    assert (await _call(client, "adjust_stock", **large))["qty_after"] == 8
    assert len(_asked) == 1, _asked

    told = await _call(client, "explain_stock_difference", **_PLACE, believed_qty=40)
    changes = [(one["type"], one["change"]) for one in told["movements"]]
    assert changes == [("adjustment", -30), ("adjustment", -2), ("receipt", 40)], told
    assert told["believed_qty_was_true_until"] == told["movements"][1]["at"]

    sale = {**order, "external_ref": f"{_RUN}-sale", "idempotency_key": f"{_RUN}-sale"}
    sold = await _call(client, "create_customer_order", **sale)
    status = await _call(client, "get_customer_order", order_id=sold["id"])
    assert status["lines"][0]["open_qty"] == 40
    unknown = await _call(client, "get_stock", item_code="")
    assert unknown["errors"][0]["field"] == "item_code"
    with suppress(MCPError):
        await client.call_tool("drop_table", {})
        raise AssertionError("an unknown tool must be an error of the protocol")


async def _main() -> None:
    url = f"{_BASE}/mcp"
    async with _http(os.environ["TOKEN"]) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, elicitation_callback=_grant) as client:
            assert client.protocol_version == "2026-07-28", client.protocol_version
            await _work(client)
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode="legacy") as earlier:
            assert earlier.protocol_version == "2025-11-25", earlier.protocol_version
            assert len((await earlier.list_tools()).tools) == 12
            found = await _call(earlier, "get_stock", item_code=_CODE)
            assert found["rows"][0]["qty"] == 8
    sys.stdout.write("worked\n")


if __name__ == "__main__":
    asyncio.run(_main())
