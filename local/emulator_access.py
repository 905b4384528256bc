"""Who may call the emulator: the wrapper in front of its application.

MiniStack serves everybody who reaches its port, whatever the access key, and answers web pages of
all origins. The wrapper lets pass

- requests to the API that the template deploys, which checks its tokens itself,
- requests of the page of errors, to which the `doc_url` of errors leads,
- requests that are signed with the access key of the run or of a session that the emulator issued:
  in headers, in the query of a presigned URL, or in a form that is uploaded to a bucket.

Web pages may only send requests to their own address, and to a bucket whose CORS rules allow them.
"""

import hmac
import json
import re
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import parse_qs

from ministack.core import sigv4
from ministack.core.router import detect_service
from ministack.services import s3, sts

from local.request_checks import host_refusal, origin_refusal
from local.settings import ROOT, AccessKey

_API = "/_aws/execute-api/"
_READY = "/_ministack/ready"
_ERRORS = "/errors"
_ERRORS_PAGE = ROOT / "docs" / "reference" / "errors.md"
_ANCHOR = re.compile(r"&lt;a id=&quot;(\w+)&quot;&gt;&lt;/a&gt;")
_FORBIDDEN = 403
_POLICY_VIOLATION = 1008
"""Close code of a WebSocket."""

_CORS_PREFIX = b"access-control-"
_SCOPE_PARTS = 5
_UNSIGNED = (
    "The request is not signed with an access key of this run. Its key is in .local/credentials"
)

type AsgiApp = Callable[..., Any]
type Scope = Mapping[str, Any]
type Message = MutableMapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Request:
    """A request as the emulator reads it."""

    method: str
    path: str
    raw_path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    """By name in lower case; the values of a name that occurs repeatedly are joined by commas."""
    scope: Scope

    @classmethod
    def of(cls, scope: Scope) -> "_Request":
        headers: dict[str, str] = {}
        for raw_name, raw in scope["headers"]:
            name, value = raw_name.decode("latin-1").lower(), sigv4.decode_header_value(raw)
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        raw_path = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
        return cls(scope["method"], scope["path"], raw_path, query, headers, scope)

    def values(self, name: str) -> list[str]:
        """Return the values of a header."""
        return [
            value.decode("latin-1")
            for each, value in self.scope["headers"]
            if each.lower() == name.encode()
        ]

    @property
    def bucket(self) -> str:
        """The bucket that the path addresses, if the request is one to S3."""
        return self.path.lstrip("/").partition("/")[0]

    @property
    def needs_no_key(self) -> bool:
        """Whether the request is to an API, but not to its connections, or asks for readiness."""
        if self.path.startswith(_API):
            _, _, rest = self.path.removeprefix(_API).partition("/")
            return "/@connections" not in rest
        return self.path == _READY and self.method == "GET"


@dataclass(frozen=True, slots=True)
class ProtectedApp:
    """The application of the emulator behind the checks of this module.

    Attributes:
        app: The application.
        port: Port at which it is served.
        key: The access key of the run.
    """

    app: AsgiApp
    port: int
    key: AccessKey

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Serve or refuse a request."""
        if scope["type"] == "websocket":  # the template has no WebSocket API
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        elif scope["type"] == "http":
            await self._serve(_Request.of(scope), receive, send)
        else:
            await self.app(scope, receive, send)

    async def _serve(self, request: _Request, receive: Any, send: Any) -> None:
        refusal = host_refusal(request.values("host"), self.port) or _page_refusal(request)
        if refusal:
            await _refuse(send, refusal)
        elif request.path == _ERRORS and request.method == "GET":
            await _answer(send, 200, {"Content-Type": "text/html; charset=utf-8"}, _errors_page())
        elif request.needs_no_key:
            await self.app(request.scope, receive, send)
        elif request.method == "OPTIONS" and "origin" in request.headers:
            await _answer(send, *s3.cors_preflight(request.bucket, request.path, request.headers))
        else:
            await self._serve_signed(request, receive, send)

    async def _serve_signed(self, request: _Request, receive: Any, send: Any) -> None:
        messages = await _read(receive)
        body = b"".join(message.get("body", b"") for message in messages)
        refusal = _signature_refusal(request, body, self.key)
        if refusal:
            await _refuse(send, refusal)
        else:
            with_cors = _with_cors_of_bucket(request, send)
            await self.app(request.scope, _replay(messages, receive), with_cors)


def _errors_page() -> bytes:
    """Return the page of errors as it is written, with its anchors."""
    text = _ANCHOR.sub(r'<a id="\1"></a>', escape(_ERRORS_PAGE.read_text(encoding="utf-8")))
    return f"<!doctype html><title>Errors</title><pre>{text}</pre>".encode()


def _page_refusal(request: _Request) -> str | None:
    origins = request.values("origin")
    refusal = origin_refusal(request.values("host"), origins, request.values("sec-fetch-site"))
    if refusal and not request.needs_no_key and len(origins) == 1 and _bucket_allows(request):
        return None
    return refusal


def _bucket_allows(request: _Request) -> bool:
    """Return whether the CORS rules of the addressed bucket allow the request of a web page."""
    method = request.method
    if method == "OPTIONS":
        method = request.headers.get("access-control-request-method", "")
    return bool(s3.cors_response_headers(request.bucket, method, request.headers))


def _signature_refusal(request: _Request, body: bytes, key: AccessKey) -> str | None:
    """Return why a request is refused for its signature; None if it is signed as it must be."""
    if request.headers.get("authorization", "").startswith("AWS4-HMAC-SHA256 "):
        signature = sigv4.parse_header_signature(request.headers)
        return _mismatch(request, body, key, signature)
    # X-Amz-Target is not signed here, and would lead to another service.
    if detect_service(request.method, request.path, request.headers, request.query) != "s3":
        return _UNSIGNED
    if "X-Amz-Signature" in request.query:
        signature = sigv4.parse_query_signature(request.query)
        return _mismatch(request, body, key, signature, presigned=True)
    is_upload = request.bucket and request.path == f"/{request.bucket}" and not request.query
    if request.method == "POST" and is_upload:
        return _form_mismatch(request, body, key)
    return _UNSIGNED


def _mismatch(
    request: _Request,
    body: bytes,
    key: AccessKey,
    signature: sigv4.HeaderSignature | tuple[str, str],
    *,
    presigned: bool = False,
) -> str | None:
    if isinstance(signature, tuple):
        return str(signature[1])
    secret = _secret_of(signature.access_key_id, key)
    if secret is None:
        return _UNSIGNED
    # The emulator checks the end of a presigned URL.
    problem = None if presigned else sigv4.request_time_failure(signature)
    problem = problem or sigv4.header_signature_failure(
        signature, secret, request.method, request.raw_path, request.query, request.headers, body,
        presigned=presigned,
    )  # fmt: skip
    return str(problem[1]) if problem else None


def _form_mismatch(request: _Request, body: bytes, key: AccessKey) -> str | None:
    """Return why a form is refused for its signature; the emulator checks what its policy says."""
    parts = s3._parse_multipart_form(request.headers.get("content-type", ""), body)
    fields = {name.lower(): value.decode("latin-1") for name, _, _, value in parts}
    scope = fields.get("x-amz-credential", "").split("/")
    if len(scope) != _SCOPE_PARTS or (secret := _secret_of(scope[0], key)) is None:
        return _UNSIGNED
    _, day, region, service, _ = scope
    expected = sigv4.calculate_signature(secret, day, region, service, fields.get("policy", ""))
    sent = fields.get("x-amz-signature", "")
    is_right = hmac.compare_digest(expected.encode(), sent.encode())
    return None if is_right else str(sigv4.SIGNATURE_MISMATCH)


def _secret_of(access_key_id: str, key: AccessKey) -> str | None:
    """Return the secret of the key of the run, or of a session that has not ended."""
    if access_key_id == key.id:
        return key.secret
    session = sts._sessions.get(access_key_id)
    if session is None or sts._session_expired(session):
        return None
    secret: str = session["SecretAccessKey"]
    return secret


async def _read(receive: Any) -> list[Message]:
    """Return the messages with the body of a request."""
    messages: list[Message] = [await receive()]
    while messages[-1].get("more_body"):
        messages.append(await receive())
    return messages


def _replay(messages: list[Message], receive: Any) -> Callable[[], Any]:
    """Return a channel that yields messages which were read, then the following ones."""
    left = iter(messages)

    async def replayed() -> Message:
        for message in left:
            return message
        following: Message = await receive()
        return following

    return replayed


def _with_cors_of_bucket(request: _Request, send: Any) -> Callable[[Message], Any]:
    """Return a channel that replaces the CORS headers of the emulator by those of the bucket."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [
                (name, value)
                for name, value in message["headers"]
                if not name.lower().startswith(_CORS_PREFIX)
            ]
            own = s3.cors_response_headers(request.bucket, request.method, request.headers)
            message["headers"] = [*kept, *_encoded(own)]
        await send(message)

    return sent


async def _refuse(send: Any, reason: str) -> None:
    """Answer a request that is refused in the format of the JSON interfaces of AWS."""
    body = json.dumps({"__type": "AccessDeniedException", "message": reason}).encode()
    await _answer(send, _FORBIDDEN, {"Content-Type": "application/json"}, body)


async def _answer(send: Any, status: int, headers: Mapping[str, str], body: bytes) -> None:
    own = {**headers, "Content-Length": str(len(body))}
    await send({"type": "http.response.start", "status": status, "headers": _encoded(own)})
    await send({"type": "http.response.body", "body": body})


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]
