"""The feed of changes in the interface."""

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from pydantic_core import PydanticCustomError

from shared.integration.changes.listed_objects import LISTED_OBJECTS
from shared.kernel.fields import Stored, Timestamp
from shared.kernel.list_parameters import Integer

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


type ObjectNames = Annotated[list[str], BeforeValidator(_names), AfterValidator(_known)]
"""Names of objects in a query, separated by commas."""

type Position = Annotated[Integer, Field(ge=0, le=10**15 - 1)]


class ChangesParameters(BaseModel):
    """Query parameters of the feed."""

    model_config = ConfigDict(extra="ignore", defer_build=True)

    after: Position = 0
    epoch: Position | None = None
    per_page: Annotated[
        Integer, Field(ge=1), AfterValidator(lambda number: min(number, MAX_ENTRIES))
    ] = 100
    objects: ObjectNames | None = None
    include: Literal["resource"] | None = None


type Operation = Literal["created", "updated", "deleted"]


class ChangeActor(Stored):
    """Who made the changes of a transaction: a kind of actor, and its id unless it has none."""

    type: str
    id: str | None


class ResourceChange(Stored):
    """A change of a resource.

    `version` is its version after the change; a deletion counts as one. `href` is its address; null
    if the interface shows it in its list only. `resource` is what the list shows of it now, with
    its version of now: null if it does not exist any more, absent unless it is asked for.
    """

    object: str
    id: int | str
    version: int
    operation: Operation
    href: str | None
    resource: dict[str, Any] | None = None

    @model_serializer(mode="wrap")
    def _without_what_is_absent(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        shown: dict[str, Any] = handler(self)
        if "resource" not in self.model_fields_set:
            del shown["resource"]
        return shown


class FeedTransaction(Stored):
    """The changes of one committed transaction."""

    position: int
    committed_at: Timestamp
    request_id: str | None
    actor: ChangeActor
    changes: list[ResourceChange]


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
