"""ETag, If-None-Match and If-Match: read only what is new, change only what was seen.

The tag is of the whole answer, so that it also covers what an answer shows of other
resources (a position its warehouse, a warehouse the number of its positions).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import replace

from shared.errors import StaleState
from shared.http.envelope import Reply


class ChangedSinceRead(StaleState):
    """409 stale_state: If-Match names a state that is no longer the current one."""


def tag(body: str) -> str:
    """Return the weak entity tag of an answer."""
    return f'W/"{hashlib.sha256(body.encode()).hexdigest()[:24]}"'


def _names(header: str, current: str) -> bool:
    """Tell whether a list of tags names the current one, compared weakly (RFC 9110, 8.8.3.2)."""
    opaque = current.removeprefix("W/")
    return any(name.strip().removeprefix("W/") in {opaque, "*"} for name in header.split(","))


def fresh(reply: Reply, headers: Mapping[str, str]) -> Reply:
    """Tag an answer; 304 without body when the caller has it already."""
    etag = tag(reply.body)
    tagged = replace(reply, headers={**reply.headers, "ETag": etag})
    asked = headers.get("if-none-match")
    if asked is not None and _names(asked, etag):
        return Reply(304, "", tagged.headers)
    return tagged


def ensure_match(current: Reply, if_match: str) -> None:
    """Refuse a change of something that is not as the caller saw it.

    Raises:
        ChangedSinceRead: `if_match` does not name the tag of the current answer.
    """
    if not _names(if_match, tag(current.body)):
        raise ChangedSinceRead
