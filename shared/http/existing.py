"""The response to a creation whose reference names a resource that exists already."""

from collections.abc import Sequence

from pydantic import BaseModel

from shared.http.routes import ResourceResponse
from shared.kernel.fields import Stored

_MOST_NAMED = 20
"""Fields that a warning names."""


class ResourceId(Stored):
    """The id of an existing resource that the client may not read."""

    id: int


def existing_resource(
    what: str, view: BaseModel, location: str, differing: Sequence[str]
) -> ResourceResponse:
    """Return the response with the unchanged resource.

    A client that may not read it learns neither its values nor which fields of the request differ
    from them: it could find a value out by trying.

    Args:
        what: The resource and its reference, for the warning.
        view: The resource.
        location: Its path, which ends with its id.
        differing: The fields in which the request differs from it.
    """
    unreadable = ResourceResponse(
        ResourceId(id=int(location.rpartition("/")[2])),
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
