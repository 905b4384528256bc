"""Faults in the middle of a write: the write takes effect exactly once.

Each write route runs with a fault at its first AWS call, its second, and so on to the last. Then
the ERP repeats the request with the same Idempotency-Key. Or it repeats the request while the
first one is stuck in a call, and takes over its key.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import pytest

from shared.identity.tenancy.directory import directory
from shared.kernel.db.claim import LEASE_MS
from tests.clock import Clock
from tests.faults import (
    AwsFaults,
    Fault,
    conflict,
    kill_after,
    kill_before,
    lose_answer,
    stuck_after,
    stuck_before,
    throttle,
)
from tests.integration.repeated_requests import (
    ROUTES,
    WRITE_ROUTES,
    RepeatedRequest,
    assert_done_once,
    repeated_requests,
)
from tests.integration.write_routes import EXAMPLES
from tests.sampling import sampled
from tests.stack import Stack

if TYPE_CHECKING:
    from tests.gateway import Response

_SHORT_TIME_MS = 10_000
"""Remaining time of a request that runs out of time after several attempts."""


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use small steps, so that examples need several."""
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 1)


@pytest.fixture(autouse=True)
def extended_validity(monkeypatch: pytest.MonkeyPatch) -> None:
    """Extend the validity of one-time codes and of cached tokens beyond the simulated delays."""
    monkeypatch.setattr("shared.identity.users.totp._DRIFT", 500)
    monkeypatch.setattr(directory, "_clock", lambda: 0.0)


def test_every_write_route_has_an_example() -> None:
    assert sorted(EXAMPLES) == WRITE_ROUTES


type _FaultTest = Callable[[RepeatedRequest, Stack, AwsFaults, Clock], None]
"""Sends a request with a fault, and asserts its effects."""


def _kill(kill: Callable[[int], Fault], at: int) -> _FaultTest:
    """Kill the process at call number `at`, then repeat the request."""

    def fault_test(
        request: RepeatedRequest, stack: Stack, aws_faults: AwsFaults, clock: Clock
    ) -> None:
        assert aws_faults.kills(kill(at), request.send)
        assert_done_once(request, stack, request.send_until_done(clock))

    return fault_test


def _disturb(fault: Callable[[int], Fault], at: int) -> _FaultTest:
    """Throttle call number `at` or lose its response; the request must succeed."""

    def fault_test(
        request: RepeatedRequest, stack: Stack, aws_faults: AwsFaults, _clock: Clock
    ) -> None:
        with aws_faults.recorded() as seen, aws_faults.faulty(fault(at)):
            answer = request.send()
        assert len(seen.calls) > at
        assert_done_once(request, stack, answer)

    return fault_test


def _repeat_during(stuck: Callable[[int, Callable[[], None]], Fault], at: int) -> _FaultTest:
    """Repeat the request while the first one is stuck in call number `at` longer than its claim.

    Both callers have the same answer, and the slower request changes nothing more.
    """

    def fault_test(
        request: RepeatedRequest, stack: Stack, aws_faults: AwsFaults, clock: Clock
    ) -> None:
        repeats: list[Response] = []
        left: list[object] = []

        def repeat() -> None:
            clock.advance(LEASE_MS / 1000)
            repeats.append(request.send())
            left.append(_written(stack))

        with aws_faults.faulty(stuck(at, repeat)):
            first = request.send()
        assert (first.status, first.text) == (repeats[0].status, repeats[0].text)
        assert left == [_written(stack)]
        assert_done_once(request, stack, first)

    return fault_test


def _written(stack: Stack) -> object:
    """Return all items and events of the tenant, without the allocated ids and the fences.

    The slower request may invalidate fences again, which only makes others retry.
    """
    items = [
        {name: value for name, value in item.items() if name != "epoch"}
        for item in stack.items()
        if item["PK"]["S"] != "sequence"
    ]
    return items, stack.events()


def _conflicts(
    request: RepeatedRequest, stack: Stack, aws_faults: AwsFaults, _clock: Clock
) -> None:
    """Cancel transactions with conflicts; the request must succeed."""
    with aws_faults.faulty(conflict(times=4)):
        answer = request.send()
    assert_done_once(request, stack, answer)


def _all_conflicts(
    request: RepeatedRequest, stack: Stack, aws_faults: AwsFaults, clock: Clock
) -> None:
    """Cancel all transactions; the request is refused and a repeated request succeeds."""
    request.erp.gateway.remaining_ms = _SHORT_TIME_MS
    with aws_faults.faulty(conflict(times=1_000)):
        refused = request.send()
    assert (refused.status, refused.code) == (503, "service_unavailable")
    assert_done_once(request, stack, request.send_until_done(clock))


_ALWAYS = {
    # Its repeat has changed the password by then, so that it compares with the new one.
    ("POST /users/{id}/password", "stuck_before", 1),
}
"""Faults that a sample has, too: route, kind and number of the call."""


def _fault_tests(route: str, calls: int) -> Iterator[tuple[str, _FaultTest]]:
    """Yield the faults of a request with `calls` calls, the last of which commits.

    A sample has one fault per route: the request dies right before or right after its commit, or
    another fault happens at the commit, or any at a call before it.
    """
    faults: dict[str, Callable[[int], _FaultTest]] = {
        **{kind.__name__: partial(_kill, kind) for kind in (kill_before, kill_after)},
        **{kind.__name__: partial(_disturb, kind) for kind in (throttle, lose_answer)},
        **{kind.__name__: partial(_repeat_during, kind) for kind in (stuck_before, stuck_after)},
    }
    commit = calls - 1
    tests = {
        (name, at): (f"{name} at call {at} of {calls}", fault(at))
        for name, fault in faults.items()
        for at in range(calls)
    }
    deaths = [tests.pop((kill.__name__, commit)) for kill in (kill_before, kill_after)]
    yield from [tests.pop((name, at)) for of, name, at in _ALWAYS if of == route]
    at_commit = [tests.pop((name, commit)) for name in faults if (name, commit) in tests]
    at_commit += [("in conflict", _conflicts), ("busy", _all_conflicts)]
    # Every second route of a sample dies at its commit.
    for others in sampled(route, [deaths, at_commit, deaths, [*tests.values()]], every=4):
        yield from sampled(f"{route} {len(others)}", others, every=len(others))


@pytest.mark.parametrize("route", ROUTES)
def test_write_takes_effect_once_despite_faults(
    route: str, stack: Stack, aws_faults: AwsFaults, clock: Clock
) -> None:
    requests = repeated_requests(route, stack)
    next(requests).send()  # fill the caches of the environment
    request = next(requests)
    with aws_faults.recorded() as seen:
        request.send()
    assert len(seen.calls) >= 2, "a write makes at least a claim and a transaction"
    for name, fault_test in _fault_tests(route, len(seen.calls)):
        try:
            fault_test(next(requests), stack, aws_faults, clock)
        except BaseException as error:
            error.add_note(f"{route}: {name}")
            raise
