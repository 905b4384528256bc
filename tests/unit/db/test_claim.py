"""A claim that is being written: who learns that it was taken over, and who waits for it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from shared.kernel.clock import Deadline
from shared.kernel.db.actions import StaleRead
from shared.kernel.db.claim import Claim, ClaimUnderWay
from shared.kernel.errors import ServiceUnavailable

_TAKEN_OVER = Claim("table", ("idempotency#1#key", "HEAD"), "me", "name", 0, is_taken_over=True)


@pytest.fixture
def another_thread() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def test_request_hears_of_a_takeover_that_one_of_its_threads_has_met(
    another_thread: ThreadPoolExecutor,
) -> None:
    """Otherwise it would end with a refusal that it decided on what it read before."""
    claim = ClaimUnderWay(lambda: _TAKEN_OVER, Deadline(5_000))

    def ask() -> Claim:
        return claim.held

    for _ in range(2):
        with pytest.raises(StaleRead):
            another_thread.submit(ask).result()
    with pytest.raises(StaleRead):
        ask()

    assert ask() is _TAKEN_OVER
    assert another_thread.submit(ask).result() is _TAKEN_OVER


def test_a_claim_that_is_not_written_in_time_ends_the_request_before_its_deadline() -> None:
    written = Event()

    def write() -> Claim:
        assert written.wait(20)
        return _TAKEN_OVER

    deadline = Deadline(600)
    claim = ClaimUnderWay(write, deadline)
    try:
        with pytest.raises(ServiceUnavailable):
            claim.held  # noqa: B018 - raises
        assert not claim.settle()
        assert deadline.remaining > 0
    finally:
        written.set()


def test_a_claim_that_is_written_is_held_after_the_deadline() -> None:
    claim = ClaimUnderWay(lambda: Claim("table", ("key", "HEAD"), "me", "name", 0), Deadline(5_000))
    assert claim.settle()
    claim._deadline = Deadline(0)
    assert claim.settle()
    assert claim.held.owner == "me"
