"""The messages of the Model Context Protocol: what a request must have, and the answers.

Version 2026-07-28 has no sessions: every request says its version and the capabilities of its
client, and repeats its method and the name of its tool in headers. Clients of the two versions
before it begin with `initialize`; they get no session either, so that each request stands alone.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shared.http.envelope import HttpResponse
from shared.http.request import read_json
from shared.kernel.errors import BadRequest
from shared.kernel.json_text import dumps

VERSION = "2026-07-28"
HANDSHAKE_VERSIONS = ("2025-11-25", "2025-06-18")
VERSIONS = (VERSION, *HANDSHAKE_VERSIONS)

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

_META = "io.modelcontextprotocol/"
_SERVER = {"name": "stowage", "title": "Stowage", "version": "v1"}
"""Its version is that of the interface, as in the base address."""


class ProtocolError(Exception):
    """A request that is no valid message; the answer is an error of JSON-RPC."""

    def __init__(
        self, code: int, message: str, status: int = 400, data: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.code, self.message, self.status, self.data = code, message, status, data

    def response(self, sent: object) -> HttpResponse:
        """Return the answer to what was sent, with its id if it has one."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return HttpResponse(self.status, _json({**_envelope(sent), "error": error}))


@dataclass(frozen=True, slots=True)
class AgentMessage:
    """A valid request or notification.

    `version` is that of the protocol. `capabilities` are those of the client; a client of an
    earlier version says them only in `initialize`, so they count as none.
    """

    sent: Mapping[str, Any]
    method: str
    params: Mapping[str, Any]
    version: str
    capabilities: Mapping[str, Any]

    @property
    def is_notification(self) -> bool:
        """Whether nobody waits for an answer."""
        return "id" not in self.sent

    @property
    def is_stateless(self) -> bool:
        """Whether it is of the version that has no handshake."""
        return self.version == VERSION

    @property
    def can_ask(self) -> bool:
        """Whether the client can ask its user to fill in a form, and to confirm."""
        able = self.capabilities.get("elicitation")
        return isinstance(able, dict) and (not able or "form" in able)

    def result(self, content: Mapping[str, Any], kind: str = "complete") -> HttpResponse:
        """Return the answer with a result."""
        result = dict(content)
        if self.is_stateless:
            result |= {"resultType": kind, "_meta": {f"{_META}serverInfo": _SERVER}}
        return HttpResponse(200, _json({**_envelope(self.sent), "result": result}))

    def text(self, name: str) -> str:
        """Return a parameter that must be a text."""
        value = self.params.get(name)
        if not isinstance(value, str):
            raise ProtocolError(INVALID_PARAMS, f"params.{name} must be a text.")
        return value

    def object(self, name: str) -> Mapping[str, Any]:
        """Return a parameter that must be an object; an empty one if it is not sent."""
        return _object(self.params, name, "params.")


def read_object(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the one message in a body; raise ProtocolError if it cannot be read as one."""
    try:
        sent = read_json(event)
    except BadRequest as error:
        raise ProtocolError(PARSE_ERROR, error.message) from None
    if isinstance(sent, list):
        raise ProtocolError(INVALID_REQUEST, "Send each message as a request of its own.")
    if not isinstance(sent, dict):
        raise ProtocolError(INVALID_REQUEST, "The body must be an object of JSON-RPC.")
    return sent


def read_message(sent: Mapping[str, Any], headers: Mapping[str, str]) -> AgentMessage:
    """Return what was sent as a message; raise ProtocolError if it or a header is invalid."""
    method = sent.get("method")
    if sent.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise ProtocolError(
            INVALID_REQUEST, 'The message must have "jsonrpc": "2.0" and the name of a `method`.'
        )
    if "id" in sent and _id_of(sent) is None:
        raise ProtocolError(INVALID_REQUEST, "`id` must be a text or a whole number.")
    params = _object(sent, "params")
    meta = _object(params, "_meta", "params.")
    version = _version(method, meta, headers.get("mcp-protocol-version"))
    if version != VERSION or "id" not in sent:
        return AgentMessage(sent, method, params, version, {})
    if f"{_META}clientCapabilities" not in meta:
        raise ProtocolError(INVALID_PARAMS, f"params._meta has no {_META}clientCapabilities.")
    capabilities = _object(meta, f"{_META}clientCapabilities", "params._meta.")
    _ensure_header(headers, "Mcp-Method", method)
    if method == "tools/call":
        _ensure_header(headers, "Mcp-Name", params.get("name"))
    return AgentMessage(sent, method, params, version, capabilities)


def initialized(message: AgentMessage, instructions: str) -> Mapping[str, Any]:
    """Return the result of `initialize`: the version of the client, or the newest with it."""
    wanted = message.params.get("protocolVersion")
    return {
        "protocolVersion": wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[0],
        "capabilities": {"tools": {}},
        "serverInfo": _SERVER,
        "instructions": instructions,
    }


def _version(method: str, meta: Mapping[str, Any], header: str | None) -> str:
    """Return the version of a request, which header and body must name alike."""
    declared = meta.get(f"{_META}protocolVersion")
    if method == "initialize" and declared is None and header != VERSION:
        return HANDSHAKE_VERSIONS[0] if header is None else _known(header)
    if header is None:
        raise ProtocolError(HEADER_MISMATCH, "The header MCP-Protocol-Version is missing.")
    if declared is None and header in HANDSHAKE_VERSIONS:
        return header
    if declared is not None and declared != header:
        raise ProtocolError(
            HEADER_MISMATCH, f"The header MCP-Protocol-Version is {header}, the body says another."
        )
    _known(header)
    if declared is None:
        raise ProtocolError(INVALID_PARAMS, f"params._meta has no {_META}protocolVersion.")
    return header


def _known(version: str) -> str:
    if version not in VERSIONS:
        data = {"supported": [*VERSIONS], "requested": version}
        raise ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version", data=data)
    return version


def _ensure_header(headers: Mapping[str, str], name: str, value: object) -> None:
    """Raise ProtocolError unless a header repeats a value of the body."""
    sent = headers.get(name.lower())
    if sent is None:
        raise ProtocolError(HEADER_MISMATCH, f"The header {name} is missing.")
    if _decoded(sent.strip(" \t")) != value:
        raise ProtocolError(HEADER_MISMATCH, f"The header {name} differs from the body.")


def _decoded(header: str) -> str | None:
    """Return the text of a header; None for base64 that is none."""
    if not (header.startswith("=?base64?") and header.endswith("?=")):
        return header
    try:
        return base64.b64decode(header[9:-2], validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def _object(parent: Mapping[str, Any], name: str, path: str = "") -> Mapping[str, Any]:
    value = parent.get(name, {})
    if not isinstance(value, dict):
        raise ProtocolError(INVALID_PARAMS, f"{path}{name} must be an object.")
    return value


def _json(value: object) -> str:
    """Write JSON text; an unpaired surrogate that the client sent is written as its escape."""
    return dumps(value).encode(errors="backslashreplace").decode()


def _envelope(sent: object) -> dict[str, Any]:
    number = _id_of(sent) if isinstance(sent, Mapping) else None
    return {"jsonrpc": "2.0", **({} if number is None else {"id": number})}


def _id_of(sent: Mapping[str, Any]) -> str | int | None:
    """Return the id of a message; None if it has none or an invalid one."""
    number = sent.get("id")
    return number if isinstance(number, str | int) and not isinstance(number, bool) else None
