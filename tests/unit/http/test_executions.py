"""One company at its limit leaves the executions of the account to the others.

A simulation by events: executions serve one request at a time, with the rate limit, the costs and
the slots of the service.
"""

import heapq
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any

import pytest

from shared.http import rate_limit
from shared.http.rate_limit import RateLimiter, cost_of
from shared.http.rate_limit_leases import LeaseRequest, LeaseResult, WindowState
from shared.http.slow_requests import Slots, slot_count, with_slot
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.caller import Caller
from shared.kernel.errors import RateLimited
from tests.rate_limit_simulation import WindowItem

_MINUTES = 2
_PER_MINUTE = 6_000
_USUAL_MS, _SLOW_MS, _NOTICED_MS = 50, 3_000, 520
"""Duration of a usual request, of the longest search, and until a slow one asks for its slot."""
_SHORTEST_MS = 100
"""An execution serves at most ten requests per second, also those that are refused."""


@dataclass
class _Company:
    """A company with five clients."""

    slug: str
    slots: Slots = field(default_factory=dict)
    longest_wait: int = 0

    @cached_property
    def tenant(self) -> Tenant:
        return Tenant(self.slug, "active", "enterprise", frozenset(), "https://x")

    @cached_property
    def callers(self) -> list[Caller]:
        nothing = frozenset[str]()
        return [
            Caller(
                self.slug, one, "client", one, nothing, nothing, second_factor=True, token_id="t"
            )
            for one in "abcde"
        ]

    def caller(self, number: int) -> Caller:
        return self.callers[number % len(self.callers)]


class _Account:
    """The executions of an account, and the windows of its companies.

    Args:
        executions: How many requests run at the same time.
        counts_costs: Whether requests are charged what they cost, and slow ones need a slot.
    """

    def __init__(self, executions: int, *, counts_costs: bool) -> None:
        self._now = 0
        self._counts_costs = counts_costs
        self._windows: dict[tuple[str, int], WindowItem] = defaultdict(WindowItem)
        self._idle = [RateLimiter(lambda: self._now) for _ in range(executions)]
        self._numbers = count()

    def lease(self, store: Any, subject: str, window: int, request: LeaseRequest) -> LeaseResult:
        return self._windows[f"{store} {subject}", window].lease(request)

    def charge(self, store: Any, subject: str, window: int, tokens: int) -> WindowState:
        item = self._windows[f"{store} {subject}", window]
        state = item.state
        item.state = WindowState(state.leased + tokens, state.spare, state.environments)
        return item.state

    def serve(self, arrivals: Iterable[tuple[int, _Company, bool]]) -> None:
        """Serve requests: when they arrive in milliseconds, whose they are, and whether slow."""
        waiting: deque[tuple[int, _Company, bool]] = deque()
        ends: list[tuple[int, int, RateLimiter, Iterator[int]]] = []
        coming = iter(sorted(arrivals, key=lambda one: one[0]))
        arrival = next(coming, None)
        while arrival or ends:
            if arrival and (not ends or arrival[0] <= ends[0][0]):
                self._now = arrival[0]
                waiting.append(arrival)
                arrival = next(coming, None)
            else:
                self._now, number, environment, steps = heapq.heappop(ends)
                self._advance(ends, number, environment, steps)
            while waiting and self._idle:
                begun = waiting.popleft()
                company = begun[1]
                company.longest_wait = max(company.longest_wait, self._now - begun[0])
                number = next(self._numbers)
                environment = self._idle.pop()
                steps = self._run(number, environment, company, is_slow=begun[2])
                self._advance(ends, number, environment, steps)

    def _advance(
        self,
        ends: list[tuple[int, int, RateLimiter, Iterator[int]]],
        number: int,
        environment: RateLimiter,
        steps: Iterator[int],
    ) -> None:
        milliseconds = next(steps, None)
        if milliseconds is None:
            self._idle.append(environment)
        else:
            heapq.heappush(ends, (self._now + milliseconds, number, environment, steps))

    def _run(
        self, number: int, environment: RateLimiter, company: _Company, *, is_slow: bool
    ) -> Iterator[int]:
        """Run a request; yield the milliseconds until it goes on."""
        store: Any = company.slug
        tenant, caller, began = company.tenant, company.caller(number), self._now
        try:
            environment.admit(store, tenant, caller)
        except RateLimited:
            yield _SHORTEST_MS
            return
        if is_slow:
            yield _NOTICED_MS
            try:
                self._take_slot(str(number), company)
            except RateLimited:
                pass
            else:
                yield _SLOW_MS - _NOTICED_MS
                company.slots = {k: v for k, v in company.slots.items() if k != str(number)}
        else:
            yield _USUAL_MS
        if self._counts_costs:
            environment.charge(store, tenant, caller, cost_of(self._now - began, 0))
        if self._now - began < _SHORTEST_MS:
            yield _SHORTEST_MS - (self._now - began)

    def _take_slot(self, name: str, company: _Company) -> None:
        if self._counts_costs:
            subject = f"client#{company.caller(int(name)).subject}"
            most = slot_count(company.tenant)
            company.slots = with_slot(
                company.slots, name, subject, self._now + 30_000, self._now, most
            )


def _evenly(minute: int) -> Iterator[int]:
    return (minute * 60_000 + 10 * number for number in range(_PER_MINUTE))


def _at_once(minute: int) -> Iterator[int]:
    """All at the begin of the minute, as the stage admits them: 500, then 1,000 per second."""
    return (minute * 60_000 + max(0, number - 500) for number in range(_PER_MINUTE))


_PATTERNS = {"evenly": _evenly, "at once": _at_once}


def _longest_wait(
    monkeypatch: pytest.MonkeyPatch, executions: int, pattern: str, *, counts_costs: bool
) -> int:
    """Return how many milliseconds a request of company B waits for an execution at most.

    Company A sends as many slow requests as its plan allows, company B 20 usual ones per second.
    """
    account = _Account(executions, counts_costs=counts_costs)
    monkeypatch.setattr(rate_limit, "_lease", account.lease)
    monkeypatch.setattr(rate_limit, "_charge", account.charge)
    monkeypatch.setattr(rate_limit, "run_all", lambda *calls: tuple(call() for call in calls))
    a, b = _Company("a"), _Company("b")
    account.serve(
        [
            *((at, a, True) for minute in range(_MINUTES) for at in _PATTERNS[pattern](minute)),
            *((at, b, False) for at in range(7, _MINUTES * 60_000, 50)),
        ]
    )
    return b.longest_wait


@pytest.mark.parametrize(("executions", "pattern"), [(100, "evenly"), (1_000, "at once")])
def test_company_at_its_limit_leaves_others_their_answers(
    monkeypatch: pytest.MonkeyPatch, executions: int, pattern: str
) -> None:
    assert _longest_wait(monkeypatch, executions, pattern, counts_costs=True) <= 100


def test_without_costs_and_slots_others_would_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """So the simulation shows what the limits are for."""
    assert _longest_wait(monkeypatch, 100, "evenly", counts_costs=False) > 60_000
