"""The bounds of a day, where clocks are odd."""

from datetime import date, datetime, timedelta
from itertools import pairwise

import pytest

from shared.days import first_instant, last_instant


@pytest.mark.parametrize(
    ("day", "timezone", "first", "last"),
    [
        ("2026-03-01", "UTC", "2026-03-01T00:00:00.000Z", "2026-03-01T23:59:59.999Z"),
        ("2026-03-01", "Europe/Madrid", "2026-02-28T23:00:00.000Z", "2026-03-01T22:59:59.999Z"),
        # 23 hours, then 25.
        ("2026-03-29", "Europe/Madrid", "2026-03-28T23:00:00.000Z", "2026-03-29T21:59:59.999Z"),
        ("2026-10-25", "Europe/Madrid", "2026-10-24T22:00:00.000Z", "2026-10-25T22:59:59.999Z"),
        # Midnight itself is skipped, or happens twice.
        ("2026-03-08", "America/Havana", "2026-03-08T05:00:00.000Z", "2026-03-09T03:59:59.999Z"),
        ("2026-11-01", "America/Havana", "2026-11-01T04:00:00.000Z", "2026-11-02T04:59:59.999Z"),
        ("0001-01-01", "Asia/Tokyo", "0001-01-01T00:00:00.000Z", "0001-01-01T14:41:00.999Z"),
        ("9999-12-31", "America/Bogota", "9999-12-31T05:00:00.000Z", "9999-12-31T23:59:59.999Z"),
    ],
)
def test_a_day_is_that_of_the_time_zone(day: str, timezone: str, first: str, last: str) -> None:
    assert first_instant(day, timezone) == first
    assert last_instant(day, timezone) == last


@pytest.mark.parametrize(
    "timezone", ["America/Asuncion", "America/Havana", "Asia/Beirut", "Pacific/Auckland"]
)
def test_days_follow_one_another_without_gap(timezone: str) -> None:
    days = [date(2017, 1, 1) + timedelta(number) for number in range(366)]

    for day, following in pairwise(days):
        end = datetime.fromisoformat(last_instant(day.isoformat(), timezone))
        begin = datetime.fromisoformat(first_instant(following.isoformat(), timezone))
        assert begin - end == timedelta(milliseconds=1)
