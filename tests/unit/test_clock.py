"""The text of instants."""

from datetime import UTC, datetime, timedelta, timezone

from shared.kernel.clock import instant_of


def test_text_order_of_instants_is_their_time_order() -> None:
    moments = [datetime(year, 1, 1, tzinfo=UTC) for year in (1, 300, 999, 1969, 2026, 9999)]

    written = [instant_of(moment) for moment in moments]

    assert written == sorted(written)
    assert written[1] == "0300-01-01T00:00:00.000Z"


def test_instants_are_utc_and_truncated_to_milliseconds() -> None:
    madrid = timezone(timedelta(hours=2))
    moment = datetime(2026, 3, 1, 9, 30, 0, 999_999, tzinfo=madrid)

    assert instant_of(moment) == "2026-03-01T07:30:00.999Z"
