"""Entries of the request log, as stored and in responses."""

from datetime import date
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from shared.kernel.db.lists.cursor import NOT_OF_THIS_LIST
from shared.kernel.fields import Moment, Parameters, Stored, Term, Timestamp
from shared.kernel.list_parameters import Integer

KEPT_DAYS = 7
"""Days for which an entry is kept."""
MAX_PATH = 150
"""Characters of a path that an entry has."""
MAX_FIELDS = 8
"""Fields with a problem that an entry names; each has MAX_FIELD characters at most."""
MAX_FIELD = 36
MAX_ENTRIES = 100
"""Entries of a page."""


def _known_place(text: str) -> str:
    try:
        date.fromisoformat(text[:10])
    except ValueError:
        raise PydanticCustomError("cursor", NOT_OF_THIS_LIST) from None
    return text


class RequestLogParameters(Parameters):
    """Query parameters of the request log."""

    client: Term | None = Field(
        default=None,
        description="Id of the API client whose requests are listed. Users name it; an integration"
        " client may leave it out, and names another one with the scope `settings:manage`.",
    )
    status: Annotated[Integer, Field(ge=100, le=599)] | None = Field(
        default=None, description="Only requests with this status."
    )
    path: Term | None = Field(
        default=None,
        description="Only requests of this path, such as `/pickings`, relative to the base"
        " address; with `*` at the end of all paths that begin so.",
    )
    since: Moment | None = Field(
        default=None, alias="from", description="Only requests answered at this instant or later."
    )
    until: Moment | None = Field(
        default=None, alias="to", description="Only requests answered at this instant or earlier."
    )
    per_page: Annotated[
        Integer, Field(ge=1), AfterValidator(lambda number: min(number, MAX_ENTRIES))
    ] = Field(
        default=MAX_ENTRIES,
        description=f"Most entries of a page. Values above {MAX_ENTRIES} are treated as"
        f" {MAX_ENTRIES}. A page may have fewer, or none, also when more follow.",
    )
    cursor: Annotated[Term, AfterValidator(_known_place)] | None = Field(
        default=None,
        description="Continues after the page whose `links.next` contains it. Do not construct it.",
    )


class LoggedRequest(Stored):
    """A request and how it was answered: neither its body nor its query."""

    request_id: str = Field(description="`X-Request-Id` of the response.")
    at: Timestamp = Field(description="When it was answered.")
    method: str = Field(description="HTTP method.")
    path: str = Field(description="Without the query; at most the first 150 characters.")
    status: int = Field(description="Status of the response.")
    code: str | None = Field(default=None, description="Code of the error; null without one.")
    fields: list[str] = Field(
        default_factory=list, description="Fields with a problem, at most the first 8."
    )
    duration_ms: int = Field(description="Duration in the service, without the network.")
    idempotency_key: str | None = Field(
        default=None, description="`Idempotency-Key` of the request; null without one."
    )
    replayed: bool = Field(
        default=False, description="Whether the response is that of an earlier request."
    )


class RequestLogLinks(Stored):
    """The address of the next page."""

    next: str | None = Field(
        description="URL of the page with earlier requests; null if there are none."
    )


class RequestLogFrame(Stored):
    """What stands beside the entries of a page."""

    links: RequestLogLinks
