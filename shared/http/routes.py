"""The declaration of routes, from which checks, OpenAPI and contract tests are derived."""

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Any, Literal, TypedDict, Unpack, cast, overload

from pydantic import BaseModel

from shared.http.request import Request
from shared.kernel.db.lists.page import Page
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.list_parameters import ListParameters
from shared.kernel.validation import Checked

type WriteMethod = Literal["POST", "PUT", "PATCH", "DELETE"]
type Method = Literal["GET"] | WriteMethod

type _Read[P, R] = Callable[[Store, Request[None, P]], R]
"""Handler of a read with query parameters."""
type _Write[B: BaseModel, R] = Callable[[Transaction, Request[Checked[B]]], R]
"""Handler of a write with a body."""


class Idempotency(Enum):
    """Whether a write requires or accepts the header Idempotency-Key."""

    REQUIRED = "required"
    OPTIONAL = "optional"


@dataclass(frozen=True, slots=True)
class ResourceResponse:
    """The view of one resource, and its path where it is not that of the request.

    The view of a write has everything that its response or GET of the resource shows. The response
    has the header Location unless its status is 200. `warning` stands beside `data`: the request
    succeeded, but may not do what the caller meant. The fields of `beside` stand there, too. A
    client without the scope of GET of the resource gets `if_unreadable` instead, if there is one.
    """

    view: BaseModel | Sequence[BaseModel]
    status: int = 200
    location: str | None = None
    warning: str | None = None
    beside: BaseModel | None = None
    if_unreadable: "ResourceResponse | None" = None


@dataclass(frozen=True, slots=True)
class TextResponse:
    """A text of the media type that the route declares."""

    text: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FileResponse:
    """A file, of the media type that the route declares unless it has one of `other_media`."""

    content: bytes
    name: str
    media: str | None = None


@dataclass(frozen=True, slots=True)
class RedirectResponse:
    """A redirect to an address where the file can be downloaded."""

    url: str


@dataclass(frozen=True, slots=True)
class ListResponse[E]:
    """A page of a list, and the function that returns the view of a record; default: its entity.

    `listed_id` returns the id of a row that does not show one.
    """

    page: Page[E]
    view: Callable[[Record[E]], BaseModel] = operator.attrgetter("entity")
    listed_id: Callable[[E], int] | None = None

    def names(self, record: Record[E]) -> dict[str, int]:
        """Return the version of a row, and its id if the view has none, as the feed names them."""
        own = {} if self.listed_id is None else {"id": self.listed_id(record.entity)}
        return {**own, "version": record.version}


class OperationOptions(TypedDict, total=False):
    """What the declaration of a route says in addition to method, path, summary, query and body."""

    scope: str | None
    """Scope that an integration client needs; None: a valid token is enough."""
    permission: str | None
    """Permission that a user needs; None: a valid token is enough."""
    other_permissions: Sequence[str]
    """Permissions of which each is enough, too."""
    response: type[BaseModel] | str
    """Model of `data`, or the media type of a response that is not JSON."""
    other_response: type[BaseModel]
    """Model of `data` when the body has the field `other_response_with`."""
    other_response_with: str
    other_media: Sequence[str]
    """Further media types of such a response; the handler chooses."""
    statuses: Sequence[int]
    """Statuses of a success; 200 when left out."""
    is_form: bool
    """The body is a form (multipart/form-data), not JSON."""
    form_path: str
    """Path of the route that answers a form which is sent to this one."""
    responds_with_list: bool
    """`data` is the list of all resources that were created."""
    idempotency: Idempotency | None
    """Whether the header Idempotency-Key is required; None: the route reads only."""
    feature: str | None
    """Feature that the tenant's plan must include."""
    module: str | None
    """Module that must be switched on."""
    allows_mobile: bool
    """Open to mobile applications and to users without their second factor."""
    errors: Sequence[str]
    """Error codes in addition to those of every route."""
    error_statuses: Mapping[str, Sequence[int]]
    """Statuses of a code of `errors`, where they differ from the code's own."""
    may_warn: bool
    """A `warning` may stand beside `data`."""
    beside: type[BaseModel]
    """Model of the fields that may stand beside `data`."""
    finds_existing: bool
    """Status 200 shows a resource that exists already, or its id: see `created_resource`."""
    volatile_fields: Sequence[str]
    """Fields of the response that change by themselves; If-Match ignores them."""
    allows_self: bool
    """Users need no permission for themselves (`{id}` is their own id, or `me`)."""
    response_has_secret: bool
    """The response shows a secret once, so it is stored encrypted."""
    request_has_secret: bool
    """The body may carry a password, so its fingerprint is slow to guess."""
    description: str
    """Text for the OpenAPI document, after the handler's docstring."""


_NEEDS_ONE = {"oneOf", "minProperties"}
"""Keywords in the schema of a body of which one of several fields is required."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One route. Most optional fields are described in `OperationOptions`.

    `parameters` is the model of the query string, `body` that of the request body.
    `path` is relative to the base address, with `{id}` for the id of the resource.
    """

    method: Method
    path: str
    summary: str
    handler: Callable[..., Any]
    scope: str | None
    response: type[BaseModel] | str
    other_response: type[BaseModel] | None = None
    other_response_with: str = ""
    other_media: Sequence[str] = ()
    permission: str | None = None
    other_permissions: Sequence[str] = ()
    statuses: Sequence[int] = (200,)
    parameters: type[BaseModel] | None = None
    body: type[BaseModel] | None = None
    is_form: bool = False
    form_path: str = ""
    responds_with_list: bool = False
    idempotency: Idempotency | None = None
    feature: str | None = None
    module: str | None = None
    allows_mobile: bool = False
    errors: Sequence[str] = ()
    error_statuses: Mapping[str, Sequence[int]] = field(default_factory=dict)
    may_warn: bool = False
    beside: type[BaseModel] | None = None
    finds_existing: bool = False
    volatile_fields: Sequence[str] = ()
    allows_self: bool = False
    response_has_secret: bool = False
    request_has_secret: bool = False
    description: str = ""

    @property
    def name(self) -> str:
        """Method and path, such as `GET /products/{id}`."""
        return f"{self.method} {self.path}"

    @property
    def writes(self) -> bool:
        """Whether it changes anything."""
        return self.method != "GET"

    @property
    def is_list(self) -> bool:
        """Whether the response is a page of a list."""
        return self.parameters is not None and issubclass(self.parameters, ListParameters)

    @property
    def parameter_names(self) -> set[str]:
        """Names of the query parameters."""
        fields = self.parameters.model_fields if self.parameters else {}
        return {field.alias or name for name, field in fields.items()}

    @property
    def body_optional(self) -> bool:
        """Whether the body may be left out, because none of its fields is required."""
        if self.method not in {"POST", "DELETE"} or self.body is None:
            return False
        extra = self.body.model_config.get("json_schema_extra")
        needs_one = isinstance(extra, dict) and not extra.keys().isdisjoint(_NEEDS_ONE)
        fields = self.body.model_fields.values()
        return not (needs_one or any(field.is_required() for field in fields))

    def shows_as(self, read: "Operation") -> bool:
        """Return whether this write shows the resource of `read`, possibly with more or less of it.

        A response with a secret does not.
        """
        is_deleted = self.method == "DELETE" and self.path == resource_path(self.path)
        if is_deleted or read.is_list or self.responds_with_list or self.response_has_secret:
            return False
        mine, other = self.response, read.response
        if isinstance(mine, str) or isinstance(other, str):
            return False
        return issubclass(mine, other) or issubclass(other, mine)


@dataclass(frozen=True, slots=True)
class RouteMatch:
    """An operation whose path matches, and the values of the path's parameters."""

    operation: Operation
    path_values: Mapping[str, str]


def resource_path(path: str) -> str:
    """Return the path of the resource: `/x/{id}` for `/x/{id}/action`."""
    return "/".join(path.split("/")[:3])


@dataclass(slots=True)
class Routes:
    """A group of routes, in the order of their declaration."""

    operations: list[Operation] = field(default_factory=list, init=False)
    _by_shape: dict[tuple[str, int], dict[str, list[Operation]]] = field(
        default_factory=dict, init=False
    )
    """First segment and number of segments → path of the declaration → its operations, so that a
    request tries few patterns."""

    def read[R, P = None](
        self,
        path: str,
        summary: str,
        defaults: OperationOptions | None = None,
        *,
        parameters: type[P] | None = None,
        **options: Unpack[OperationOptions],
    ) -> Callable[[_Read[P, R]], _Read[P, R]]:
        """Declare the decorated handler as the GET of `path`.

        `parameters` is the model of the query string. `defaults` are the options that several
        routes share; `options` go before them.
        """

        def register(handler: _Read[P, R]) -> _Read[P, R]:
            merged: OperationOptions = {**(defaults or {}), **options}
            model = cast("type[BaseModel] | None", parameters)
            self.add(Operation("GET", path, summary, handler, parameters=model, **merged))
            return handler

        return register

    @overload
    def write[F: Callable[[Transaction, Request], object]](
        self,
        method: WriteMethod,
        path: str,
        summary: str,
        defaults: OperationOptions | None = None,
        *,
        body: None = None,
        **options: Unpack[OperationOptions],
    ) -> Callable[[F], F]: ...
    @overload
    def write[B: BaseModel, R](
        self,
        method: WriteMethod,
        path: str,
        summary: str,
        defaults: OperationOptions | None = None,
        *,
        body: type[B],
        **options: Unpack[OperationOptions],
    ) -> Callable[[_Write[B, R]], _Write[B, R]]: ...
    def write[F: Callable[..., Any]](
        self,
        method: WriteMethod,
        path: str,
        summary: str,
        defaults: OperationOptions | None = None,
        *,
        body: type[BaseModel] | None = None,
        **options: Unpack[OperationOptions],
    ) -> Callable[[F], F]:
        """Declare the decorated handler as a route that changes something.

        It may run more than once before its transaction is committed. `body` is the model of the
        request body. `defaults` are the options that several routes share; `options` go before
        them.
        """
        merged: OperationOptions = {
            "idempotency": Idempotency.OPTIONAL,
            **(defaults or {}),
            **options,
        }
        if merged.get("request_has_secret") and "approval_required" in merged.get("errors", ()):
            raise ValueError(f"{method} {path} has a secret, which an approval would show")

        def register(handler: F) -> F:
            self.add(Operation(method, path, summary, handler, body=body, **merged))
            return handler

        return register

    def add(self, operation: Operation) -> None:
        """Add a route."""
        self.operations.append(operation)
        paths = self._by_shape.setdefault(_shape(operation.path), {})
        paths.setdefault(operation.path, []).append(operation)

    def declare_change_and_delete[B: BaseModel](  # noqa: PLR0913 - the facts of three routes
        self,
        path: str,
        noun: str,
        defaults: OperationOptions,
        *,
        body: type[B],
        change: Callable[[Transaction, int, Checked[B]], Record[Any]],
        delete: Callable[[Transaction, int], Record[Any]],
        delete_description: str,
        view: Callable[[Record[Any]], BaseModel] = operator.attrgetter("entity"),
        **options: Unpack[OperationOptions],
    ) -> None:
        """Declare PUT, PATCH and DELETE of an entity of master data at `path`.

        `noun` is the entity with its article, such as "a product", for the summaries. `body` is the
        model of the fields that `change` changes, for PUT and PATCH alike. The response of DELETE
        shows the entity as it was. `view` returns the view of a record, by default its entity.
        """

        def change_handler(tx: Transaction, request: Request[Checked[B]]) -> ResourceResponse:
            return ResourceResponse(view(change(tx, request.id, request.body)))

        def delete_handler(tx: Transaction, request: Request) -> ResourceResponse:
            return ResourceResponse(view(delete(tx, request.id)))

        # The OpenAPI document names an operation after its handler.
        change_handler.__name__, delete_handler.__name__ = change.__name__, delete.__name__
        common: OperationOptions = {**defaults, **options}
        same = "Only the fields sent change; PUT and PATCH are the same."
        changing: OperationOptions = {**common, "description": same}
        deleting: OperationOptions = {**common, "description": delete_description}
        self.write("PUT", path, f"Change {noun}", changing, body=body)(change_handler)
        self.write("PATCH", path, f"Change {noun}", changing, body=body)(change_handler)
        self.write("DELETE", path, f"Delete {noun}", deleting)(delete_handler)

    def match(self, path: str) -> Iterator[RouteMatch]:
        """Yield every operation whose path pattern matches `path`."""
        for declared, operations in self._by_shape.get(_shape(path), {}).items():
            if found := _pattern(declared).fullmatch(path):
                values = found.groupdict()
                yield from (RouteMatch(operation, values) for operation in operations)


def _shape(path: str) -> tuple[str, int]:
    """Return the first segment, which is never a parameter, and the number of segments."""
    return path[1:].partition("/")[0], path.count("/")


@cache
def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(path)))


@dataclass(frozen=True, slots=True)
class DeferredRoutes:
    """The `routes` of a module, which is imported when one of their paths is first requested.

    So the cold start of a function with several groups of routes imports only what it needs.

    Attributes:
        module: Name of the module.
        prefixes: Beginnings of the paths, such as `/receipts`; `{id}` stands for any segment.
    """

    module: str
    prefixes: tuple[str, ...]

    @property
    def operations(self) -> list[Operation]:
        """The routes; imports the module."""
        return self._routes().operations

    def match(self, path: str) -> Iterable[RouteMatch]:
        """Return every operation whose path pattern matches `path`."""
        if any(_begins_with(path, prefix) for prefix in self.prefixes):
            return self._routes().match(path)
        return ()

    def _routes(self) -> Routes:
        routes: Routes = import_module(self.module).routes
        return routes


def _begins_with(path: str, prefix: str) -> bool:
    wanted, given = prefix.split("/"), path.split("/")
    return len(given) >= len(wanted) and all(
        one in {segment, "{id}"} for one, segment in zip(wanted, given, strict=False)
    )
