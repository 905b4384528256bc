"""ETag, If-None-Match and If-Match: read only what is new, change only what was seen.

The tag is of the whole answer, so that it also covers what an answer shows of other
resources (a position its warehouse, a warehouse the number of its positions).
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import replace

from shared.http.envelope import HttpResponse
from shared.kernel.errors import StaleState
from shared.kernel.json_text import dumps, loads


class ChangedSinceRead(StaleState):
    """409 stale_state: If-Match names an entity tag that is no longer current.

    It is not stored under an Idempotency-Key: the caller reads again and repeats the request.
    """

    def __init__(self) -> None:
        super().__init__()
        self.stored_override = False


def etag_of(body: str, volatile: Collection[str] = ()) -> str:
    """Return the weak entity tag of an answer.

    `volatile` are fields that change by themselves: the tag has a part that is without them,
    `W/"RESOURCE.ANSWER"`, since their changes must not stand against a change by a caller.
    """
    whole = hashlib.sha256(body.encode()).hexdigest()
    if not volatile:
        return f'W/"{whole[:24]}"'
    shown = loads(body)["data"]
    lasting = dumps({name: value for name, value in shown.items() if name not in volatile})
    return f'W/"{hashlib.sha256(lasting.encode()).hexdigest()[:24]}.{whole[:24]}"'


def _opaque(name: str) -> str:
    return name.strip().removeprefix("W/").strip('"')


def _names(header: str, current: str) -> bool:
    """Tell whether a list of tags names the current one, compared weakly (RFC 9110, 8.8.3.2)."""
    return any(_opaque(name) in {_opaque(current), "*"} for name in header.split(","))


def add_etag(
    reply: HttpResponse, headers: Mapping[str, str], volatile: Collection[str] = ()
) -> HttpResponse:
    """Tag an answer; 304 without body when the caller has it already."""
    etag = etag_of(reply.body, volatile)
    tagged = replace(reply, headers={**reply.headers, "ETag": etag})
    asked = headers.get("if-none-match")
    if asked is not None and _names(asked, etag):
        return HttpResponse(304, "", tagged.headers)
    return tagged


def ensure_match(current: HttpResponse, if_match: str, volatile: Collection[str] = ()) -> None:
    """Refuse a change of something that is not as the caller saw it.

    Raises:
        ChangedSinceRead: `if_match` does not name the tag of the current answer, whatever has
            become of its volatile fields.
    """
    seen = ",".join(_opaque(name).partition(".")[0] for name in if_match.split(","))
    if not _names(seen, _opaque(etag_of(current.body, volatile)).partition(".")[0]):
        raise ChangedSinceRead
