"""Leases of the rate limit: never too many, hardly any too early, however requests come in."""

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
from tests.rate_limit_simulation import (
    PATTERNS,
    RateLimitSimulation,
    WindowItem,
    serve_concurrently,
)

LIMITS = (120, 300, 1_200)
SEEDS = range(5)


def at_random(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - the seed replays it


def alone() -> tuple[WindowItem, LocalBudget]:
    return WindowItem(), LocalBudget(0)


@pytest.mark.parametrize(("limit", "tokens"), [(120, 6), (300, 15), (1_200, 60), (19, 0), (1, 0)])
def test_a_twentieth_may_be_taken_along(limit: int, tokens: int) -> None:
    assert spare_budget(limit) == tokens


def test_whoever_comes_first_leaves_half_to_others() -> None:
    item, account = alone()

    assert account.take(120, item.lease)

    assert (item.state.leased, item.state.spare) == (1 + 3, 3)
    assert account.remaining(120) == 119


def test_whoever_is_alone_takes_all_that_may_be_taken() -> None:
    item, account = alone()

    taken = [account.take(120, item.lease) for _ in range(5)]

    assert taken == [True] * 5
    assert item.lease_requests == 2
    assert (item.state.leased, item.state.spare) == (4 + 1 + 6, 6)
    assert account.remaining(120) == 115


def test_each_of_several_takes_an_equal_share() -> None:
    item, accounts = WindowItem(), [LocalBudget(0, expected=3) for _ in range(3)]

    assert all(account.take(300, item.lease) for account in accounts)
    assert item.state == WindowState(3 * (1 + 5), 3 * 5, 3)

    other = LocalBudget(0)
    assert other.take(300, item.lease), "nothing is free for a fourth, but its own token"
    assert item.state == WindowState(3 * (1 + 5) + 1, 3 * 5, 4)
    assert all(accounts[0].take(300, item.lease) for _ in range(5 + 1 + 5 + 1))
    assert item.state.spare == 2 * 5 + 4, "a quarter, now that it knows of the fourth"


def test_who_asked_for_too_much_gives_back_all_the_same() -> None:
    item, account, other = WindowItem(), LocalBudget(0), LocalBudget(0)
    assert account.take(120, item.lease)
    assert other.take(120, item.lease)
    assert item.state.spare == 3 + 3

    assert all(account.take(120, item.lease) for _ in range(4))

    assert item.lease_requests == 2 + 2, "it did not know of the other"
    assert item.state.spare == 3, "the other's"


def test_in_the_next_window_as_many_are_expected() -> None:
    item, account = alone()
    account.take(120, item.lease)

    following = WindowItem()
    assert account.next_window(1).take(120, following.lease)
    assert following.state == WindowState(1 + 6, 6, 1)


def test_who_finds_nothing_to_take_along_gets_a_token_for_its_request() -> None:
    item, accounts = WindowItem(), [LocalBudget(0) for _ in range(20)]

    assert all(account.take(120, item.lease) for account in accounts)

    assert item.state.spare == spare_budget(120)
    assert item.state.leased == 20 + spare_budget(120)


def test_an_environment_remembers_that_nothing_is_left() -> None:
    item, account = alone()
    assert all(account.take(19, item.lease) for _ in range(19))
    asked = item.lease_requests

    assert not any(account.take(19, item.lease) for _ in range(100))

    assert (item.lease_requests, account.remaining(19)) == (asked, 0)


def test_a_higher_limit_counts_at_once() -> None:
    item, account = alone()
    for _ in range(20):
        account.take(19, item.lease)

    assert account.take(120, item.lease)
    assert account.remaining(120) == 100


def test_a_lower_limit_counts_at_once() -> None:
    item, account, other = WindowItem(), LocalBudget(0), LocalBudget(0)
    for _ in range(40):
        account.take(120, item.lease)

    assert not other.take(20, item.lease)
    assert other.remaining(20) == 0


def test_what_was_taken_along_is_not_spent_beyond_a_lower_limit() -> None:
    item, account = WindowItem(), LocalBudget(0, expected=1)
    assert account.take(5_000, item.lease)
    assert item.state.spare == 250

    taken = [account.take(10, item.lease) for _ in range(30)]

    assert taken == [True] * 9 + [False] * 21
    assert account.remaining(10) == 0
    assert account.take(5_000, item.lease), "agreed on again, it is spent"


def test_under_a_lower_limit_what_others_have_spent_counts() -> None:
    item, account, other = WindowItem(), LocalBudget(0), LocalBudget(0)
    account.take(1_200, item.lease)
    for _ in range(500):
        other.take(1_200, item.lease)

    assert not account.take(120, item.lease)


def test_what_is_left_under_a_lower_limit_is_still_spare() -> None:
    item, account = WindowItem(), LocalBudget(0, expected=1)
    account.take(1_200, item.lease)

    assert account.take(600, item.lease)

    assert item.state == WindowState(1 + 60 + 1, 60, 1)
    assert account.remaining(600) == 600 - 2


@given(
    before=st.integers(1, 2_000),
    limit=st.integers(1, 400),
    size=st.integers(1, 25),
    early=st.lists(st.integers(0, 24), max_size=200),
    late=st.lists(st.integers(0, 24), min_size=1, max_size=600),
)
def test_never_is_more_given_than_a_limit_that_was_lowered(
    before: int, limit: int, size: int, early: list[int], late: list[int]
) -> None:
    item, accounts = WindowItem(), [LocalBudget(0) for _ in range(size)]
    spent = sum(accounts[one % size].take(before, item.lease) for one in early)

    after = sum(accounts[one % size].take(limit, item.lease) for one in late)

    assert after <= max(0, limit - spent)


def test_what_is_spare_under_a_lower_limit_stops_nobody() -> None:
    item, account, other = WindowItem(), LocalBudget(0), LocalBudget(0)
    account.take(1_200, item.lease)

    assert other.take(300, item.lease)


def test_an_ask_whose_answer_is_lost_is_not_believed_in() -> None:
    item, account = alone()

    def lost(request: LeaseRequest) -> LeaseResult:
        item.lease(request)
        raise ConnectionError

    for _ in range(2):
        with pytest.raises(ConnectionError):
            account.take(120, lost)

    assert account.take(120, item.lease)
    assert item.state.leased == 4 + 4 + 1
    assert item.state.spare == 3 + 3, "what may never be spent counts as spare"


# Twenty environments


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("seed", SEEDS)
def test_twenty_environments_give_the_limit_and_waste_a_twentieth(
    limit: int, pattern: str, seed: int
) -> None:
    item, rng = WindowItem(), at_random(seed)
    simulation = RateLimitSimulation(limit, item.lease)
    for _ in range(3):
        simulation.serve(PATTERNS[pattern](limit, rng))

        assert limit - spare_budget(limit) <= simulation.admitted <= limit
        assert simulation.refused_too_early <= spare_budget(limit)
        item.state = WindowState()
        simulation.next_window()


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("seed", SEEDS)
def test_environments_that_ask_at_the_same_time_do_so_too(
    limit: int, pattern: str, seed: int
) -> None:
    item, rng = WindowItem(), at_random(seed)
    simulation = RateLimitSimulation(limit, item.lease)

    serve_concurrently(simulation, item, PATTERNS[pattern](limit, rng), rng)

    assert simulation.admitted + simulation.refused >= limit * 3 // 2
    assert limit - spare_budget(limit) <= simulation.admitted <= limit


@pytest.mark.parametrize("limit", LIMITS)
def test_one_environment_alone_wastes_nothing_and_seldom_asks(limit: int) -> None:
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
def test_never_is_more_given_than_the_limit(
    limit: int, size: int, order: list[int], failing: set[int], *, applied: bool
) -> None:
    item, accounts = WindowItem(), [LocalBudget(0) for _ in range(size)]
    given_out = 0

    def lease(request: LeaseRequest) -> LeaseResult:
        if item.lease_requests in failing:
            failing.discard(item.lease_requests)
            if applied:
                item.lease(request)
            raise ConnectionError
        return item.lease(request)

    for one in order:
        try:
            given_out += accounts[one % size].take(limit, lease)
        except ConnectionError:
            continue

    assert given_out <= item.state.leased <= limit
    assert item.state.spare <= spare_budget(limit)


@given(
    limit=st.integers(1, 400),
    size=st.integers(1, 25),
    order=st.lists(st.integers(0, 24), min_size=1),
    seed=st.integers(0, 1_000),
)
def test_whatever_comes_at_most_a_twentieth_is_refused_early(
    limit: int, size: int, order: list[int], seed: int
) -> None:
    item, rng = WindowItem(), at_random(seed)
    simulation = RateLimitSimulation(limit, item.lease, environments=size)
    many = [one % size for one in order] * (1 + 2 * limit // len(order))

    serve_concurrently(simulation, item, many, rng)

    assert limit - spare_budget(limit) <= simulation.admitted <= limit
