"""Timestamps in UTC with milliseconds and `Z`, so that the order of texts is that of times."""

import re
import time
from datetime import UTC, datetime, timedelta

from dateutil.parser import isoparse

type Instant = str
"""For example `2026-03-01T09:30:00.000Z`."""

_DATE_TIME = re.compile(
    r"(?P<date>[\dW-]+)[T ](?P<time>(?!24.*[.,])\d\d[\d:]*)([.,](?P<fraction>\d+))?"
    r"(?P<offset>Z|[+-]\d\d(:?\d\d)?)?",
    re.ASCII,
)
_FRACTION_OF = {2: timedelta(hours=1), 4: timedelta(minutes=1), 6: timedelta(seconds=1)}
"""Digits of the time → what its decimal fraction is a fraction of."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_WITHOUT_OFFSET = len("2026-03-01T09:30:00.000")


def now() -> float:
    """Return the seconds since the epoch by the wall clock."""
    return time.time()


def now_ms() -> int:
    """Return the milliseconds since the epoch by the wall clock."""
    return int(now() * 1000)


def is_fresh(read_at: float, max_age: float, moment: float) -> bool:
    """Return whether a cached value may still be used.

    Every cache with an expiry measures by the wall clock: the monotonic clock may stand still while
    Lambda freezes an execution environment between two invocations (docs/operating/aws.md). The
    wall clock can be set back, so a value from the future is not fresh. `read_at` is when the value
    was read, `max_age` its maximum age, `moment` the present time, in seconds of `now`.
    """
    return 0 <= moment - read_at < max_age


def instant(milliseconds: int) -> Instant:
    """Write milliseconds since the epoch as an Instant."""
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    return f"{moment.isoformat(timespec='milliseconds')[:_WITHOUT_OFFSET]}Z"


def instant_of(moment: datetime) -> Instant:
    """Write an aware date-time as an Instant; fractions below a millisecond are cut off."""
    return instant((moment.astimezone(UTC) - _EPOCH) // timedelta(milliseconds=1))


def milliseconds_of(moment: Instant) -> int:
    """Read an Instant as milliseconds since the epoch."""
    return (datetime.fromisoformat(moment) - _EPOCH) // timedelta(milliseconds=1)


def parse_date_time(text: str) -> datetime:
    """Parse an ISO 8601 date-time; it is naive if `text` has no offset.

    All complete representations are accepted: calendar, ordinal and week dates, basic and extended
    format, and a decimal fraction of the hour, minute or second. As in RFC 3339, the letters may be
    in lower case and a space may replace the T. dateutil reads them all and is strict;
    `datetime.fromisoformat` refuses ordinal dates and 24:00.

    Raises:
        ValueError: The text is not a date-time, or it names a day or time that does not exist.
        OverflowError: The date-time is after the year 9999.
    """
    match = _DATE_TIME.fullmatch(text.upper())
    if match is None:
        raise ValueError("not a date-time in ISO 8601")
    moment: datetime = isoparse(f"{match['date']}T{match['time']}{match['offset'] or ''}")
    fraction = match["fraction"]
    if fraction is None:
        return moment
    # isoparse accepts fractions of seconds only.
    unit = _FRACTION_OF[len(match["time"].replace(":", ""))]
    part: timedelta = unit * int(fraction[:9]) // 10 ** len(fraction[:9])
    return moment + part


class Deadline:
    """The time that an invocation has left; waits and retries end before it.

    It may use the monotonic clock, because an environment is not frozen during an invocation.
    """

    __slots__ = ("_began", "_ends", "_paused")

    def __init__(self, milliseconds: float) -> None:
        self._began = time.monotonic()
        self._ends = self._began + milliseconds / 1000
        self._paused = 0.0

    @property
    def elapsed_ms(self) -> float:
        """Milliseconds since it was set, without pauses."""
        return max(0.0, time.monotonic() - self._began - self._paused) * 1000

    def add_pause(self, seconds: float) -> None:
        """Leave a pause between attempts out of `elapsed_ms`: it is no work of the request."""
        self._paused += seconds

    @property
    def remaining(self) -> float:
        """Seconds left; negative when it has passed."""
        return self._ends - time.monotonic()
