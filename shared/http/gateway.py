"""The event and the response of the gateway's proxy integration."""

from collections.abc import Mapping
from typing import Any

from shared.http.envelope import HttpResponse

_PREFIXES = ("/api/v1", "/v1")
"""The default address has the stage before the resources, a custom domain its base path."""


def to_gateway(response: HttpResponse, event: Mapping[str, Any]) -> dict[str, Any]:
    """Write the response in the form of the gateway's proxy integration."""
    headers = {
        "Content-Type": "application/json",
        "Cache-Control": "no-store",
        "X-Request-Id": request_id_of(event),
        **response.headers,
    }
    return {
        "statusCode": response.status,
        "headers": headers,
        "body": response.body,
        "isBase64Encoded": response.is_base64,
    }


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
