"""The description of the interface, open to everyone.

GET /openapi.json        the OpenAPI document
GET /docs                the same for people; what the page loads lies below it
GET /docs/postman.json   the same as a Postman collection
GET /docs/llms.txt       the pages for those who write programs, as text: they lie below /docs, too

Everyone can request these files without a token, and AWS charges for every byte that is sent. Large
ones are therefore sent compressed: those of the page always, because all browsers accept gzip, the
document to callers that accept it.

The document is a committed file: review sees each change of the interface, and this function
imports no route and has no rights.
"""

import gzip
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

from shared.http.conditional import add_etag
from shared.http.envelope import HttpResponse, error_response, to_gateway
from shared.http.request import headers_of
from shared.kernel.config import config
from shared.kernel.errors import MethodNotAllowed, NotFound, ServiceError
from shared.kernel.observability import bind, log_response

_FILES = Path(__file__).parent

_PAGES = ("guides", "reference")
"""Folders of pages."""

_METHODS = ("GET", "HEAD")

_SECONDS = 3600
"""How long a copy is good before it is asked for again, by its tag."""

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Everything comes from our own address; the only inline content is the renderer's icons."""


@dataclass(frozen=True, slots=True)
class _File:
    """A file of a route. `is_negotiated`: the caller's Accept-Encoding decides."""

    path: str
    media: str
    is_negotiated: bool = False


_ROUTES: Mapping[str, _File] = {
    "/openapi.json": _File("reference/openapi.json", "application/json", is_negotiated=True),
    "/docs/postman.json": _File("reference/postman.json", "application/json", is_negotiated=True),
    "/docs/llms.txt": _File("page/llms.txt", "text/plain; charset=utf-8", is_negotiated=True),
    **{
        f"/docs/{folder}/{path.name}": _File(
            f"{folder}/{path.name}", "text/plain; charset=utf-8", is_negotiated=True
        )
        for folder in _PAGES
        for path in sorted((_FILES / folder).glob("*.md"))
    },
    "/docs": _File("page/index.html", "text/html; charset=utf-8"),
    "/docs/start.js": _File("page/start.js", "text/javascript; charset=utf-8"),
    "/docs/style.css": _File("page/style.css", "text/css; charset=utf-8"),
    "/docs/swagger-ui-bundle.js": _File(
        "page/swagger-ui-bundle.js.gz", "text/javascript; charset=utf-8"
    ),
    "/docs/swagger-ui.css": _File("page/swagger-ui.css.gz", "text/css; charset=utf-8"),
}


def lambda_handler(event: Mapping[str, Any], _context: object) -> dict[str, Any]:
    """Answer one request of API Gateway (REST proxy event)."""
    request_id = event["requestContext"]["requestId"]
    # behind a custom domain the path also carries the domain's base path
    path = event["path"].partition("/v1")[2].rstrip("/")
    bind(request_id=request_id, route=path if path in _ROUTES else "unknown")
    began = perf_counter()
    try:
        reply = _answer(event, path)
    except ServiceError as error:
        reply = error_response(error, request_id, config().docs_base)
    log_response(
        method=event["httpMethod"],
        path=path,
        status=reply.status,
        code=reply.error_code,
        milliseconds=(perf_counter() - began) * 1000,
    )
    return to_gateway(reply, event)


def _answer(event: Mapping[str, Any], path: str) -> HttpResponse:
    if path not in _ROUTES:
        raise NotFound(f"The path {path}")
    if event["httpMethod"] not in _METHODS:
        raise MethodNotAllowed(event["httpMethod"], _METHODS)
    headers = headers_of(event)
    is_compressed = _ROUTES[path].is_negotiated and _accepts_gzip(headers)
    return add_etag(_reply(path, is_compressed=is_compressed), headers)


def _accepts_gzip(headers: Mapping[str, str]) -> bool:
    """Return whether Accept-Encoding names gzip, not with the weight 0 (RFC 9110, 12.5.3)."""
    for part in headers.get("accept-encoding", "").lower().split(","):
        coding, _, weight = part.partition(";")
        if coding.strip() == "gzip":
            return not weight or weight.strip().removeprefix("q=").strip("0. ") != ""
    return False


@cache
def _reply(path: str, *, is_compressed: bool) -> HttpResponse:
    """Return the response with a file; `is_compressed` compresses one that is not stored so."""
    file = _ROUTES[path]
    content = (_FILES / file.path).read_bytes()
    if is_compressed:
        content = gzip.compress(content, mtime=0)
    headers = {
        "Content-Type": file.media,
        "Cache-Control": f"public, max-age={_SECONDS}",
        "Content-Security-Policy": _POLICY,
        "Referrer-Policy": "no-referrer",
    }
    if file.is_negotiated:
        headers["Vary"] = "Accept-Encoding"
    if not (is_compressed or file.path.endswith(".gz")):
        return HttpResponse(200, content.decode(), headers)
    headers["Content-Encoding"] = "gzip"
    return HttpResponse(200, b64encode(content).decode(), headers, is_base64=True)
