"""The request as handlers see it, and how its body is read from the gateway's event."""

import base64
import binascii
import re
import zlib
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from shared.identity.tenancy.tenant import Tenant
from shared.kernel.caller import Caller
from shared.kernel.db.facets import ID_DIGITS
from shared.kernel.errors import BadRequest, NoId, PayloadTooLarge, Problem
from shared.kernel.json_text import loads

_MAX_BODY = 1_048_576
_MAX_EVENT = 6_291_456
"""Bytes that Lambda accepts, and to which a packed form may be unpacked."""
_GZIP = b"\x1f\x8b"
_TRACEPARENT = r"([0-9a-f]{2})-(([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2})(-.*)?"
"""Version, then trace, parent and flags, then what a later version adds."""


@dataclass(frozen=True, slots=True)
class Request[Body = None, Parameters = None]:
    """A validated request.

    `body` and `parameters` are of the models that the route declares, None where it declares
    none. The body may also be an `InvalidBody`, with which the handler must fail. `address` is the
    IP address of the caller.
    """

    caller: Caller
    tenant: Tenant
    address: str
    path: str
    path_values: Mapping[str, str]
    body: Body
    parameters: Parameters

    @property
    def id(self) -> int:
        """The id in the path; raise NoId if the text is not an id of the service."""
        text = self.path_values["id"]
        is_id = text.isascii() and text.isdigit() and len(text) <= ID_DIGITS
        if not is_id or int(text) == 0:
            raise NoId(text, self.path.split("/")[1])
        return int(text)


def traceparent_of(event: Mapping[str, Any]) -> str | None:
    """Return the trace of the caller, as W3C Trace Context writes it; None if it has none.

    A header in another form is as if it was not sent, as the specification asks. A later version
    begins like version 00 and may have more.
    """
    sent = headers_of(event).get("traceparent")
    match = re.fullmatch(_TRACEPARENT, sent, re.ASCII | re.DOTALL) if sent else None
    if match is None:
        return None
    version, fields, trace, parent, more = match.groups()
    is_known = version != "ff" and not (version == "00" and more)
    return f"00-{fields}" if is_known and trace.strip("0") and parent.strip("0") else None


def headers_of(event: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers of a gateway event by their names in lower case."""
    return {name.lower(): value for name, value in (event.get("headers") or {}).items()}


def repeated_parameters(event: Mapping[str, Any], known: Container[str]) -> Iterator[Problem]:
    """Yield a problem for each of the known query parameters that has several values."""
    for name, values in (event.get("multiValueQueryStringParameters") or {}).items():
        if name in known and len(set(values)) > 1:
            yield Problem(
                name,
                f"is given {len(set(values))} times; give it once (a filter that takes several "
                "values takes them separated by commas)",
            )


def read_json_object(event: Mapping[str, Any]) -> dict[str, Any]:
    """Read the body of a gateway event, as `read_json` does; BadRequest if it is no object."""
    value = read_json(event)
    if not isinstance(value, dict):
        raise BadRequest("The body must be a JSON object.")
    return value


def read_json(event: Mapping[str, Any]) -> Any:
    """Read the body of a gateway event: JSON of at most 1 MB.

    Raises:
        BadRequest: Another content type, invalid UTF-8, or invalid JSON.
        PayloadTooLarge: The body is larger than 1 MB.
    """
    headers = headers_of(event)
    media, _, charset = (headers.get("content-type") or "application/json").partition(";")
    media = media.strip().lower()
    if media != "application/json" and not (
        media.startswith("application/") and media.endswith("+json")
    ):
        raise BadRequest("The body must be sent as application/json.")
    if "charset" in charset.lower() and "utf-8" not in charset.lower():
        raise BadRequest("The body must be encoded in UTF-8.")
    raw = body_bytes(event, _MAX_BODY)
    if len(raw) > _MAX_BODY:
        raise PayloadTooLarge(f"The body has {len(raw)} bytes; at most {_MAX_BODY} are accepted.")
    try:
        return loads(raw.decode("utf-8-sig"))
    except ValueError as error:
        message = f"The body is not valid JSON: {error}"
        raise BadRequest(_printable(message)) from None


def _printable(message: str) -> str:
    return message.encode("ascii", "backslashreplace").decode()[:300]


def body_bytes(event: Mapping[str, Any], most: int = _MAX_EVENT) -> bytes:
    """Return the body of a gateway event, unpacked if it was sent with `Content-Encoding: gzip`.

    API Gateway unpacks bodies itself: one that is no gzip any more stays as it is.

    Raises:
        BadRequest: It is said to be base64 or gzip, and is not, or has another encoding.
        PayloadTooLarge: It was packed, and has more than `most` bytes.
    """
    body = event.get("body") or ""
    if not event.get("isBase64Encoded"):
        return str(body).encode("utf-8", "surrogatepass")
    try:
        raw = base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        raise BadRequest("The body is not valid base64.") from None
    encoding = headers_of(event).get("content-encoding", "").strip().lower()
    if encoding not in {"", "identity", "gzip"}:
        raise BadRequest("Content-Encoding: only gzip is accepted.")
    return _unpacked(raw, most) if encoding == "gzip" and raw.startswith(_GZIP) else raw


def _unpacked(raw: bytes, most: int) -> bytes:
    """Unpack a body of gzip; at most `most` bytes are written."""
    packed = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        unpacked = packed.decompress(raw, most + 1)
    except zlib.error:
        raise BadRequest("The body is not valid gzip.") from None
    if len(unpacked) > most:
        raise PayloadTooLarge(f"The unpacked body has more than {most} bytes.")
    if not packed.eof or packed.unused_data:
        raise BadRequest("The body is not valid gzip.")
    return unpacked
