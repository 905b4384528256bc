"""The feed of changes in the interface."""

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializeAsAny,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from shared.integration.changes.listed_objects import LISTED_OBJECTS
from shared.kernel.fields import Parameters, Stored, Timestamp
from shared.kernel.list_parameters import Integer, OneOf

MAX_ENTRIES = 500
"""Entries of a page."""


def _names(value: object) -> object:
    """Split names that are separated by commas."""
    return value.split(",") if isinstance(value, str) else value


def _known(names: list[str]) -> list[str]:
    if unknown := [name for name in names if name not in LISTED_OBJECTS]:
        shown = {"unknown": ", ".join(unknown), "known": ", ".join(LISTED_OBJECTS)}
        raise PydanticCustomError("objects", "no object is called {unknown}; known: {known}", shown)
    return names


type ObjectNames = Annotated[
    list[str],
    BeforeValidator(_names),
    AfterValidator(_known),
    WithJsonSchema({"type": "string"}),
]
"""Names of objects in a query, separated by commas."""

type Position = Annotated[Integer, Field(ge=0, le=10**15 - 1)]
"""A position of the feed, or its epoch."""


class ChangesParameters(Parameters):
    """Query parameters of the feed."""

    after: Position = Field(
        default=0, description="Only transactions behind this position; 0 is the beginning."
    )
    epoch: Position | None = Field(
        default=None,
        description="The epoch that `after` is of. If a new one has begun since: 410 gone.",
    )
    per_page: Annotated[
        Integer, Field(ge=1), AfterValidator(lambda number: min(number, MAX_ENTRIES))
    ] = Field(
        default=100,
        description=f"Most transactions of a page. Values above {MAX_ENTRIES} are treated as"
        f" {MAX_ENTRIES}. A page may have fewer, also when more follow.",
    )
    objects: ObjectNames | None = Field(
        default=None,
        description="Only changes of these objects, separated by commas, such as"
        " `product,stock_level`.",
    )
    include: OneOf[Literal["resource", "action"]] = Field(
        default=(),
        description="Separated by commas: `resource` adds to each change what the list shows of the"
        " resource now, `action` to each transaction the request that made it.",
    )


type ChangeOperation = Literal["created", "updated", "deleted"]


class ChangeActor(Stored):
    """Who made the changes of a transaction: a kind of actor, and its id unless it has none."""

    type: str
    id: str | None


def _with_resource(schema: dict[str, Any]) -> None:
    schema["properties"]["resource"] = {"type": ["object", "null"]}


class ResourceChange(Stored):
    """A change of a resource.

    `version` is its version after the change; a deletion counts as one. `href` is its address.
    """

    model_config = ConfigDict(json_schema_extra=_with_resource)

    object: str
    id: int | str
    version: int
    operation: ChangeOperation
    href: str


class ShownChange(ResourceChange):
    """A change with what the list shows of the resource now, with its version of now.

    `resource` is null if the resource does not exist any more. A transaction whose resources take
    more than a response has shows changes without.
    """

    resource: dict[str, Any] | None


def _with_action(schema: dict[str, Any]) -> None:
    schema["properties"]["action"] = {"type": ["string", "null"]}


class FeedTransaction(Stored):
    """The changes of one committed transaction."""

    model_config = ConfigDict(json_schema_extra=_with_action)

    position: int
    committed_at: Timestamp
    request_id: str | None
    actor: ChangeActor
    changes: list[SerializeAsAny[ResourceChange]]


class RequestedTransaction(FeedTransaction):
    """A transaction with the request that made it.

    `action` is its method and path, such as POST /receipts/{id}/finalize; null for work of the
    service itself, such as an import.
    """

    action: str | None


class ChangesLinks(Stored):
    """The address of what follows, also when nothing follows yet."""

    next: str


class ChangesMeta(Stored):
    """Where a page begins and ends, and the newest position."""

    after: int
    last: int
    latest: int
    epoch: int


class ChangesFrame(Stored):
    """What stands beside the transactions of a page."""

    links: ChangesLinks
    meta: ChangesMeta


class ObjectChecksum(Stored):
    """The number of resources, and the sum of their versions as a decimal number."""

    count: int
    sum: str


class LatestPosition(Stored):
    """The end of the feed, and the checksums of what exists there."""

    position: int
    epoch: int
    checksums: dict[str, ObjectChecksum]
