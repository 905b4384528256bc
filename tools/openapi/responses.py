"""The responses of the document: wrappers, error envelope, headers and error responses."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel

from shared.kernel.errors import CODES
from tools.openapi.schemas import Schema, component_schemas, nullable, ref

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "integer"}
_URI: Schema = {"type": "string", "format": "uri"}

REQUEST_ID = "0d4b5a1e-6f0c-4c8e-9a57-0d8f2f6f5b3e"
BASE = "https://acme.stowage.example/api/v1"
DOCS = "https://docs.stowage.example"


def strict(properties: Mapping[str, Schema], **more: Any) -> Schema:
    """Return the schema of an object with only required properties."""
    return {"type": "object", **more, "properties": dict(properties), "required": list(properties)}


ENVELOPES: Mapping[str, Schema] = {
    "PageLinks": strict(
        {name: nullable(_URI) for name in ("first", "last", "prev", "next")},
        description="URLs of other pages; null when a page does not exist.",
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
        description="Position of the page; `total` is the number of items that match the filters.",
    ),
    "PageLink": strict({"url": nullable(_URI), "label": _TEXT, "active": {"type": "boolean"}}),
    "ErrorCode": {
        "type": "string",
        "enum": list(CODES),
        "description": "Code of the error; the page of each code says what to do.",
    },
    "ErrorDetail": {
        "type": "object",
        "properties": {
            "code": ref("ErrorCode"),
            "message": _TEXT,
            "doc_url": _URI,
            "request_id": _TEXT,
            "field": {
                "type": "string",
                "description": "validation_failed: the first invalid field",
            },
            "scope": {"type": "string", "description": "missing_scope: the required scope"},
            "feature": {
                "type": "string",
                "description": "feature_not_in_plan: the missing feature",
            },
            "upgrade_url": {**_URI, "description": "feature_not_in_plan: where to change the plan"},
            "offer": ref("LimitOffer"),
            "approval_id": {
                "type": "integer",
                "description": "approval_required: the approval that a supervisor decides",
            },
            "latest": ref("LatestOfFeed"),
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
    "LatestOfFeed": strict(
        {"position": _NUMBER, "epoch": _NUMBER},
        description="gone at /changes: the end of the feed.",
    ),
    "Problem": strict(
        {"field": _TEXT, "message": _TEXT},
        description="One problem; indexes in paths such as `lines.3.item_code` start at 0.",
    ),
    "ErrorResponse": strict(
        {
            "error": ref("ErrorDetail"),
            "errors": {"type": "array", "items": ref("Problem")},
            "message": {"type": "string", "description": "The same as error.message"},
        },
        description="The body of every error.",
    ),
}
"""Schemas without a pydantic model."""

HEADERS: Mapping[str, Schema] = {
    "X-Request-Id": {
        "description": "Id of the request; include it in support requests.",
        "required": True,
        "schema": _TEXT,
    },
    "Location": {
        "description": "URL of the created or accepted resource.",
        "required": True,
        "schema": _URI,
    },
    "ETag": {
        "description": "Weak entity tag of the response, for If-None-Match and If-Match.",
        "required": True,
        "schema": {"type": "string", "pattern": '^W/"[^"]+"$'},
    },
    "Content-Disposition": {
        "description": "`attachment` with the name of the file.",
        "required": True,
        "schema": {"type": "string", "pattern": '^attachment; filename="[^"]+"$'},
    },
    "Idempotent-Replayed": {
        "description": "`true` when the response is that of an earlier request with the same key.",
        "schema": {"type": "string", "const": "true"},
    },
    "Retry-After": {
        "description": "Seconds to wait before the request is repeated.",
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
    },
    "RateLimit-Limit": {
        "description": "Requests per minute that the client or user may send. Every response to a"
        " request with a valid token has the three RateLimit headers.",
        "schema": {"type": "string", "pattern": "^[1-9][0-9]*$"},
    },
    "RateLimit-Remaining": {
        "description": "Approximate number of requests left in this minute.",
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
    },
    "RateLimit-Reset": {
        "description": "Seconds until the next minute that has requests left.",
        "schema": {"type": "string", "pattern": "^([1-9]|[1-9][0-9]|1[01][0-9]|120)$"},
    },
    "X-Ignored-Parameters": {
        "description": "Query parameters that the route does not have and that were ignored: at"
        " most ten names, percent-encoded.",
        "schema": _TEXT,
    },
    "X-Ignored-Fields": {
        "description": "Fields of the body that the route does not have and that were ignored: at"
        " most 20 paths as in errors (`lines.3.unit`), percent-encoded.",
        "schema": _TEXT,
    },
    "WWW-Authenticate": {
        "description": "How to authenticate: `Bearer`, with `error` where a token was sent, or"
        " `Basic` for the token routes. API Gateway renames the header of a function to"
        " `x-amzn-Remapped-WWW-Authenticate`.",
        "schema": _TEXT,
    },
}
"""Response headers by name."""


def headers(*names: str) -> Schema:
    """Return references to response headers, including X-Request-Id."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-Id", *names)}


def counted(*names: str) -> Schema:
    """Return references to response headers, including those of the rate limit."""
    return headers(*names, "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")


def body(schema: Schema, example: Any) -> Schema:
    """Return the content of a JSON request or response."""
    return {"application/json": {"schema": schema, "example": example}}


class Wrappers:
    """Contents of successful responses; their schemas have names, which generated clients use."""

    def __init__(self) -> None:
        self.schemas: dict[str, Schema] = {}

    def single(
        self, name: str, example: Any, *, warns: bool = False, beside: type[BaseModel] | None = None
    ) -> Schema:
        """Return the content `{data: object}`, also with `warning?` or the fields of `beside`."""
        schema = strict({"data": ref(name)}, description=f"The response with one {name}.")
        if warns:
            schema["properties"]["warning"] = {
                "type": "string",
                "description": "A possible mistake in the request.",
            }
        wrapper = f"{name}ResponseWithWarning" if warns else f"{name}Response"
        if beside:
            found = component_schemas([], [beside])[beside.__name__]
            schema["properties"] |= found["properties"]
            wrapper = f"{name}ResponseWith{beside.__name__}"
        return body(self._named(wrapper, schema), {"data": example})

    def whole_list(
        self, name: str, example: Any, beside: tuple[type[BaseModel], Any] | None
    ) -> Schema:
        """Return the content `{data: array}`, also with the fields of `beside` and its example."""
        properties: Schema = {"data": {"type": "array", "items": ref(name)}}
        others: Schema = {}
        if beside:
            model, others = beside
            properties |= component_schemas([], [model])[model.__name__]["properties"]
        schema = strict(properties, description=f"A list of {name}.")
        return body(self._named(f"{name}ListResponse", schema), {"data": [example], **others})

    def page(self, name: str, example: Any, path: str) -> Schema:
        """Return the content `{data, links, meta}` of a list."""
        properties = {
            "data": {"type": "array", "items": ref(name)},
            "links": ref("PageLinks"),
            "meta": ref("PageMeta"),
        }
        schema = strict(properties, description=f"A page of a list of {name}.")
        return body(self._named(f"{name}Page", schema), _page_example(example, BASE + path))

    def _named(self, name: str, schema: Schema) -> Schema:
        if self.schemas.setdefault(name, schema) != schema:
            raise ValueError(f"Two schemas are called {name}.")
        return ref(name)


def _page_example(example: Any, url: str) -> Any:
    """Return the only page of a list with one entry."""
    url = url.replace("{id}", "1")
    only = f"{url}?page=1"
    return {
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
    "rule_blocked": [
        {"field": "lines.0.item_code", "message": "product PALLET is not kept in stock"}
    ],
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


_NO_OTHER_STATUSES: Mapping[str, Sequence[int]] = {}


class Refusals:
    """Error responses; equal ones are shared under a name made of their codes."""

    def __init__(self) -> None:
        self.components: dict[str, Schema] = {}

    def by_status(
        self,
        codes: Iterable[str],
        other_statuses: Mapping[str, Sequence[int]] = _NO_OTHER_STATUSES,
        *,
        is_open: bool = False,
    ) -> dict[str, Schema]:
        """Return the error responses of an operation: status → reference.

        Args:
            codes: The error codes of the operation.
            other_statuses: Code → statuses that replace the usual one.
            is_open: Whether the route needs no token, so that its requests are not limited.
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


def _may_be_stored(code: str) -> bool:
    """Return whether a refusal may be repeated under its Idempotency-Key."""
    # Depending on its status, `import_refused` is stored although its code is not.
    return CODES[code].is_stored or code == "import_refused"


_WITH_WAIT = {"tenant_suspended", "duplicate_in_flight", "rate_limited", "service_unavailable"}
"""Codes that may have Retry-After."""


def _refusal(status: int, codes: Sequence[str], headers_of: Callable[..., Schema]) -> Schema:
    sent = ["Retry-After"] if _WITH_WAIT & set(codes) else []
    sent += ["WWW-Authenticate"] if status == HTTPStatus.UNAUTHORIZED else []
    sent += ["Idempotent-Replayed"] if any(_may_be_stored(code) for code in codes) else []
    lines = [f"- `{code}`: {CODES[code].meaning} {CODES[code].action}" for code in codes]
    return {
        "description": "\n".join([HTTPStatus(status).phrase, "", *lines]),
        "x-error-codes": list(codes),
        "headers": headers_of(*sent),
        "content": {
            "application/json": {
                "schema": ref("ErrorResponse"),
                "examples": {code: _example(code) for code in codes},
            }
        },
    }
