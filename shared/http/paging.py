"""The page that a request asks for, and `links` and `meta` of a list."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from shared.kernel.db.lists.cursor import InvalidCursor
from shared.kernel.db.lists.page import Page
from shared.kernel.list_parameters import ListParameters

_EACH_SIDE = 3
"""Page links on either side of the current one in `meta.links`."""


def listing_name(tenant: str, path: str, parameters: ListParameters) -> str:
    """Return the digest of a list: its tenant, path, filters and sort."""
    filters = parameters.model_dump(
        mode="json", exclude={"page", "per_page", "cursor", "include"}, exclude_none=True
    )  # a parameter that a later release adds leaves the cursors of this one valid
    text = json.dumps([tenant, path, sorted(filters.items())])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def with_cursor[P: ListParameters](parameters: P, tenant: str, path: str) -> P:
    """Return the parameters with page and page size of their cursor, if they have one.

    Generated clients send the defaults of `page` and `per_page` with every request; with a cursor
    these mean nothing. Other values must be those of the cursor.

    Raises:
        InvalidCursor: The cursor continues another list, another page or another page size.
    """
    cursor = parameters.cursor
    if cursor is None:
        return parameters
    if cursor.listing != listing_name(tenant, path, parameters):
        raise InvalidCursor
    fields = type(parameters).model_fields
    for name, value in (("page", cursor.page), ("per_page", cursor.per_page)):
        given = getattr(parameters, name)
        if given not in {value, fields[name].default}:
            raise InvalidCursor(
                f"continues with {name} {value}, but {name} is {given}; leave {name} out"
            )
    return parameters.model_copy(update={"page": cursor.page, "per_page": cursor.per_page})


def paging(
    page: Page[Any], *, url: str, query: Mapping[str, str], next_cursor: str | None
) -> dict[str, Any]:
    """Return `links` and `meta` of one page.

    Every link keeps the caller's parameters (`query`). The link to the next page also has the
    cursor, which continues exactly where this page ends. A page without a cursor is the last one,
    whatever its number, because a list may shrink while a client reads it. When the caller gave
    only a cursor, the links have its page size.
    """
    number, per_page, total = page.page, page.per_page, page.total
    last = max(1, -(-total // per_page))
    kept = {name: value for name, value in query.items() if name not in {"page", "cursor"}}
    if "cursor" in query:
        kept["per_page"] = str(per_page)

    def link(to: int, cursor: str | None = None) -> str:
        more = {"cursor": cursor} if cursor else {}
        return f"{url}?{urlencode(kept | {'page': to} | more)}"

    before = link(min(number - 1, last)) if number > 1 else None
    after = link(number + 1, next_cursor) if next_cursor else None
    first = (number - 1) * per_page + 1 if page.records else None
    pages = [
        {"url": link(to), "label": str(to), "active": to == number}
        if to
        else {"url": None, "label": "...", "active": False}
        for to in _window(min(number, last), last)
    ]
    return {
        "links": {"first": link(1), "last": link(last), "prev": before, "next": after},
        "meta": {
            "current_page": number,
            "from": first,
            "last_page": last,
            "links": [
                {"url": before, "label": "&laquo; Previous", "active": False},
                *pages,
                {"url": after, "label": "Next &raquo;", "active": False},
            ],
            "path": url,
            "per_page": per_page,
            "to": first + len(page.records) - 1 if first else None,
            "total": total,
        },
    }


def _window(page: int, last: int) -> list[int]:
    """Return the page numbers to link: both ends and the pages around `page`; 0 is a gap."""
    near = range(page - _EACH_SIDE, page + _EACH_SIDE + 1)
    wanted = sorted({number for number in (1, 2, *near, last - 1, last) if 1 <= number <= last})
    window: list[int] = []
    for number in wanted:
        if window and number - window[-1] > 1:
            window.append(0)
        window.append(number)
    return window
