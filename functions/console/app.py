"""The web console, open to everyone: the page, and the files that it loads.

GET /console/                    the page; the address of a screen, as /console/waves/7, has it too
GET /console/floor/              the page of the floor, likewise
GET /console/floor/worker.js     the worker that keeps the floor in the browser
GET /console/{version}/{file}    a file; {version} is a hash of all files

The addresses of files change with their content, so browsers keep the files for good and ask only
for the page again. A page of another release finds its files no longer, and says so.

The function needs neither rights nor packages. It has no layers: the first visitor of the day does
not wait for the import of what other functions need.
"""

import json
import os
import sys
from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path, PurePosixPath
from time import perf_counter
from typing import Any, NamedTuple

from functions.console import content

_FOLDER = Path(__file__).parent / "files"
_CONSOLE = content.read(_FOLDER)
_FILES = frozenset(_CONSOLE.files)
_SCREENS = frozenset(_CONSOLE.screens)

_FLOOR = f"/console/{content.FLOOR}"
_METHODS = ("GET", "HEAD")
_NOT_FOUND = "The route does not exist."


class _Reply(NamedTuple):
    """A response. `path` is what the log shows: no part of an address that somebody made up."""

    status: int
    body: str
    headers: Mapping[str, str]
    is_base64: bool = False
    code: str | None = None
    route: str = "unknown"
    path: str = "/console"


def lambda_handler(event: Mapping[str, Any], _context: object) -> dict[str, Any]:
    """Answer one request of API Gateway (REST proxy event)."""
    began = perf_counter()
    method, request_id = event["httpMethod"], event["requestContext"]["requestId"]
    # behind a custom domain the path also carries the domain's base path
    reply = _answer(event["path"].partition("/v1/console")[2], event, request_id)
    _log(reply, method, request_id, (perf_counter() - began) * 1000)
    return {
        "statusCode": reply.status,
        "headers": {"X-Request-Id": request_id, **_security(os.environ, reply), **reply.headers},
        "body": "" if method == "HEAD" else reply.body,
        "isBase64Encoded": reply.is_base64,
    }


def _answer(below: str, event: Mapping[str, Any], request_id: str) -> _Reply:
    """Return the response to a request; `below` is the path after that of the console."""
    name = below.removeprefix("/")
    first, _, file = name.partition("/")
    if first == _CONSOLE.version and file in _FILES:
        found = _file(file)
    elif name == content.WORKER:
        found = _worker(event)
    elif not name or first in _SCREENS:
        found = _page(below, event)
    elif event["httpMethod"] in _METHODS and _accepts_pages(event):
        # the page says in the language of the person that there is no such screen
        return _page(below, {})._replace(status=404, route="unknown", path="/console")
    else:
        return _error(404, "not_found", _NOT_FOUND, request_id)
    if event["httpMethod"] in _METHODS:
        return found
    allowed = ", ".join(_METHODS)
    message = f"This route does not allow {event['httpMethod']}; allowed: {allowed}."
    refused = _error(405, "method_not_allowed", message, request_id, {"Allow": allowed})
    return refused._replace(route=found.route, path=found.path)


def _accepts_pages(event: Mapping[str, Any]) -> bool:
    headers = event.get("headers") or {}
    return any(key.lower() == "accept" and "text/html" in value for key, value in headers.items())


@cache
def _file(name: str) -> _Reply:
    headers = {
        "Content-Type": content.MEDIA_TYPES[PurePosixPath(name).suffix],
        "Content-Encoding": "gzip",  # all browsers accept it
        "Cache-Control": "public, max-age=31536000, immutable",
    }
    data = b64encode(content.compressed(_FOLDER, name)).decode()
    path = f"/console/{_CONSOLE.version}/{name}"
    return _Reply(200, data, headers, is_base64=True, route="/console/{version}/{file}", path=path)


def _worker(event: Mapping[str, Any]) -> _Reply:
    """Return the worker of the floor: its address stays, so that browsers find the next release."""
    found = _Reply(
        200,
        _CONSOLE.worker,
        {"Content-Type": content.MEDIA_TYPES[".js"]},
        route=f"/console/{content.WORKER}",
        path=f"/console/{content.WORKER}",
    )
    return _asked_again(found, _CONSOLE.version, event)


def _page(below: str, event: Mapping[str, Any]) -> _Reply:
    """Return the page; its base is relative, because only the caller knows the whole address."""
    depth = below.count("/")
    base = "../" * (depth - 1) or ("./" if below else "console/")
    first = below.split("/")[1:2]
    head, rest = _CONSOLE.pages[content.FLOOR if first == [content.FLOOR] else ""]
    page = _Reply(
        200,
        f'{head}<base href="{base}" />{rest}',
        {"Content-Type": "text/html; charset=utf-8"},
        route="/console",
        path="/".join(("/console", *first)),
    )
    return _asked_again(page, f"{_CONSOLE.version}.{depth}", event)


def _asked_again(reply: _Reply, tag: str, event: Mapping[str, Any]) -> _Reply:
    """Return a response that browsers ask for again; without its body if they have this one."""
    headers = {**reply.headers, "Cache-Control": "no-cache", "ETag": f'W/"{tag}"'}
    known = {key.lower(): value for key, value in (event.get("headers") or {}).items()}
    named = [one.strip().removeprefix("W/") for one in known.get("if-none-match", "").split(",")]
    tagged = reply._replace(headers=headers)
    is_known = f'"{tag}"' in named or "*" in named
    return tagged._replace(status=304, body="") if is_known else tagged


def _error(
    status: int, code: str, message: str, request_id: str, headers: Mapping[str, str] | None = None
) -> _Reply:
    """Return the error envelope, as all functions have it."""
    docs = os.environ.get("DOCS_BASE", "https://docs.stowage.example").rstrip("/")
    error = {
        "code": code,
        "message": message,
        "doc_url": f"{docs}/errors#{code}",
        "request_id": request_id,
    }
    body = json.dumps({"error": error, "errors": [], "message": message}, separators=(",", ":"))
    own = {"Content-Type": "application/json", "Cache-Control": "no-store", **(headers or {})}
    return _Reply(status, body, own, code=code)


def _security(environment: Mapping[str, str], reply: _Reply) -> Mapping[str, str]:
    """Return the headers that let a page load and call nothing but the service.

    The floor also compiles the reader of its camera, which is WebAssembly.
    """
    scripts = "'self' 'wasm-unsafe-eval'" if reply.path == _FLOOR else "'self'"
    return {
        "Content-Security-Policy": f"default-src 'none'; script-src {scripts}; style-src 'self'; "
        f"img-src 'self' data: blob:; connect-src 'self' {_storage(environment)}; "
        "manifest-src 'self'; worker-src 'self'; "
        "base-uri 'self'; form-action 'none'; frame-ancestors 'none'",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        # of every response, as in `shared.http.envelope`
        "Strict-Transport-Security": "max-age=31536000",
        "X-Content-Type-Options": "nosniff",
    }


def _storage(environment: Mapping[str, str]) -> str:
    """Return the addresses of the buckets to which large files are sent, and from which they come.

    `POST /imports/uploads` and `GET /imports/{id}/error-report` return them as botocore makes
    them, which leaves out one Region.
    """
    if local := environment.get("AWS_ENDPOINT_URL"):
        return local.rstrip("/")
    region = environment["AWS_DEFAULT_REGION"]
    place = "s3" if region == "us-east-1" else f"s3.{region}"
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    buckets = (environment["IMPORT_BUCKET"], environment["IMPORT_WORK_BUCKET"])
    return " ".join(f"https://{bucket}.{place}.{suffix}" for bucket in buckets)


def _log(reply: _Reply, method: str, request_id: str, milliseconds: float) -> None:
    """Write the log line of a request, in the form of the other functions."""
    if os.environ.get("POWERTOOLS_LOG_LEVEL", "INFO") not in {"DEBUG", "INFO"}:
        return
    line = {
        "level": "INFO",
        "message": "answered",
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "service": "stowage",
        "request_id": request_id,
        "route": reply.route,
        **({"code": reply.code} if reply.code else {}),
        "read_units": 0,
        "write_units": 0,
        "method": method,
        "path": reply.path,
        "status": reply.status,
        "milliseconds": round(milliseconds),
    }
    sys.stdout.write(f"{json.dumps(line, separators=(',', ':'))}\n")
