"""Answers of the document: the two wrappers, the error envelope, headers, one per status."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from shared.kernel.errors import CODES
from tools.openapi.schemas import Schema, nullable, ref

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "integer"}
_URI: Schema = {"type": "string", "format": "uri"}

REQUEST_ID = "0d4b5a1e-6f0c-4c8e-9a57-0d8f2f6f5b3e"
BASE = "https://acme.stowage.example/api/v1"
DOCS = "https://docs.stowage.example"


def strict(properties: Mapping[str, Schema], **more: Any) -> Schema:
    """Make an object all of whose properties are always there."""
    return {
        "type": "object",
        **more,
        "properties": dict(properties),
        "required": list(properties),
    }


ENVELOPES: Mapping[str, Schema] = {
    "PageLinks": strict(
        {name: nullable(_URI) for name in ("first", "last", "prev", "next")},
        description="Addresses of other pages; null where there is none.",
    ),
    "PageMeta": strict(
        {
            "current_page": _NUMBER,
            "from": nullable(_NUMBER),
            "last_page": _NUMBER,
            "links": {"type": "array", "items": ref("PageLink")},
            "path": _URI,
            "per_page": _NUMBER,
            "to": nullable(_NUMBER),
            "total": _NUMBER,
        },
        description="Where the page lies; `total` counts every item that the filters let through.",
    ),
    "PageLink": strict({"url": nullable(_URI), "label": _TEXT, "active": {"type": "boolean"}}),
    "ErrorDetail": {
        "type": "object",
        "properties": {
            "code": {"type": "string", "enum": list(CODES)},
            "message": _TEXT,
            "doc_url": _URI,
            "request_id": _TEXT,
            "field": {"type": "string", "description": "validation_failed: the first field"},
            "scope": {"type": "string", "description": "missing_scope: the scope"},
            "feature": {"type": "string", "description": "feature_not_in_plan: the feature"},
            "upgrade_url": {**_URI, "description": "feature_not_in_plan: where to change the plan"},
            "offer": ref("LimitOffer"),
        },
        "required": ["code", "message", "doc_url", "request_id"],
    },
    "LimitOffer": strict(
        {
            "limit": _NUMBER,
            "used": _NUMBER,
            "plan": _TEXT,
            "next_plan": nullable(_TEXT),
            "upgrade_url": _URI,
        },
        description="limit_reached: the limit, and the plan that raises it.",
    ),
    "Problem": strict(
        {"field": _TEXT, "message": _TEXT},
        description="One thing that is wrong; paths such as `lines.3.item_code` count from 0.",
    ),
    "Error": strict(
        {
            "error": ref("ErrorDetail"),
            "errors": {"type": "array", "items": ref("Problem")},
            "message": {"type": "string", "description": "The same as error.message"},
        },
        description="The body of every error.",
    ),
}
"""Schemas that no model describes."""

HEADERS: Mapping[str, Schema] = {
    "X-Request-Id": {
        "description": "Names the request; quote it when asking for help.",
        "required": True,
        "schema": _TEXT,
    },
    "Location": {
        "description": "Address of the new resource, or of what was accepted.",
        "required": True,
        "schema": _URI,
    },
    "ETag": {
        "description": "Weak tag of the answer, for If-None-Match and If-Match.",
        "required": True,
        "schema": {"type": "string", "pattern": '^W/"[^"]+"$'},
    },
    "Idempotent-Replayed": {
        "description": "Present when the answer is that of an earlier request with the same key.",
        "schema": {"type": "string", "const": "true"},
    },
    "Retry-After": {
        "description": "Seconds to wait before the same request is sent again.",
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
    },
    "RateLimit-Limit": {
        "description": "Requests that the client or user may send per minute. Answers have this"
        " header and the two beside it as soon as the token was accepted.",
        "schema": {"type": "string", "pattern": "^[1-9][0-9]*$"},
    },
    "RateLimit-Remaining": {
        "description": "About how many of them are left in this minute.",
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
    },
    "RateLimit-Reset": {
        "description": "Seconds until the next minute begins, and all may be sent again.",
        "schema": {"type": "string", "pattern": "^([1-9]|[1-5][0-9]|60)$"},
    },
    "WWW-Authenticate": {
        "description": "How clients authenticate.",
        "required": True,
        "schema": _TEXT,
    },
}
"""Response headers by name."""


def headers(*names: str) -> Schema:
    """Refer to response headers; every answer has X-Request-Id."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-Id", *names)}


def counted(*names: str) -> Schema:
    """Refer to response headers of a route that asks for a token, whose requests are counted."""
    return headers(*names, "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")


def body(schema: Schema, example: Any) -> Schema:
    """Make the content of a JSON answer or request."""
    return {"application/json": {"schema": schema, "example": example}}


def single(name: str, example: Any, *, warns: bool = False) -> Schema:
    """Make the content `{data: object}`, or `{data: object, warning?}`."""
    schema = strict({"data": ref(name)})
    if warns:
        schema["properties"]["warning"] = {
            "type": "string",
            "description": "What may not be as it was meant.",
        }
    return body(schema, {"data": example})


def all_made(name: str, example: Any) -> Schema:
    """Make the content `{data: [objects]}` of what was made in one go."""
    data = {"type": "array", "items": ref(name)}
    return body(strict({"data": data}), {"data": [example]})


def page(name: str, example: Any, path: str) -> Schema:
    """Make the content `{data, links, meta}` of a list."""
    url = BASE + path
    only = f"{url}?page=1"
    properties = {
        "data": {"type": "array", "items": ref(name)},
        "links": ref("PageLinks"),
        "meta": ref("PageMeta"),
    }
    shown = {
        "data": [example],
        "links": {"first": only, "last": only, "prev": None, "next": None},
        "meta": {
            "current_page": 1,
            "from": 1,
            "last_page": 1,
            "links": [
                {"url": None, "label": "&laquo; Previous", "active": False},
                {"url": only, "label": "1", "active": True},
                {"url": None, "label": "Next &raquo;", "active": False},
            ],
            "path": url,
            "per_page": 25,
            "to": 1,
            "total": 1,
        },
    }
    return body(strict(properties), shown)


_EXTRAS: Mapping[str, Mapping[str, Any]] = {
    "validation_failed": {"field": "name"},
    "missing_scope": {"scope": "products:read"},
    "feature_not_in_plan": {
        "feature": "webhooks.enabled",
        "upgrade_url": "https://stowage.example/plans",
    },
    "limit_reached": {
        "offer": {
            "limit": 2,
            "used": 2,
            "plan": "essentials",
            "next_plan": "professional",
            "upgrade_url": "https://stowage.example/plans",
        }
    },
}
_PROBLEMS: Mapping[str, Sequence[Mapping[str, str]]] = {
    "validation_failed": [{"field": "name", "message": "is required"}],
    "rule_blocked": [{"field": "lines.0.item_code", "message": "PALLET is no inventory item"}],
}


def _example(code: str) -> Schema:
    problems = list(_PROBLEMS.get(code, []))
    message = CODES[code].meaning
    if problems:
        first = problems[0]
        message = f"{first['field']}: {first['message']}"
    detail = {
        "code": code,
        "message": message,
        "doc_url": f"{DOCS}/errors#{code}",
        "request_id": REQUEST_ID,
        **_EXTRAS.get(code, {}),
    }
    value = {"error": detail, "errors": problems, "message": message}
    return {"summary": CODES[code].meaning, "value": value}


_OWN_STATUSES: Mapping[str, Sequence[int]] = {}


class Refusals:
    """Error answers, each kept once under a name made of its codes."""

    def __init__(self) -> None:
        self.components: dict[str, Schema] = {}

    def by_status(
        self,
        codes: Iterable[str],
        other_statuses: Mapping[str, Sequence[int]] = _OWN_STATUSES,
        *,
        is_open: bool = False,
    ) -> dict[str, Schema]:
        """Make an operation's error answers: status → reference.

        Args:
            codes: What it may answer.
            other_statuses: Of codes that do not come under their own.
            is_open: It asks for no token, so its requests are not counted.
        """
        together: dict[int, list[str]] = {}
        for code in sorted(codes, key=list(CODES).index):
            for status in other_statuses.get(code, (CODES[code].status,)):
                together.setdefault(status, []).append(code)
        return {
            str(status): self._refer(status, together[status], is_open=is_open)
            for status in sorted(together)
        }

    def _refer(self, status: int, codes: Sequence[str], *, is_open: bool) -> Schema:
        name = "Or".join("".join(part.title() for part in code.split("_")) for code in codes)
        if any(CODES[code].status != status for code in codes):
            name += str(status)
        if is_open:
            name += "OfOpenRoute"
        if name not in self.components:
            self.components[name] = _refusal(status, codes, headers if is_open else counted)
        return {"$ref": f"#/components/responses/{name}"}


def _refusal(status: int, codes: Sequence[str], headers_of: Callable[..., Schema]) -> Schema:
    with_wait = {"duplicate_in_flight", "rate_limited", "service_unavailable"} & set(codes)
    lines = [f"- `{code}`: {CODES[code].meaning} {CODES[code].action}" for code in codes]
    narrowed = {"properties": {"error": {"properties": {"code": {"enum": list(codes)}}}}}
    return {
        "description": "\n".join([HTTPStatus(status).phrase, "", *lines]),
        "headers": headers_of(*(["Retry-After"] if with_wait else [])),
        "content": {
            "application/json": {
                "schema": {"allOf": [ref("Error"), narrowed]},
                "examples": {code: _example(code) for code in codes},
            }
        },
    }
