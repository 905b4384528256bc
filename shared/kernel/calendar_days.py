"""Calendar days of a time zone, as the instants between which they lie."""

from datetime import UTC, date, datetime, time
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from shared.kernel.clock import Instant, instant_of
from shared.kernel.observability import logger

_LAST = time(23, 59, 59, 999_000, fold=1)


def first_instant(day: str, timezone: str) -> Instant:
    """Return the first millisecond of a day (YYYY-MM-DD) in an IANA time zone."""
    return _instant(day, time.min, timezone)


def last_instant(day: str, timezone: str) -> Instant:
    """Return the last millisecond of a day (YYYY-MM-DD) in an IANA time zone."""
    return _instant(day, _LAST, timezone)


def day_of(milliseconds: int, timezone: str) -> str:
    """Return the day (YYYY-MM-DD) of a time since the epoch in an IANA time zone."""
    return datetime.fromtimestamp(milliseconds // 1000, time_zone(timezone)).date().isoformat()


def _instant(day: str, clock: time, timezone: str) -> Instant:
    moment = datetime.combine(date.fromisoformat(day), clock, time_zone(timezone))
    try:
        return instant_of(moment)
    except OverflowError:
        # The calendar's first and last day, seen from the other side of UTC.
        return instant_of(moment.replace(tzinfo=UTC))


@cache
def time_zone(name: str) -> ZoneInfo:
    """Return a time zone that was checked when it was stored.

    UTC stands in where its rules are missing: a newer edition of them, on the machine that
    checked, has names that an older one lacks.
    """
    try:
        return ZoneInfo(name)
    except ZoneInfoNotFoundError:
        logger.warning("time zone %s is missing, UTC is used", name)
        return ZoneInfo("UTC")


@cache
def time_zones() -> frozenset[str]:
    """Names of the IANA time zones; finding them takes a hundred milliseconds, the first time.

    Each machine has names of its own beside them, all in lower case, such as `localtime`; and
    `Factory` is what it uses before anybody has set a time zone.
    """
    return frozenset(
        name for name in available_timezones() if name[0].isupper() and name != "Factory"
    )
