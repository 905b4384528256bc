"""What an attempt writes to the health of its endpoint."""

from shared.integration.webhooks.models import EndpointHealth
from shared.integration.webhooks.rules import must_record
from shared.kernel.clock import instant

_NOW = 1_800_000_000_000


def _must_record(
    *, age: int = 0, count: int = 0, quick: bool = True, fast: bool = True, succeeded: bool = True
) -> bool:
    health = EndpointHealth(failure_count=count, last_triggered_at=instant(_NOW - age), quick=quick)
    return must_record(health, _NOW, fast=fast, succeeded=succeeded)


def test_an_attempt_that_changes_nothing_is_recorded_every_ten_seconds() -> None:
    assert not _must_record()
    assert not _must_record(age=9_999)
    assert _must_record(age=10_000)
    assert must_record(EndpointHealth(quick=True), _NOW, fast=True, succeeded=True)


def test_a_change_of_speed_and_the_end_of_failures_are_recorded_at_once() -> None:
    assert _must_record(fast=False)
    assert _must_record(quick=False)
    assert not _must_record(quick=False, fast=False)
    assert _must_record(count=1)
    assert not _must_record(count=1, succeeded=False)
