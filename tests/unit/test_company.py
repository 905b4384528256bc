"""What a use case knows of its company."""

from shared.kernel.clock import milliseconds_of
from shared.kernel.company import Company


def test_today_is_the_day_in_the_time_zone_of_the_company() -> None:
    moment = milliseconds_of("2026-03-01T23:30:00.000Z")
    zones = {"UTC": "2026-03-01", "Europe/Madrid": "2026-03-02", "America/Bogota": "2026-03-01"}

    shown = {zone: Company("acme", zone).at(moment).today for zone in zones}

    assert shown == zones
