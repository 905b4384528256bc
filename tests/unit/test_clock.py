"""Instants: the order of their texts is the order of time."""

from datetime import UTC, datetime, timedelta, timezone

from shared.kernel.clock import instant_of


def test_text_order_is_time_order_from_the_first_year_to_the_last() -> None:
    moments = [datetime(year, 1, 1, tzinfo=UTC) for year in (1, 300, 999, 1969, 2026, 9999)]

    written = [instant_of(moment) for moment in moments]

    assert written == sorted(written)
    assert written[1] == "0300-01-01T00:00:00.000Z"


def test_instants_are_utc_and_cut_below_a_millisecond() -> None:
    madrid = timezone(timedelta(hours=2))
    moment = datetime(2026, 3, 1, 9, 30, 0, 999_999, tzinfo=madrid)

    assert instant_of(moment) == "2026-03-01T07:30:00.999Z"
