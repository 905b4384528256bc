"""HTTP responses, the envelope of errors, and the event and response of the gateway."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from shared.kernel.errors import ServiceError
from shared.kernel.json_text import dumps, loads
from shared.kernel.observability import traceparent

_MAX_BODY = 5_900_000
"""Bytes; Lambda refuses responses above 6 291 456 bytes with headers and escapes."""

_MAX_PROBLEMS = 5_000
"""Problems in one response, so that it fits; a body of 1 MB can have more invalid values."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """Status, body, and the headers that not every response has.

    The body of a file is base64 (`is_base64`), which the gateway decodes. A response with
    `has_secret` is stored encrypted. The entity tag is that of `etag_text` in place of a body
    that differs from request to request although nothing has changed.
    """

    status: int
    body: str
    headers: Mapping[str, str] = field(default_factory=dict)
    is_base64: bool = False
    has_secret: bool = False
    etag_text: str | None = None

    @property
    def fits(self) -> bool:
        """Whether Lambda can return it."""
        # Lambda writes the body as a JSON string; no character becomes more than six bytes.
        return len(self.body) * 6 < _MAX_BODY or len(json.dumps(self.body)) < _MAX_BODY

    @property
    def error_code(self) -> str | None:
        """The code of the error envelope, also of a stored response; None without an error."""
        if self.status < HTTPStatus.BAD_REQUEST or self.has_secret:
            return None
        code: str = loads(self.body)["error"]["code"]
        return code


def error_body(error: ServiceError, request_id: str, docs_base: str) -> dict[str, Any]:
    """Return the error envelope."""
    return {
        "error": {
            "code": error.code,
            "message": error.message,
            "doc_url": f"{docs_base}/errors#{error.code}",
            "request_id": request_id,
            **error.extra,
        },
        "errors": [
            {"field": problem.field, "message": problem.message}
            for problem in error.problems[:_MAX_PROBLEMS]
        ],
        "message": error.message,
    }


def error_response(error: ServiceError, request_id: str, docs_base: str) -> HttpResponse:
    """Return the response for an error."""
    return HttpResponse(
        error.status, dumps(error_body(error, request_id, docs_base)), error.headers
    )


SECURITY_HEADERS: Mapping[str, str] = {
    "Strict-Transport-Security": "max-age=31536000",
    "X-Content-Type-Options": "nosniff",
}
"""Headers of every response, also of those of the gateway and of the console, which repeat them.

Other hosts of a company's domain may use HTTP: subdomains are not included.
"""

_PREFIXES = ("/api/v1", "/v1")
"""The default address has the stage before the resources, a custom domain its base path."""


def to_gateway(response: HttpResponse, event: Mapping[str, Any]) -> dict[str, Any]:
    """Write the response in the form of the gateway's proxy integration."""
    trace = traceparent()
    headers = {
        "Content-Type": "application/json",
        "Cache-Control": "no-store",
        "X-Request-Id": request_id_of(event),
        **({"traceparent": trace} if trace else {}),
        **SECURITY_HEADERS,
        **response.headers,
    }
    return {
        "statusCode": response.status,
        "headers": headers,
        "body": "" if event["httpMethod"] == "HEAD" else response.body,
        "isBase64Encoded": response.is_base64,
    }


def method_of(event: Mapping[str, Any]) -> str:
    """Return the method of the request; HEAD is answered as GET, without the body."""
    method: str = event["httpMethod"]
    return "GET" if method == "HEAD" else method


def path_of(event: Mapping[str, Any]) -> str:
    """Return the path of the request relative to the base address."""
    path: str = event.get("path") or "/"
    for prefix in _PREFIXES:
        if path == prefix or path.startswith(prefix + "/"):
            return path.removeprefix(prefix) or "/"
    return path


def request_id_of(event: Mapping[str, Any]) -> str:
    """Return the id that the gateway gave to the request."""
    request_id: str = event["requestContext"].get("requestId", "")
    return request_id
