"""A test double of API Gateway in the process of the test.

It routes by `template.yaml`, calls the real authorizer, passes the proxy event of API Gateway to
the function, and returns the gateway responses that the template defines.
"""

import base64
import gzip
import importlib
import itertools
import json
import re
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any, cast
from urllib.parse import SplitResult, parse_qs, quote, urlencode, urlsplit

from botocore.exceptions import BotoCoreError, ClientError

from shared.kernel.errors import ServiceError
from tests.template import Event, Template

STAGE = "api"
LAMBDA_LIMIT = 6_291_456
"""Largest event or response of Lambda in bytes."""
TIMEOUT_MS = 29_000


class Headers(dict[str, str]):
    """Header values by case-insensitive name."""

    def __init__(self, pairs: Mapping[str, str]) -> None:
        super().__init__({name.lower(): value for name, value in pairs.items()})

    def __getitem__(self, name: str) -> str:
        return super().__getitem__(name.lower())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and super().__contains__(name.lower())

    def get(self, name: str, default: Any = None) -> Any:
        return super().get(name.lower(), default)


@dataclass(frozen=True, slots=True)
class Response:
    """The response that the caller receives."""

    status: int
    headers: Headers
    text: str
    content: bytes = b""
    """The body of a binary response."""
    sent_bytes: int | None = None
    """Size of the body between API Gateway and the caller, if it was compressed there."""

    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def data(self) -> Any:
        """The value of `data` in the body."""
        return self.json()["data"]

    def ok(self, status: int = 200) -> dict[str, Any]:
        """Return `data` of a request that must succeed with a status."""
        assert self.status == status, self.text
        data: dict[str, Any] = self.data
        return data

    @property
    def id(self) -> int:
        """The id of the resource that was created."""
        return int(self.ok(201)["id"])

    @property
    def code(self) -> str:
        """The code of the error envelope."""
        code: str = self.json()["error"]["code"]
        return code

    @property
    def problems(self) -> dict[str, str]:
        """The messages of the problems of an invalid request, by field."""
        return dict(self._problems("validation_failed"))

    @property
    def blocked(self) -> dict[str, str]:
        """The messages of the problems of a request that a rule blocks, by field."""
        return dict(self._problems("rule_blocked"))

    @property
    def invalid_fields(self) -> list[str]:
        """The fields of the problems of an invalid request."""
        return [field for field, _ in self._problems("validation_failed")]

    @property
    def conflicts(self) -> dict[str, str]:
        """The messages of the problems of a request that the state does not allow, by field."""
        return dict(self._problems(self.code, 409))

    def _problems(self, code: str, status: int = 422) -> list[tuple[str, str]]:
        assert (self.status, self.code) == (status, code), self.text
        return [(problem["field"], problem["message"]) for problem in self.json()["errors"]]


class LambdaContext:
    """The context of an invocation; its remaining time decreases."""

    function_name = "stowage"
    memory_limit_in_mb = 1769
    invoked_function_arn = "arn:aws:lambda:eu-west-1:123456789012:function:stowage"

    def __init__(self, remaining_ms: int = TIMEOUT_MS) -> None:
        self.aws_request_id = str(uuid.uuid4())
        self._ends = time.monotonic() + remaining_ms / 1000

    def get_remaining_time_in_millis(self) -> int:
        return int((self._ends - time.monotonic()) * 1000)


@dataclass(frozen=True, slots=True)
class _Route:
    event: Event
    segments: Sequence[str]

    def match(self, segments: Sequence[str]) -> tuple[int, ...] | None:
        """Return the rank of the match (lower is more specific), or None without a match."""
        marks: list[int] = []
        for mine, theirs in itertools.zip_longest(self.segments, segments):
            if mine is None:
                return None
            if mine.endswith("+}"):
                return (*marks, 2) if theirs else None
            if theirs is None or (not mine.startswith("{") and mine != theirs):
                return None
            marks.append(1 if mine.startswith("{") else 0)
        return tuple(marks)


@cache
def _routes(template: Template) -> list[_Route]:
    return [_Route(event, event.resource.strip("/").split("/")) for event in template.events()]


@lru_cache(4_096)
def _find(template: Template, method: str, path: str) -> Event | None:
    """Return the event of the most specific matching resource that has the method."""
    segments = path.strip("/").split("/")
    matches = [(mark, route) for route in _routes(template) if (mark := route.match(segments))]
    best = min((mark for mark, _ in matches), default=None)
    return next(
        (route.event for mark, route in matches if mark == best and method in route.event.methods),
        None,
    )


class Gateway:
    """The API of one stack.

    Args:
        template: The template of the stack.
        host: Default host name of requests.
        base_path: Base path of a custom domain, such as `/api`; functions receive it in `path`.
    """

    def __init__(self, template: Template, host: str, base_path: str = "") -> None:
        self.template = template
        self._host = host
        self._base_path = base_path
        self.remaining_ms = TIMEOUT_MS

    def request(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: str | bytes | None = None,
    ) -> Response:
        """Return the response to a request; `path` is relative to the stage (`/v1/products`)."""
        sent = {"Host": self._host, **(headers or {})}
        target = urlsplit(path)
        event = _find(self.template, method, target.path)
        if event is None:
            return self._own_answer("MISSING_AUTHENTICATION_TOKEN", str(uuid.uuid4()))
        proxy = self._proxy_event(event, target, method, headers=sent, body=body)
        request_id = proxy["requestContext"]["requestId"]
        if event.authorized:
            lower = Headers(sent)
            if not all(lower.get(name) for name in self.template.identity_headers()):
                return self._own_answer("UNAUTHORIZED", request_id)
            context = self._authorize(proxy)
            if isinstance(context, Response):
                return context
            proxy["requestContext"]["authorizer"] = context
        if len(json.dumps(proxy).encode()) > LAMBDA_LIMIT:
            return self._own_answer("REQUEST_TOO_LARGE", request_id)
        answer = _function(event.handler)(proxy, LambdaContext(self.remaining_ms))
        if len(json.dumps(answer).encode()) > LAMBDA_LIMIT:
            return self._own_answer("INTEGRATION_FAILURE", request_id)
        asked = Headers(sent).get("Accept-Encoding", "")
        response = _received(_response(answer), asked, self.template.minimum_compression_size())
        # A response to HEAD has no content, whatever the function returns.
        return replace(response, text="", content=b"") if method == "HEAD" else response

    def _authorize(self, proxy: Mapping[str, Any]) -> Mapping[str, Any] | Response:
        """Call the authorizer; return its context, or the gateway response if it refuses."""
        request_id = proxy["requestContext"]["requestId"]
        arn = f"arn:aws:execute-api:eu-west-1:123456789012:api/{STAGE}/GET/v1"
        request = {**proxy, "type": "REQUEST", "methodArn": arn}
        try:
            verdict = _function(self.template.authorizer_handler())(request, LambdaContext())
        except (ServiceError, BotoCoreError, ClientError):
            return self._own_answer("AUTHORIZER_FAILURE", request_id)
        except Exception as refusal:
            if str(refusal) != "Unauthorized":
                raise
            return self._own_answer("UNAUTHORIZED", request_id)
        (statement,) = verdict["policyDocument"]["Statement"]
        context: Mapping[str, Any] = verdict["context"]
        if statement["Effect"] == "Deny":
            return self._own_answer("ACCESS_DENIED", request_id, context["refusal"])
        assert all(isinstance(value, str) for value in context.values()), "context must be flat"
        return {**context, "principalId": verdict["principalId"]}

    def _proxy_event(
        self,
        event: Event,
        target: SplitResult,
        method: str,
        *,
        headers: Mapping[str, str],
        body: str | bytes | None,
    ) -> dict[str, Any]:
        path = target.path
        several = parse_qs(target.query, keep_blank_values=True)
        # The template declares every media type as binary, so bodies are encoded in base64.
        raw = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
        text = base64.b64encode(raw).decode() if raw else None
        return {
            "resource": event.resource,
            "path": self._base_path + path,
            "httpMethod": method,
            "headers": dict(headers),
            "multiValueHeaders": {name: [value] for name, value in headers.items()},
            "queryStringParameters": {name: values[-1] for name, values in several.items()} or None,
            "multiValueQueryStringParameters": several or None,
            "pathParameters": None,
            "stageVariables": None,
            "requestContext": {
                "requestId": str(uuid.uuid4()),
                "stage": STAGE,
                "httpMethod": method,
                "path": f"/{STAGE}{path}",
                "resourcePath": event.resource,
                "accountId": "123456789012",
                "apiId": "api",
                "identity": {"sourceIp": "203.0.113.7", "userAgent": "test"},
            },
            "body": text,
            "isBase64Encoded": text is not None,
        }

    def _own_answer(self, kind: str, request_id: str, refusal: str = "") -> Response:
        declared = self.template.gateway_response(kind)
        headers = {
            name: value.replace("$context.requestId", request_id)
            for name, value in declared.headers.items()
        }
        body = declared.body.replace("$context.requestId", request_id)
        body = body.replace("$context.authorizer.refusal", refusal)
        return Response(declared.status, Headers(headers), body)


def _function(handler: str) -> Any:
    module, _, name = handler.rpartition(".")
    return getattr(importlib.import_module(module), name)


def _response(answer: Mapping[str, Any]) -> Response:
    """Return the response of a function, validated as strictly as API Gateway validates it."""
    several = {
        name: ", ".join(values) for name, values in (answer.get("multiValueHeaders") or {}).items()
    }
    headers = Headers({**several, **(answer.get("headers") or {})})
    assert isinstance(answer["statusCode"], int)
    assert isinstance(answer["body"], str)
    assert all(isinstance(value, str) for value in headers.values())
    if not answer.get("isBase64Encoded"):
        return Response(answer["statusCode"], headers, answer["body"])
    return Response(answer["statusCode"], headers, "", base64.b64decode(answer["body"]))


def _received(response: Response, asked: str, minimum: int) -> Response:
    """Return a response as API Gateway compresses it, and as the HTTP client decodes it.

    The header Content-Encoding is removed with the encoding.

    API Gateway compresses responses of at least `minimum` bytes whose caller names gzip, except
    those that the function has encoded.
    """
    body = response.content or response.text.encode()
    if "Content-Encoding" in response.headers:
        headers = Headers(response.headers)
        assert headers.pop("content-encoding") == "gzip"
        content = gzip.decompress(body) if body else b""
        text = content.decode(errors="replace")  # also of programs
        return Response(response.status, headers, text, content, sent_bytes=len(body))
    if len(body) < minimum or not re.search(r"gzip(?!;\s*q=0(\.0*)?(,|$))", asked, re.IGNORECASE):
        return response
    return replace(response, sent_bytes=len(gzip.compress(body)))


@dataclass(frozen=True, slots=True)
class Form:
    """A multipart/form-data form; `file` is the file name and content of its field `file`."""

    fields: Mapping[str, str]
    file: tuple[str, bytes] | None = None
    boundary: str = "----stowage-form"

    @property
    def media(self) -> str:
        return f"multipart/form-data; boundary={self.boundary}"

    def encoded(self) -> bytes:
        parts = [(f'name="{name}"', value.encode()) for name, value in self.fields.items()]
        if self.file:
            parts.append((f'name="file"; filename="{self.file[0]}"', self.file[1]))
        written = [
            f"--{self.boundary}\r\nContent-Disposition: form-data; {name}\r\n\r\n".encode()
            + value
            + b"\r\n"
            for name, value in parts
        ]
        return b"".join(written) + f"--{self.boundary}--\r\n".encode()


@dataclass(frozen=True, slots=True)
class Erp:
    """An ERP that calls the API with a token; paths are relative to its base address."""

    gateway: Gateway
    token: str | None
    headers: Mapping[str, str] = field(default_factory=dict)

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        key: str | None = None,
        query: Mapping[str, object] | None = None,
        raw: str | bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Send a request; `raw` is an unencoded body, `key` the Idempotency-Key."""
        sent = {"Accept": "application/json", **self.headers}
        if self.token is not None:
            sent["Authorization"] = f"Bearer {self.token}"
        if body is not None or raw is not None:
            sent["Content-Type"] = "application/json"
        if isinstance(body, Form):
            sent["Content-Type"], raw = body.media, body.encoded()
        if key is not None:
            sent["Idempotency-Key"] = key
        text = raw if raw is not None else (None if body is None else json.dumps(body))
        question = f"?{urlencode(dict(query), quote_via=quote)}" if query else ""
        return self.gateway.request(
            method, f"/v1{path}{question}", headers={**sent, **(headers or {})}, body=text
        )

    def get(self, path: str, **more: Any) -> Response:
        return self.send("GET", path, **more)

    def post(self, path: str, body: object = None, **more: Any) -> Response:
        return self.send("POST", path, body, **more)

    def put(self, path: str, body: object = None, **more: Any) -> Response:
        return self.send("PUT", path, body, **more)

    def patch(self, path: str, body: object = None, **more: Any) -> Response:
        return self.send("PATCH", path, body, **more)

    def delete(self, path: str, body: object = None, **more: Any) -> Response:
        return self.send("DELETE", path, body, **more)

    def upload(
        self,
        path: str,
        fields: Mapping[str, str],
        file: tuple[str, bytes] | None = None,
        **more: Any,
    ) -> Response:
        """Send a form; `file` is the file name and content of its field `file`."""
        return self.send("POST", path, Form(fields, file), **more)

    def follow(self, url: str) -> Response:
        """Send a GET request to an absolute link of a response."""
        target = urlsplit(url)
        path = target.path.partition("/v1")[2]
        question = f"?{target.query}" if target.query else ""
        return self.send("GET", path + question)

    def walk(self, path: str, **query: object) -> list[dict[str, Any]]:
        """Return all rows of a list, read page by page by `links.next`."""
        answer = self.get(path, query=query)
        rows: list[dict[str, Any]] = []
        while True:
            assert answer.status == 200, answer.text
            page = answer.json()
            rows += page["data"]
            if page["links"]["next"] is None:
                return rows
            answer = self.follow(cast("str", page["links"]["next"]))
