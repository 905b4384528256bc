"""Leases of the rate limit: the limit is never exceeded, and at most 5 % is refused too early."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.http.rate_limit_leases import (
    LeaseRequest,
    LeaseResult,
    LocalBudget,
    WindowState,
    spare_budget,
)
from tests.cases import each_case
from tests.rate_limit_simulation import (
    PATTERNS,
    RateLimitSimulation,
    WindowItem,
    serve_concurrently,
)

LIMITS = (120, 300, 1_200)
SEEDS = range(5)


def rng_of(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - the seed replays it


def new_window() -> tuple[WindowItem, LocalBudget]:
    return WindowItem(), LocalBudget(0)


@pytest.mark.parametrize(("limit", "tokens"), [(120, 6), (300, 15), (1_200, 60), (19, 0), (1, 0)])
def test_spare_budget_is_five_percent_of_the_limit(limit: int, tokens: int) -> None:
    assert spare_budget(limit) == tokens


def test_first_lease_takes_half_of_the_spare_budget() -> None:
    item, budget = new_window()

    assert budget.take(120, item.lease)

    assert (item.state.leased, item.state.spare) == (1 + 3, 3)
    assert budget.remaining(120) == 119


def test_single_environment_takes_the_whole_spare_budget() -> None:
    item, budget = new_window()

    taken = [budget.take(120, item.lease) for _ in range(5)]

    assert taken == [True] * 5
    assert item.lease_requests == 2
    assert (item.state.leased, item.state.spare) == (4 + 1 + 6, 6)
    assert budget.remaining(120) == 115


def test_known_environments_take_equal_shares() -> None:
    item, budgets = WindowItem(), [LocalBudget(0, expected=3) for _ in range(3)]

    assert all(budget.take(300, item.lease) for budget in budgets)
    assert item.state == WindowState(3 * (1 + 5), 3 * 5, 3)

    other = LocalBudget(0)
    assert other.take(300, item.lease), "a fourth environment gets one token only"
    assert item.state == WindowState(3 * (1 + 5) + 1, 3 * 5, 4)
    assert all(budgets[0].take(300, item.lease) for _ in range(5 + 1 + 5 + 1))
    assert item.state.spare == 2 * 5 + 4, "a quarter, since four environments are known"


def test_environment_returns_a_share_that_is_too_large() -> None:
    item, budget, other = WindowItem(), LocalBudget(0), LocalBudget(0)
    assert budget.take(120, item.lease)
    assert other.take(120, item.lease)
    assert item.state.spare == 3 + 3

    assert all(budget.take(120, item.lease) for _ in range(4))

    assert item.lease_requests == 2 + 2, "the first lease expected one environment"
    assert item.state.spare == 3, "spare tokens of the other environment"


def test_number_of_environments_is_expected_in_the_next_window() -> None:
    item, budget = new_window()
    budget.take(120, item.lease)

    following = WindowItem()
    assert budget.next_window(1).take(120, following.lease)
    assert following.state == WindowState(1 + 6, 6, 1)


def test_lease_without_spare_budget_grants_one_token() -> None:
    item, budgets = WindowItem(), [LocalBudget(0) for _ in range(20)]

    assert all(budget.take(120, item.lease) for budget in budgets)

    assert item.state.spare == spare_budget(120)
    assert item.state.leased == 20 + spare_budget(120)


def test_exhausted_limit_is_cached() -> None:
    item, budget = new_window()
    assert all(budget.take(19, item.lease) for _ in range(19))
    asked = item.lease_requests

    assert not any(budget.take(19, item.lease) for _ in range(100))

    assert (item.lease_requests, budget.remaining(19)) == (asked, 0)


def test_raised_limit_applies_immediately() -> None:
    item, budget = new_window()
    for _ in range(20):
        budget.take(19, item.lease)

    assert budget.take(120, item.lease)
    assert budget.remaining(120) == 100


def test_lowered_limit_applies_immediately() -> None:
    item, budget, other = WindowItem(), LocalBudget(0), LocalBudget(0)
    for _ in range(40):
        budget.take(120, item.lease)

    assert not other.take(20, item.lease)
    assert other.remaining(20) == 0


def test_leased_tokens_are_not_used_above_a_lowered_limit() -> None:
    item, budget = WindowItem(), LocalBudget(0, expected=1)
    assert budget.take(5_000, item.lease)
    assert item.state.spare == 250

    taken = [budget.take(10, item.lease) for _ in range(30)]

    assert taken == [True] * 9 + [False] * 21
    assert budget.remaining(10) == 0
    assert budget.take(5_000, item.lease), "the lease is usable with the higher limit"


def test_lowered_limit_counts_requests_of_other_environments() -> None:
    item, budget, other = WindowItem(), LocalBudget(0), LocalBudget(0)
    budget.take(1_200, item.lease)
    for _ in range(500):
        other.take(1_200, item.lease)

    assert not budget.take(120, item.lease)


def test_unused_tokens_stay_spare_under_a_lowered_limit() -> None:
    item, budget = WindowItem(), LocalBudget(0, expected=1)
    budget.take(1_200, item.lease)

    assert budget.take(600, item.lease)

    assert item.state == WindowState(1 + 60 + 1, 60, 1)
    assert budget.remaining(600) == 600 - 2


@given(
    before=st.integers(1, 2_000),
    limit=st.integers(1, 400),
    size=st.integers(1, 25),
    early=st.lists(st.integers(0, 24), max_size=200),
    late=st.lists(st.integers(0, 24), min_size=1, max_size=600),
)
def test_lowered_limit_is_never_exceeded(
    before: int, limit: int, size: int, early: list[int], late: list[int]
) -> None:
    item, budgets = WindowItem(), [LocalBudget(0) for _ in range(size)]
    spent = sum(budgets[one % size].take(before, item.lease) for one in early)

    after = sum(budgets[one % size].take(limit, item.lease) for one in late)

    assert after <= max(0, limit - spent)


def test_spare_tokens_do_not_block_others_under_a_lowered_limit() -> None:
    item, budget, other = WindowItem(), LocalBudget(0), LocalBudget(0)
    budget.take(1_200, item.lease)

    assert other.take(300, item.lease)


def test_lease_with_a_lost_response_is_not_used() -> None:
    item, budget = new_window()

    def lost(request: LeaseRequest) -> LeaseResult:
        item.lease(request)
        raise ConnectionError

    for _ in range(2):
        with pytest.raises(ConnectionError):
            budget.take(120, lost)

    assert budget.take(120, item.lease)
    assert item.state.leased == 4 + 4 + 1
    assert item.state.spare == 3 + 3, "lost leases count as spare"


# Twenty environments


@each_case("limit", LIMITS)
@each_case("pattern", PATTERNS)
@each_case("seed", SEEDS)
def test_twenty_environments_admit_at_least_95_percent_of_the_limit(
    limit: int, pattern: str, seed: int
) -> None:
    item, rng = WindowItem(), rng_of(seed)
    simulation = RateLimitSimulation(limit, item.lease)
    for _ in range(3):
        simulation.serve(PATTERNS[pattern](limit, rng))

        assert limit - spare_budget(limit) <= simulation.admitted <= limit
        assert simulation.refused_too_early <= spare_budget(limit)
        item.state = WindowState()
        simulation.next_window()


@pytest.mark.parametrize("limit", LIMITS)
def test_single_environment_admits_the_limit_with_few_leases(limit: int) -> None:
    item = WindowItem()
    simulation = RateLimitSimulation(limit, item.lease)

    simulation.serve([0] * (limit * 2))

    assert (simulation.admitted, simulation.refused_too_early) == (limit, 0)
    assert item.lease_requests <= 2 + limit / (1 + spare_budget(limit))


@given(
    limit=st.integers(1, 400),
    size=st.integers(1, 25),
    order=st.lists(st.integers(0, 24), max_size=600),
    failing=st.sets(st.integers(0, 200), max_size=20),
    applied=st.booleans(),
)
def test_limit_is_never_exceeded_despite_failures(
    limit: int, size: int, order: list[int], failing: set[int], *, applied: bool
) -> None:
    item, budgets = WindowItem(), [LocalBudget(0) for _ in range(size)]
    admitted_count = 0

    def lease(request: LeaseRequest) -> LeaseResult:
        if item.lease_requests in failing:
            failing.discard(item.lease_requests)
            if applied:
                item.lease(request)
            raise ConnectionError
        return item.lease(request)

    for one in order:
        try:
            admitted_count += budgets[one % size].take(limit, lease)
        except ConnectionError:
            continue

    assert admitted_count <= item.state.leased <= limit
    assert item.state.spare <= spare_budget(limit)


@given(
    limit=st.integers(1, 400),
    size=st.integers(1, 25),
    order=st.lists(st.integers(0, 24), min_size=1),
    seed=st.integers(0, 1_000),
)
def test_at_most_five_percent_is_refused_too_early(
    limit: int, size: int, order: list[int], seed: int
) -> None:
    item, rng = WindowItem(), rng_of(seed)
    simulation = RateLimitSimulation(limit, item.lease, environments=size)
    many = [one % size for one in order] * (1 + 2 * limit // len(order))

    serve_concurrently(simulation, item, many, rng)

    assert limit - spare_budget(limit) <= simulation.admitted <= limit
