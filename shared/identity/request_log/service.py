"""Reading the request log: pages of the requests of one API client, the latest first."""

from dataclasses import dataclass
from datetime import date, timedelta

from shared.identity.request_log.models import KEPT_DAYS, LoggedRequest
from shared.identity.request_log.repository import LAST, LogFilter, read_day
from shared.kernel.clock import Instant, instant
from shared.kernel.db.store import Store

MOST_QUERIES = 10
"""Queries of a page. One examines at most 1 MB, so a page with a rare status may have fewer entries
than it could, or none, and still a next one."""
_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class LogPage:
    """Entries, and the key before which the next page begins: its day and its sort key, or None."""

    entries: list[LoggedRequest]
    next_before: str | None


def list_requests(  # noqa: PLR0913 - what a page is of
    store: Store,
    client: str,
    *,
    now_ms: int,
    since: Instant | None = None,
    until: Instant | None = None,
    before: str | None = None,
    wanted: LogFilter = LogFilter(),  # noqa: B008 - immutable
    most: int = 100,
) -> LogPage:
    """Return a page of the requests of an API client, from `since` to `until`, both inclusive.

    `before` is `next_before` of the page before. Entries of more than KEPT_DAYS ago are not shown,
    even if they have not expired yet.
    """
    oldest = instant(now_ms - KEPT_DAYS * _DAY_MS)
    since = max(since or oldest, oldest)
    latest = instant(now_ms + _DAY_MS)  # clocks differ
    end = min(before or f"{until or latest}{LAST}", f"{latest}{LAST}")
    entries: list[LoggedRequest] = []
    for _ in range(MOST_QUERIES):
        if end < since:
            return LogPage(entries, None)
        day = end[:10]
        found, last = read_day(
            store, client, day, since=since, before=end, wanted=wanted, most=most - len(entries)
        )
        entries += found
        end = last or f"{date.fromisoformat(day) - timedelta(days=1)}T{LAST}"
        if len(entries) >= most:
            break
    return LogPage(entries, end if end >= since else None)
