"""A client of the tools of agents that sends what a test says, valid or not."""

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.gateway import Erp, Response

VERSION = "2026-07-28"
_META = "io.modelcontextprotocol/"


@dataclass(frozen=True, slots=True)
class Agent:
    """A client of version 2026-07-28 of MCP, with a token of the company."""

    erp: Erp
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    _ids: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def send(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        headers: Mapping[str, str | None] | None = None,
        **message: Any,
    ) -> Response:
        """Send a request; `headers` and `message` replace parts of it, None removes a header."""
        meta = {
            f"{_META}protocolVersion": VERSION,
            f"{_META}clientInfo": {"name": "test", "version": "1"},
            f"{_META}clientCapabilities": self.capabilities,
        }
        sent = {"_meta": meta, **(params or {})}
        body = {
            "jsonrpc": "2.0",
            "id": next(self._ids),
            "method": method,
            "params": sent,
            **message,
        }
        mirrored = {"MCP-Protocol-Version": VERSION, "Mcp-Method": method}
        if "name" in sent:
            mirrored["Mcp-Name"] = str(sent["name"])
        merged = {**mirrored, **(headers or {})}
        given = {name: value for name, value in merged.items() if value is not None}
        return self.erp.post("/mcp", raw=json.dumps(body), headers=given)

    def result(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the result of a request that must succeed."""
        answer = self.send(method, params)
        assert answer.status == 200, answer.text
        result: dict[str, Any] = answer.json()["result"]
        return result

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the result of a tool, refused or not."""
        return self.result("tools/call", {"name": tool, "arguments": arguments})

    def ok(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the data of a tool that must succeed."""
        result = self.call(tool, **arguments)
        assert not result["isError"], result
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        data: dict[str, Any] = result["structuredContent"]
        return data

    def refused(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the data of a tool that must be refused."""
        result = self.call(tool, **arguments)
        assert result["isError"], result
        data: dict[str, Any] = result["structuredContent"]
        return data

    def tools(self) -> list[dict[str, Any]]:
        """Return the listed tools."""
        listed: list[dict[str, Any]] = self.result("tools/list")["tools"]
        return listed


def error_of(answer: Response) -> tuple[int, int]:
    """Return the HTTP status and the code of an error of JSON-RPC."""
    return answer.status, answer.json()["error"]["code"]
