"""The declaration of a route: everything that checks, documents or tests it derives from here."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel

from shared.kernel.db.collection import Record
from shared.kernel.db.listing import Page
from shared.kernel.list_parameters import ListParameters

type Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


class Idempotency(Enum):
    """Whether a write needs, takes or ignores the header Idempotency-Key."""

    REQUIRED = "required"
    OPTIONAL = "optional"


@dataclass(frozen=True, slots=True)
class ResourceResponse:
    """What a handler answers: the view of one resource, and where it lives when it is new.

    `warning` stands beside `data`: what succeeded, but may not be what the caller meant.
    """

    view: BaseModel | Sequence[BaseModel]
    status: int = 200
    location: str | None = None
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class TextResponse:
    """What a handler answers that is not JSON: a text of the media type that its route declares."""

    text: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FileResponse:
    """What a handler answers with a file of the media type that its route declares."""

    content: bytes
    name: str


@dataclass(frozen=True, slots=True)
class RedirectResponse:
    """What a handler answers where the thing asked for lies at another address for a while."""

    url: str


@dataclass(frozen=True, slots=True)
class ListResponse[E]:
    """What a list handler answers: the page as read, and how a record is shown."""

    page: Page[E]
    view: Callable[[Record[E]], BaseModel]


@dataclass(frozen=True, slots=True)
class Operation:
    """One route.

    `path` is relative to the base address, with `{id}` for the id of the resource.
    `scope` is what an integration client needs, `permission` what a user needs (None:
    a valid token is enough). `answer` is the model of what is in `data`, or the media
    type of an answer that is not JSON. `errors` are the codes it answers besides those that
    every route may answer.
    """

    method: Method
    path: str
    summary: str
    handler: Callable[..., Any]
    scope: str
    response: type[BaseModel] | str
    permission: str | None = None
    statuses: Sequence[int] = (200,)
    parameters: type[BaseModel] | None = None
    body: type[BaseModel] | None = None
    is_form: bool = False
    """The body is a form (multipart/form-data), not JSON."""
    responds_with_list: bool = False
    """`{data}` is the list of all that was made, not one of them."""
    collects_problems: bool = False
    """The handler takes an invalid body too, in order to add the problems of its rules."""
    idempotency: Idempotency | None = None
    feature: str | None = None
    module: str | None = None
    allows_mobile: bool = False
    errors: Sequence[str] = ()
    error_statuses: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """Statuses under which a code of `errors` comes here, where not under its own."""
    may_warn: bool = False
    """A `warning` may stand beside `data`."""
    volatile_fields: Sequence[str] = ()
    """Fields of its answer that change by themselves, which If-Match does not look at."""
    allows_self: bool = False
    """A user may do it to themselves (`{id}` is their own, or `me`), without the permission."""
    response_has_secret: bool = False
    """Its answer must not be stored in the clear: it shows a secret, this once."""
    request_has_secret: bool = False
    """What is kept of its body must not help anybody to guess: it may carry a password."""
    description: str = ""

    @property
    def name(self) -> str:
        """Method and path, as people name the route."""
        return f"{self.method} {self.path}"

    @property
    def writes(self) -> bool:
        """Whether it changes anything."""
        return self.method != "GET"

    @property
    def is_list(self) -> bool:
        """Whether it answers a page of a list."""
        return self.parameters is not None and issubclass(self.parameters, ListParameters)

    @property
    def body_optional(self) -> bool:
        """Whether no body means an empty one: an act about which nothing has to be said."""
        fields = self.body.model_fields.values() if self.body else ()
        return self.method == "POST" and not any(field.is_required() for field in fields)


@dataclass(frozen=True, slots=True)
class RouteMatch:
    """An operation found for a path, and what the path has in place of its names."""

    operation: Operation
    path_values: Mapping[str, str]


@dataclass(slots=True)
class Routes:
    """The routes of one door, in the order of their declaration."""

    group: str
    operations: list[Operation] = field(default_factory=list)

    def declare[F: Callable[..., Any]](
        self,
        method: Method,
        path: str,
        summary: str,
        **facts: Any,
    ) -> Callable[[F], F]:
        """Declare the decorated handler as the route; `facts` are fields of Operation.

        A read is handled by `handler(store, request)`, a write by `handler(transaction,
        request)`; it may run more than once before its transaction is committed.
        """
        if method != "GET":
            facts.setdefault("idempotency", Idempotency.OPTIONAL)

        def register(handler: F) -> F:
            operation = Operation(method, path, summary, handler=handler, **facts)
            self.operations.append(operation)
            return handler

        return register

    def match(self, path: str) -> Iterator[RouteMatch]:
        """Yield every operation whose path this can be."""
        for operation in self.operations:
            if found := _pattern(operation.path).fullmatch(path):
                yield RouteMatch(operation, found.groupdict())


@cache
def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(path)))
