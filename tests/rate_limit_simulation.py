"""A simulation of execution environments that share the rate limit of one credential."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from shared.http.rate_limit_leases import Lease, LeaseRequest, LeaseResult, LocalBudget, WindowState

ENVIRONMENT_COUNT = 20


@dataclass(slots=True)
class WindowItem:
    """The item of one window, as the table stores it.

    `before_lease` runs before each lease request is decided, to simulate concurrent requests.
    """

    state: WindowState = field(default_factory=WindowState)
    lease_requests: int = 0
    before_lease: Callable[[], None] = lambda: None

    def lease(self, request: LeaseRequest) -> LeaseResult:
        """Grant or refuse a lease request; the signature is that of `Lease`."""
        self.before_lease()
        self.lease_requests += 1
        now = self.state
        fits = now.leased <= request.max_leased and (
            not request.extra or now.spare <= request.max_spare
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
    """Environments with their local budgets, and how many requests were admitted or refused."""

    limit: int
    lease: Lease
    environments: int = ENVIRONMENT_COUNT
    admitted: int = 0
    refused: int = 0
    refused_too_early: int = 0
    """Requests that were refused before the number of answered requests reached the limit."""
    _budgets: list[LocalBudget] = field(init=False)

    def __post_init__(self) -> None:
        self._budgets = [LocalBudget(0) for _ in range(self.environments)]

    def next_window(self) -> None:
        """Start the next window."""
        self.admitted = self.refused = self.refused_too_early = 0
        self._budgets = [account.next_window(account.window + 1) for account in self._budgets]

    def send(self, environment: int) -> bool:
        """Send a request to one environment; return whether it was admitted."""
        within = self.admitted + self.refused < self.limit
        admitted = self._budgets[environment].take(self.limit, self.lease)
        if admitted:
            self.admitted += 1
        else:
            self.refused += 1
            self.refused_too_early += within
        return admitted

    def serve(self, order: Iterable[int]) -> None:
        """Send one request to each environment of `order`, one after the other."""
        for environment in order:
            self.send(environment)


type Pattern = Callable[[int, random.Random], Sequence[int]]
"""(limit, random generator) → the environment of each request; 150 % of the limit or more."""


def _idle_but_one(limit: int, rng: random.Random) -> Sequence[int]:
    """Let every environment take a lease, then send all other requests to one of them."""
    everyone = rng.sample(range(ENVIRONMENT_COUNT), ENVIRONMENT_COUNT)
    return [*everyone, *([everyone[-1]] * _total(limit))]


def _bursts(limit: int, rng: random.Random) -> Sequence[int]:
    order: list[int] = []
    while len(order) < _total(limit):
        order += [rng.randrange(ENVIRONMENT_COUNT)] * rng.randint(1, max(2, limit // 8))
    return order


def _joining(limit: int, rng: random.Random) -> Sequence[int]:
    """Start with one environment and add the others one by one."""
    length = _total(limit)
    return [rng.randrange(1 + ENVIRONMENT_COUNT * at // (length + 1)) for at in range(length)]


def _total(limit: int) -> int:
    return limit * 3 // 2


_ALL = range(ENVIRONMENT_COUNT)
_A_FEW = [2.0**-number for number in _ALL]
PATTERNS: Mapping[str, Pattern] = {
    "one environment": lambda limit, _: [0] * _total(limit),
    "round robin": lambda limit, _: [at % ENVIRONMENT_COUNT for at in range(_total(limit))],
    "all idle but one": _idle_but_one,
    "bursts": _bursts,
    "random": lambda limit, rng: rng.choices(_ALL, k=_total(limit)),
    "a few busy": lambda limit, rng: rng.choices(_ALL, _A_FEW, k=_total(limit)),
    "scaling out": _joining,
}


def serve_concurrently(
    simulation: RateLimitSimulation, item: WindowItem, order: Sequence[int], rng: random.Random
) -> None:
    """Serve requests concurrently: while one environment requests a lease, others may run."""
    waiting = list(reversed(order))
    busy: set[int] = set()

    def next_one() -> None:
        environment = waiting.pop()
        if environment in busy:  # it answers one request at a time
            waiting.insert(rng.randint(0, len(waiting)), environment)
            return
        busy.add(environment)
        simulation.send(environment)
        busy.discard(environment)

    def meanwhile() -> None:
        while waiting and len(busy) < simulation.environments and rng.random() < 0.6:
            next_one()

    item.before_lease = meanwhile
    while waiting:
        next_one()
