"""The response to a creation whose reference may name a resource that exists already."""

from collections.abc import Sequence

from pydantic import BaseModel

from shared.http.routes import ResourceResponse
from shared.kernel.db.records import CreatedRecord
from shared.kernel.fields import Stored

_MOST_NAMED = 20
"""Fields that a warning names."""


class ResourceId(Stored):
    """The id of an existing resource that the client may not read."""

    id: int


def created_resource[M: BaseModel](
    created: CreatedRecord[M], what: str, view: BaseModel, path: str
) -> ResourceResponse:
    """Return the response with a new resource, or with the unchanged one that has its reference.

    A client that may not read the latter learns neither its values nor which fields of the request
    differ from them: it could find a value out by trying.

    Args:
        created: The stored record.
        what: The resource and its reference, for the warning.
        view: The resource.
        path: The path of its collection.
    """
    location = f"{path}/{created.record.id}"
    if created.new:
        return ResourceResponse(view, 201, location)
    differing = created.differing
    unreadable = ResourceResponse(
        ResourceId(id=created.record.id),
        location=location,
        warning=f"{_unchanged(what)} The request differs from it." if differing else None,
    )
    return ResourceResponse(
        view,
        location=location,
        warning=_warning(what, differing) if differing else None,
        if_unreadable=unreadable,
    )


def _warning(what: str, differing: Sequence[str]) -> str:
    more = len(differing) - _MOST_NAMED
    names = ", ".join(differing[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{_unchanged(what)} The request differs in: {names}."


def _unchanged(what: str) -> str:
    return f"{what} exists already and was not changed."
