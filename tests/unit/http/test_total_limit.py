"""The rate limit of a tenant: all credentials, in many environments, share it."""

import random
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.http import rate_limit
from shared.http.rate_limit import WINDOW_MS, RateLimiter
from shared.http.rate_limit_leases import LeaseRequest, LeaseResult, LocalBudget, spare_budget
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.caller import Caller
from shared.kernel.errors import ServiceError
from tests.rate_limit_simulation import ENVIRONMENT_COUNT, PATTERNS, WindowItem
from tests.sampling import is_complete, sampled

SEEDS = sampled("seeds of both limits", range(3), every=3)
SIZES = [(limit, count) for limit in (1, 19, 120, 1_200) for count in (1, 6, 40)]
NO_STORE: Any = None


def tenant_of(limit: int) -> Tenant:
    return Tenant(
        "acme", "active", "essentials", frozenset(), "https://x", requests_per_minute=limit
    )


@cache
def client(number: int) -> Caller:
    name = f"c{number}"
    return Caller(
        "acme", name, "client", name, frozenset(), frozenset(), second_factor=True, token_id="t"
    )


@dataclass(slots=True)
class Table:
    """The items of the windows."""

    items: dict[str, WindowItem] = field(default_factory=lambda: defaultdict(WindowItem))

    def lease(self, _store: Any, subject: str, _window: int, request: LeaseRequest) -> LeaseResult:
        return self.items[subject].lease(request)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Table:
    """The table in memory; leases of one request are taken one after the other."""
    table = Table()
    monkeypatch.setattr(rate_limit, "_lease", table.lease)
    monkeypatch.setattr(rate_limit, "run_all", lambda *calls: tuple(call() for call in calls))
    return table


def is_admitted(environment: RateLimiter, tenant: Tenant, caller: Caller) -> bool:
    try:
        environment.admit(NO_STORE, tenant, caller)
    except ServiceError:
        return False
    return True


@pytest.mark.parametrize(("limit", "credentials"), SIZES if is_complete() else SIZES[:-1])
@pytest.mark.parametrize("seed", SEEDS)
def test_twenty_environments_keep_both_limits(
    table: Table, limit: int, credentials: int, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - the seed replays it
    tenant = tenant_of(limit)
    total = tenant.limits["total_requests_per_minute"]
    assert not table.items
    environments = [RateLimiter(lambda: 0) for _ in range(ENVIRONMENT_COUNT)]
    admitted = [0] * credentials

    for _ in range(2 * max(total, limit * credentials)):
        number = chance.randrange(credentials)
        admitted[number] += is_admitted(chance.choice(environments), tenant, client(number))

    assert max(admitted) <= limit
    assert sum(admitted) <= total
    least = min(total - spare_budget(total), credentials * (limit - spare_budget(limit)))
    assert sum(admitted) >= least - ENVIRONMENT_COUNT, "each environment may keep one token more"


def test_idle_users_do_not_use_up_the_limit_of_the_tenant(table: Table) -> None:
    """The unspent tokens of users count for their own limits only."""
    tenant, environment = tenant_of(120), RateLimiter(lambda: 0)

    assert all(is_admitted(environment, tenant, client(number)) for number in range(600))
    assert not is_admitted(environment, tenant, client(600))
    assert table.items["tenant"].state.leased == 600


@pytest.mark.parametrize("pattern", ["one environment", "round robin", "random"])
def test_tenant_costs_no_round_trip_of_its_own_once_the_environments_are_known(
    table: Table, pattern: str
) -> None:
    now, tenant, chance = 0, tenant_of(1_200), random.Random(1)  # noqa: S311 - replayable
    environments = [RateLimiter(lambda: now) for _ in range(ENVIRONMENT_COUNT)]
    for minute in range(2):
        now = minute * WINDOW_MS
        table.items.clear()
        own_leases = tenant_leases = alone = 0
        for environment in PATTERNS[pattern](1_200, chance):
            is_admitted(environments[environment], tenant, client(0))
            before = (own_leases, tenant_leases)
            own_leases = table.items["client#c0"].lease_requests
            tenant_leases = table.items["tenant"].lease_requests
            alone += tenant_leases > before[1] and own_leases == before[0]

    assert alone == 0
    assert tenant_leases < own_leases / 3


@given(
    limit=st.integers(1, 400),
    size=st.integers(1, 25),
    requests=st.lists(
        st.tuples(st.integers(0, 24), st.integers(0, 30), st.booleans()), max_size=600
    ),
)
def test_limit_is_never_exceeded_with_reserves_and_returned_tokens(
    limit: int, size: int, requests: list[tuple[int, int, bool]]
) -> None:
    item, budgets = WindowItem(), [LocalBudget(0) for _ in range(size)]
    admitted = 0

    for environment, reserve, refused_elsewhere in requests:
        budget = budgets[environment % size]
        known_exhausted = budget.is_exhausted(limit)
        may_lease, before = budget.needs_lease(limit, reserve), item.lease_requests
        taken = budget.take(limit, item.lease, reserve)
        assert not (taken and known_exhausted)
        assert may_lease or item.lease_requests == before
        if taken and refused_elsewhere:
            budget.put_back()
        else:
            admitted += taken

    assert admitted <= item.state.leased <= limit
    assert item.state.spare <= spare_budget(limit)
