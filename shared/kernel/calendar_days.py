"""The first and the last instant of calendar days in a time zone."""

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
        # The first or last day of the calendar, in a time zone beyond its end in UTC.
        return instant_of(moment.replace(tzinfo=UTC))


@cache
def time_zone(name: str) -> ZoneInfo:
    """Return a time zone by its name, which was validated when it was stored.

    Returns UTC for a name that this machine's time zone database lacks because it is older than
    the one that validated the name.
    """
    try:
        return ZoneInfo(name)
    except ZoneInfoNotFoundError:
        logger.warning("time zone %s is missing, UTC is used", name)
        return ZoneInfo("UTC")


@cache
def time_zones() -> frozenset[str]:
    """Return the names of the IANA time zones; the first call takes about 100 ms.

    Leaves out names that are not IANA's: lower-case ones such as `localtime`, and `Factory`, the
    placeholder of a machine without a time zone.
    """
    return frozenset(
        name for name in available_timezones() if name[0].isupper() and name != "Factory"
    )
