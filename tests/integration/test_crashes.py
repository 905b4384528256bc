"""Faults in the middle of a write: the write takes effect exactly once.

Each write route runs with a fault at its first AWS call, its second, and so on to the last. Then
the ERP repeats the request with the same Idempotency-Key.
"""

import os
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from shared.identity.tenancy.directory import directory
from tests.clock import Clock
from tests.faults import (
    AwsFaults,
    Fault,
    Killed,
    conflict,
    kill_after,
    kill_before,
    lose_answer,
    throttle,
)
from tests.gateway import Erp, Form, Response
from tests.integration.route_example import Example
from tests.integration.routes import operations
from tests.integration.stored_entities import (
    StoredEntities,
    assert_counters_match,
    read_stored_entities,
)
from tests.integration.write_routes import EXAMPLES, resource_of
from tests.stack import Stack
from tests.stock_invariants import assert_invariants

_OPERATIONS = {name: found for name, found in operations().items() if found.writes}
WRITE_ROUTES = sorted(_OPERATIONS)
ROUTES = sorted({id(_OPERATIONS[name].handler): name for name in WRITE_ROUTES}.values())
"""One route per handler: PUT and PATCH of a resource have the same handler."""

_CLAIM_EXPIRY_SECONDS = 61
"""Seconds after which claims and fences of a killed process have expired."""
_MAX_ATTEMPTS = 5
"""Number of attempts of the ERP."""
_SHORT_TIME_MS = 10_000
"""Remaining time of a request that runs out of time after several attempts."""
_MOST_REQUESTS = 400


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use few shards, since moto is slow, and small steps, so that examples need several."""
    monkeypatch.setattr("shared.kernel.db.counters.SHARDS", 2)
    monkeypatch.setattr("shared.kernel.db.transaction.SHARDS", 2)
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 1)


@pytest.fixture(autouse=True)
def extended_validity(monkeypatch: pytest.MonkeyPatch) -> None:
    """Extend the validity of one-time codes and of cached tokens beyond the simulated delays."""
    monkeypatch.setattr("shared.identity.users.totp._DRIFT", 500)
    monkeypatch.setattr(directory, "_clock", lambda: 0.0)


def test_every_write_route_has_an_example() -> None:
    assert sorted(EXAMPLES) == WRITE_ROUTES


@dataclass(frozen=True, slots=True)
class _Request:
    """One request that the ERP repeats until it succeeds."""

    route: str
    erp: Erp
    path: str
    body: Mapping[str, Any] | Form | None
    before: StoredEntities
    events_before: int

    @property
    def example(self) -> Example:
        return EXAMPLES[self.route]

    def send(self) -> Response:
        method = self.route.partition(" ")[0]
        return self.erp.send(method, self.path, self.body, key="order-1")

    def send_until_done(self, clock: Clock) -> Response:
        """Repeat the request while the response has a Retry-After header."""
        for _ in range(_MAX_ATTEMPTS):
            answer = self.send()
            if answer.status != 503 and "duplicate_in_flight" not in answer.text:
                return answer
            assert int(answer.headers["Retry-After"]) >= 1
            clock.advance(_CLAIM_EXPIRY_SECONDS)
        pytest.fail(f"still refused: {answer.text}")


def _repeated_requests(route: str, stack: Stack) -> Iterator[_Request]:
    """Yield the request again and again, each time with the tenant in the initial state."""
    example = EXAMPLES[route]
    values = example.prepared(stack.erp())
    path, body = route.partition(" ")[2].format(**values), example.filled(values)
    before, events_before = read_stored_entities(stack), len(stack.events())
    as_prepared = stack.take_snapshot()
    for _ in range(_MOST_REQUESTS):
        erp = example.sender(stack.erp(), values)
        yield _Request(route, erp, path, body, before, events_before)
        as_prepared()
    pytest.fail(f"{route} makes more than {_MOST_REQUESTS} calls")


def _assert_done_once(request: _Request, stack: Stack, answer: Response) -> None:
    example = request.example
    assert answer.status == example.status, answer.text
    again = request.send()
    assert (again.status, again.text) == (answer.status, answer.text)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.headers.get("Location") == answer.headers.get("Location")

    census = read_stored_entities(stack)
    assert census.growth_since(request.before) == example.grows
    assert_counters_match(stack, census)
    entries = stack.events()[request.events_before :]
    events = [entry["type"]["S"] if "type" in entry else "redelivery" for entry in entries]
    assert sorted(events) == sorted(example.events)
    assert_invariants(stack.store())

    path, shown = resource_of(request.path, answer)
    resource = request.erp.get(path)
    assert resource.status == example.status_afterwards
    if resource.status == 200:
        assert {name: resource.data[name] for name in shown} == shown


type _FaultTest = Callable[[_Request, Stack, AwsFaults, Clock], None]
"""Sends a request with a fault, and asserts its effects."""


def _kill(kill: Callable[[int], Fault], at: int) -> _FaultTest:
    """Kill the process at call number `at`, then repeat the request."""

    def fault_test(request: _Request, stack: Stack, aws_faults: AwsFaults, clock: Clock) -> None:
        with pytest.raises(Killed), aws_faults.faulty(kill(at)):
            request.send()
        _assert_done_once(request, stack, request.send_until_done(clock))

    return fault_test


def _disturb(fault: Callable[[int], Fault], at: int) -> _FaultTest:
    """Throttle call number `at` or lose its response; the request must succeed."""

    def fault_test(request: _Request, stack: Stack, aws_faults: AwsFaults, _clock: Clock) -> None:
        with aws_faults.recorded() as seen, aws_faults.faulty(fault(at)):
            answer = request.send()
        assert len(seen.calls) > at
        _assert_done_once(request, stack, answer)

    return fault_test


def _conflicts(request: _Request, stack: Stack, aws_faults: AwsFaults, _clock: Clock) -> None:
    """Cancel transactions with conflicts; the request must succeed."""
    with aws_faults.faulty(conflict(times=4)):
        answer = request.send()
    _assert_done_once(request, stack, answer)


def _all_conflicts(request: _Request, stack: Stack, aws_faults: AwsFaults, clock: Clock) -> None:
    """Cancel all transactions; the request is refused and a repeated request succeeds."""
    request.erp.gateway.remaining_ms = _SHORT_TIME_MS
    with aws_faults.faulty(conflict(times=1_000)):
        refused = request.send()
    assert (refused.status, refused.code) == (503, "service_unavailable")
    _assert_done_once(request, stack, request.send_until_done(clock))


def _fault_tests(route: str, calls: int) -> Iterator[tuple[str, _FaultTest]]:
    """Yield the faults of a request with `calls` calls.

    With SWEEP=all (`make sweep`), every fault at every call. Otherwise every fault at the last
    call, which commits, and one fault at a random call with the seed SWEEP_SEED (default 1).
    """
    faults = {
        kind.__name__: (act, kind)
        for act, kinds in ((_kill, (kill_before, kill_after)), (_disturb, (throttle, lose_answer)))
        for kind in kinds
    }
    everything = [(name, at) for name in faults for at in range(calls)]
    chosen = everything
    if os.environ.get("SWEEP") != "all":
        draw = random.Random(f"{os.environ.get('SWEEP_SEED', '1')} {route}")  # noqa: S311
        chosen = [(name, calls - 1) for name in faults]
        chosen.append(draw.choice([one for one in everything if one not in chosen]))
    for name, at in chosen:
        act, kind = faults[name]
        yield f"{name} at call {at} of {calls}", act(kind, at)
    yield "in conflict", _conflicts
    yield "busy", _all_conflicts


@pytest.mark.parametrize("route", ROUTES)
def test_write_takes_effect_once_despite_faults(
    route: str, stack: Stack, aws_faults: AwsFaults, clock: Clock
) -> None:
    requests = _repeated_requests(route, stack)
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
