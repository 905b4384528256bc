"""The bounds of a day in time zones with clock changes."""

from datetime import date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from shared.kernel.calendar_days import day_of, first_instant, last_instant, time_zone, time_zones


@pytest.mark.parametrize(
    ("day", "timezone", "first", "last"),
    [
        ("2026-03-01", "UTC", "2026-03-01T00:00:00.000Z", "2026-03-01T23:59:59.999Z"),
        ("2026-03-01", "Europe/Madrid", "2026-02-28T23:00:00.000Z", "2026-03-01T22:59:59.999Z"),
        # 23 hours, then 25.
        ("2026-03-29", "Europe/Madrid", "2026-03-28T23:00:00.000Z", "2026-03-29T21:59:59.999Z"),
        ("2026-10-25", "Europe/Madrid", "2026-10-24T22:00:00.000Z", "2026-10-25T22:59:59.999Z"),
        # Midnight is skipped, or occurs twice.
        ("2026-03-08", "America/Havana", "2026-03-08T05:00:00.000Z", "2026-03-09T03:59:59.999Z"),
        ("2026-11-01", "America/Havana", "2026-11-01T04:00:00.000Z", "2026-11-02T04:59:59.999Z"),
        ("0001-01-01", "Asia/Tokyo", "0001-01-01T00:00:00.000Z", "0001-01-01T14:41:00.999Z"),
        ("9999-12-31", "America/Bogota", "9999-12-31T05:00:00.000Z", "9999-12-31T23:59:59.999Z"),
    ],
)
def test_bounds_of_a_day_in_a_time_zone(day: str, timezone: str, first: str, last: str) -> None:
    assert first_instant(day, timezone) == first
    assert last_instant(day, timezone) == last


@pytest.mark.parametrize(
    "timezone", ["America/Asuncion", "America/Havana", "Asia/Beirut", "Pacific/Auckland"]
)
def test_consecutive_days_have_no_gap(timezone: str) -> None:
    days = [date(2017, 1, 1) + timedelta(number) for number in range(366)]

    for day, following in pairwise(days):
        end = datetime.fromisoformat(last_instant(day.isoformat(), timezone))
        begin = datetime.fromisoformat(first_instant(following.isoformat(), timezone))
        assert begin - end == timedelta(milliseconds=1)


def test_iana_time_zones_are_accepted() -> None:
    names = time_zones()

    assert {"UTC", "Europe/Madrid", "America/Argentina/Ushuaia", "Etc/GMT+5", "EST5EDT"} <= names
    assert all(ZoneInfo(name).key == name for name in names)


@pytest.mark.parametrize(
    "name",
    ["localtime", "Factory", "posixrules", "leapseconds", "posix/Europe/Madrid", "right/UTC", ""],
)
def test_names_outside_iana_are_refused(name: str) -> None:
    assert name not in time_zones()


def test_missing_time_zone_falls_back_to_utc(caplog: pytest.LogCaptureFixture) -> None:
    assert first_instant("2026-03-01", "Mars/Olympus_Mons") == "2026-03-01T00:00:00.000Z"
    assert day_of(0, "Mars/Olympus_Mons") == "1970-01-01"
    assert time_zone("Europe/Madrid").key == "Europe/Madrid"
    assert caplog.messages == ["time zone Mars/Olympus_Mons is missing, UTC is used"]
