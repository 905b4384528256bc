"""Execution environments that answer the requests of one credential in one window."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from shared.http.rate_limit_leases import Lease, LeaseRequest, LeaseResult, LocalBudget, WindowState

ENVIRONMENT_COUNT = 20


@dataclass(slots=True)
class WindowItem:
    """The item of a window, as the table would keep it.

    `meanwhile` is called before each ask is decided: what others do in that moment.
    """

    state: WindowState = field(default_factory=WindowState)
    lease_requests: int = 0
    before_lease: Callable[[], None] = lambda: None

    def lease(self, request: LeaseRequest) -> LeaseResult:
        """Decide an ask, as `shared.http.rate_limit_leases.Lease` has it."""
        self.before_lease()
        self.lease_requests += 1
        now = self.state
        fits = now.leased <= request.most_leased and (
            not request.extra or now.spare <= request.most_spare
        )
        if now.leased and not fits:
            return LeaseResult(granted=False, state=now)
        self.state = WindowState(
            now.leased + request.tokens,
            now.spare + request.extra - request.returned,
            now.environments + request.is_first,
        )
        return LeaseResult(granted=True, state=self.state)


@dataclass(slots=True)
class RateLimitSimulation:
    """Environments at work, each with what it knows, and what became of the requests."""

    limit: int
    lease: Lease
    environments: int = ENVIRONMENT_COUNT
    admitted: int = 0
    refused: int = 0
    refused_too_early: int = 0
    """Requests that were refused although fewer than the limit had been answered before."""
    _budgets: list[LocalBudget] = field(init=False)

    def __post_init__(self) -> None:
        self._budgets = [LocalBudget(0) for _ in range(self.environments)]

    def next_window(self) -> None:
        """Begin another window."""
        self.admitted = self.refused = self.refused_too_early = 0
        self._budgets = [account.next_window(account.window + 1) for account in self._budgets]

    def send(self, environment: int) -> bool:
        """Send a request that this environment answers; whether it was admitted."""
        within = self.admitted + self.refused < self.limit
        admitted = self._budgets[environment].take(self.limit, self.lease)
        if admitted:
            self.admitted += 1
        else:
            self.refused += 1
            self.refused_too_early += within
        return admitted

    def serve(self, order: Iterable[int]) -> None:
        """Send requests, one after the other, to these environments."""
        for environment in order:
            self.send(environment)


type Pattern = Callable[[int, random.Random], Sequence[int]]
"""(limit, chance) → who answers each request; half as many again as the limit allows."""


def _one(limit: int, _: random.Random) -> Sequence[int]:
    return [0] * (limit * 3 // 2)


def _in_turn(limit: int, _: random.Random) -> Sequence[int]:
    return [number % ENVIRONMENT_COUNT for number in range(limit * 3 // 2)]


def _idle_but_one(limit: int, chance: random.Random) -> Sequence[int]:
    """Every one takes something along, and then only one has work."""
    everyone = chance.sample(range(ENVIRONMENT_COUNT), ENVIRONMENT_COUNT)
    return [*everyone, *([everyone[-1]] * (limit * 3 // 2))]


def _bursts(limit: int, chance: random.Random) -> Sequence[int]:
    order: list[int] = []
    while len(order) < limit * 3 // 2:
        order += [chance.randrange(ENVIRONMENT_COUNT)] * chance.randint(1, max(2, limit // 8))
    return order


def _at_random(limit: int, chance: random.Random) -> Sequence[int]:
    return chance.choices(range(ENVIRONMENT_COUNT), k=limit * 3 // 2)


def _a_few_busy(limit: int, chance: random.Random) -> Sequence[int]:
    weights = [2.0**-number for number in range(ENVIRONMENT_COUNT)]
    return chance.choices(range(ENVIRONMENT_COUNT), weights, k=limit * 3 // 2)


def _joining(limit: int, chance: random.Random) -> Sequence[int]:
    """One alone at first, then more and more."""
    length = limit * 3 // 2
    return [chance.randrange(1 + ENVIRONMENT_COUNT * at // (length + 1)) for at in range(length)]


PATTERNS: Mapping[str, Pattern] = {
    "one alone": _one,
    "all in turn": _in_turn,
    "all idle but one": _idle_but_one,
    "bursts": _bursts,
    "at random": _at_random,
    "a few busy": _a_few_busy,
    "one alone, then all": _joining,
}


def serve_concurrently(
    simulation: RateLimitSimulation, item: WindowItem, order: Sequence[int], chance: random.Random
) -> None:
    """Serve requests that meet: while one environment asks, others go on, as chance has it."""
    waiting = list(reversed(order))
    busy: set[int] = set()

    def next_one() -> None:
        environment = waiting.pop()
        if environment in busy:  # it answers one request at a time
            waiting.insert(chance.randint(0, len(waiting)), environment)
            return
        busy.add(environment)
        simulation.send(environment)
        busy.discard(environment)

    def meanwhile() -> None:
        while waiting and len(busy) < simulation.environments and chance.random() < 0.6:
            next_one()

    item.before_lease = meanwhile
    while waiting:
        next_one()
