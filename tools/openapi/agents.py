"""The route of the tools of agents, whose messages another specification describes."""

from collections.abc import Mapping

from functions.mcp.protocol import VERSION, VERSIONS
from tools.openapi.responses import Refusals, body, counted
from tools.openapi.schemas import Schema, ref

TAG = "Agents"

_ANY: Schema = {"description": "A text or a whole number."}
_VERSION_2: Schema = {"type": "string", "const": "2.0", "description": "Version of JSON-RPC."}


def _object(description: str) -> Schema:
    return {"type": "object", "additionalProperties": True, "description": description}


SCHEMAS: Mapping[str, Schema] = {
    "AgentMessage": {
        "type": "object",
        "description": "A request of JSON-RPC, as the Model Context Protocol describes it.",
        "properties": {
            "jsonrpc": _VERSION_2,
            "id": _ANY,
            "method": {"type": "string", "description": "Such as `tools/list` or `tools/call`."},
            "params": _object("Parameters of the method, and `_meta`."),
        },
        "required": ["jsonrpc", "id", "method"],
    },
    "AgentAnswer": {
        "type": "object",
        "description": "A response of JSON-RPC, with either `result` or `error`.",
        "properties": {
            "jsonrpc": _VERSION_2,
            "id": _ANY,
            "result": _object("What the method returns."),
            "error": {
                "type": "object",
                "description": "Why the message is invalid.",
                "properties": {
                    "code": {
                        "type": "integer",
                        "description": "Code of JSON-RPC or of the protocol.",
                    },
                    "message": {"type": "string", "description": "What is wrong."},
                    "data": _object("What the code says more."),
                },
                "required": ["code", "message"],
            },
        },
        "required": ["jsonrpc"],
    },
}

_CODES = (
    "unauthenticated", "feature_not_in_plan", "tenant_suspended", "tenant_cancelled", "forbidden",
    "client_not_allowed", "tenant_moved", "payload_too_large", "rate_limited", "internal_error",
    "service_unavailable",
)  # fmt: skip
"""Error codes of what refuses the request before the message is read."""

_META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}
_CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "get_stock", "arguments": {"item_code": "CHM-SIL-WHT"}, "_meta": _META},
}
_RESULT = {
    "jsonrpc": "2.0",
    "id": 1,
    "result": {
        "resultType": "complete",
        "content": [{"type": "text", "text": '{"levels":[],"rows":[]}'}],
        "structuredContent": {"levels": [], "rows": []},
        "isError": False,
    },
}


def paths(refusals: Refusals) -> dict[str, Schema]:
    """Return the route: path → method → operation."""
    return {"/mcp": {"post": _call(refusals)}}


def _call(refusals: Refusals) -> Schema:
    return {
        "operationId": "call_tools",
        "tags": [TAG],
        "summary": "List and call the tools of agents",
        "description": "The endpoint of the Model Context Protocol: use one of its clients. Lists"
        " the tools whose operations the token may use, and calls them: each has the scopes,"
        " permissions, rules and approvals of its operations. A refusal of an operation is a result"
        " with `isError`. Version 2026-07-28 repeats the version, the method and the name of the"
        " tool in headers; earlier versions begin with `initialize`.",
        "security": [{"client": []}, {"user": []}],
        "parameters": [
            _header("MCP-Protocol-Version", f"Version of the protocol: {', '.join(VERSIONS)}."),
            _header("Mcp-Method", "`method` of the body."),
            _header("Mcp-Name", "`params.name` of the body, for `tools/call`."),
        ],
        "requestBody": {"required": True, "content": body(ref("AgentMessage"), _CALL)},
        "responses": {
            "200": _answer("The result.", _RESULT),
            "202": {"description": "A notification was accepted.", "headers": counted()},
            "400": _answer(
                "The message or a header is invalid.", _error(-32602, "Unknown tool: x")
            ),
            "404": _answer("The method is unknown.", _error(-32601, "The method x is not known.")),
            **refusals.by_status(_CODES),
        },
    }


def _header(name: str, description: str) -> Schema:
    shown = {"name": name, "in": "header", "description": description}
    return {**shown, "schema": {"type": "string"}}


def _error(code: int, message: str) -> Schema:
    return {"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": message}}


def _answer(description: str, example: Schema) -> Schema:
    return {
        "description": description,
        "headers": counted(),
        "content": body(ref("AgentAnswer"), example),
    }
