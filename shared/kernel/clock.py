"""Timestamps in UTC with milliseconds and `Z`, so that the order of texts is that of times."""

import time
from datetime import UTC, datetime, timedelta

type Instant = str
"""For example `2026-03-01T09:30:00.000Z`."""


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def now_ms() -> int:
    """Return the milliseconds since the epoch."""
    return int(time.time() * 1000)


def instant(milliseconds: int) -> Instant:
    """Write milliseconds since the epoch as an Instant."""
    moment = datetime.fromtimestamp(milliseconds // 1000, UTC)
    # %Y alone leaves out the zeros of years before 1000, and they would sort last.
    return f"{moment.year:04d}-{moment:%m-%dT%H:%M:%S}.{milliseconds % 1000:03d}Z"


def instant_of(moment: datetime) -> Instant:
    """Write an aware date-time as an Instant; fractions below a millisecond are cut off."""
    return instant((moment.astimezone(UTC) - _EPOCH) // timedelta(milliseconds=1))


def milliseconds_of(moment: Instant) -> int:
    """Read an Instant as milliseconds since the epoch."""
    return (datetime.fromisoformat(moment) - _EPOCH) // timedelta(milliseconds=1)


class Deadline:
    """The time that an invocation has left; waits and retries end before it."""

    __slots__ = ("_ends",)

    def __init__(self, milliseconds: float) -> None:
        self._ends = time.monotonic() + milliseconds / 1000

    @property
    def remaining(self) -> float:
        """Seconds left; negative when it has passed."""
        return self._ends - time.monotonic()
