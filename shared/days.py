"""Calendar days of a time zone, as the instants between which they lie."""

from datetime import UTC, date, datetime, time
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from shared.clock import Instant, instant_of

_LAST = time(23, 59, 59, 999_000, fold=1)


def first_instant(day: str, timezone: str) -> Instant:
    """Return the first millisecond of a day (YYYY-MM-DD) in an IANA time zone."""
    return _instant(day, time.min, timezone)


def last_instant(day: str, timezone: str) -> Instant:
    """Return the last millisecond of a day (YYYY-MM-DD) in an IANA time zone."""
    return _instant(day, _LAST, timezone)


def day_of(milliseconds: int, timezone: str) -> str:
    """Return the day (YYYY-MM-DD) of a time since the epoch in an IANA time zone."""
    return datetime.fromtimestamp(milliseconds // 1000, ZoneInfo(timezone)).date().isoformat()


def _instant(day: str, clock: time, timezone: str) -> Instant:
    moment = datetime.combine(date.fromisoformat(day), clock, ZoneInfo(timezone))
    try:
        return instant_of(moment)
    except OverflowError:
        # The calendar's first and last day, seen from the other side of UTC.
        return instant_of(moment.replace(tzinfo=UTC))


@cache
def time_zones() -> frozenset[str]:
    """Names of the IANA time zones; finding them takes a hundred milliseconds, the first time."""
    return frozenset(available_timezones())
