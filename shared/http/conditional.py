"""ETag, If-None-Match and If-Match (RFC 9110, 8.8 and 13).

The entity tag covers the whole response, so it also changes with the parts of other resources that
the response shows (a position its warehouse, a warehouse the number of its positions).
"""

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from shared.http.envelope import HttpResponse
from shared.kernel.errors import BadRequest, StaleState
from shared.kernel.json_text import dumps, loads


class ChangedSinceRead(StaleState):
    """409 stale_state: If-Match names an entity tag that is no longer current.

    It is not stored under an Idempotency-Key: the caller reads again and repeats the request.
    """

    def __init__(self) -> None:
        super().__init__(is_stored=False)


def etag_of(body: str, volatile: Collection[str]) -> str:
    """Return the weak entity tag of a response with this JSON.

    With `volatile` fields, which change by themselves, the tag is `W/"STABLE.WHOLE"`: If-Match
    compares only the first part, which leaves these fields out.
    """
    whole = hashlib.sha256(body.encode()).hexdigest()
    if not volatile:
        return f'W/"{whole[:24]}"'
    shown = loads(body)["data"]
    lasting = dumps({name: value for name, value in shown.items() if name not in volatile})
    return f'W/"{hashlib.sha256(lasting.encode()).hexdigest()[:24]}.{whole[:24]}"'


def _opaque_tag(name: str) -> str:
    return name.strip().removeprefix("W/").strip('"')


def _has_tag(header: str, current: str) -> bool:
    """Return whether a list of tags has the current one, by weak comparison (8.8.3.2)."""
    return any(_opaque_tag(name) in {_opaque_tag(current), "*"} for name in header.split(","))


def add_etag(
    response: HttpResponse, headers: Mapping[str, str], volatile: Collection[str] = ()
) -> HttpResponse:
    """Add the entity tag; return 304 without body when the caller has this response already."""
    etag = etag_of(response.etag_text or response.body, volatile)
    tagged = replace(response, headers={**response.headers, "ETag": etag})
    known = headers.get("if-none-match")
    if known is not None and _has_tag(known, etag):
        return HttpResponse(304, "", tagged.headers)
    return tagged


_TAG = r'(W/)?("[\x21\x23-\x7e\x80-\xff]*"|[0-9a-f]{24}(\.[0-9a-f]{24})?)'
"""An entity tag (RFC 9110, 8.8.3); those of this service are accepted without quotes."""
_TAGS = re.compile(rf"\s*(\*|{_TAG}(\s*,\s*{_TAG})*)\s*")


def ensure_tags(headers: Mapping[str, str]) -> None:
    """Raise BadRequest if the header If-Match is neither `*` nor a list of entity tags."""
    sent = headers.get("if-match")
    if sent is not None and not _TAGS.fullmatch(sent):
        raise BadRequest("If-Match must be the ETag of a response, with its quotes, or *.")


def ensure_match(current: HttpResponse, if_match: str, volatile: Collection[str]) -> None:
    """Raise ChangedSinceRead unless `if_match` names the tag of the current response.

    Volatile fields are left out.
    """
    seen = ",".join(_opaque_tag(name).partition(".")[0] for name in if_match.split(","))
    if not _has_tag(seen, _opaque_tag(etag_of(current.body, volatile)).partition(".")[0]):
        raise ChangedSinceRead
