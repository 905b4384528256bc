"""The limit of requests where calls fail, processes die, and many environments share it."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from shared.http import rate_limit
from shared.http.rate_limit import RateLimiter, limiter
from shared.http.rate_limit_leases import LeaseRequest, LeaseResult, spare_budget
from shared.kernel.caller import Caller
from shared.kernel.errors import ServiceError
from tests.faults import (
    Answer,
    AwsFaults,
    Call,
    Fault,
    Forward,
    Killed,
    kill_after,
    lose_answer,
    lost,
    refusal,
)
from tests.gateway import Erp
from tests.integration.http.rate_limit_headers import ERP, LIMIT, read_rate_limit
from tests.rate_limit_simulation import ENVIRONMENT_COUNT, PATTERNS, RateLimitSimulation, WindowItem
from tests.stack import Stack

# Faults


def _missing(call: Call, forward: Forward) -> Answer:
    return refusal("ResourceNotFoundException") if call.operation == "UpdateItem" else forward()


def _throttled(call: Call, forward: Forward) -> Answer:
    return refusal("ThrottlingException") if call.operation == "UpdateItem" else forward()


def _denied(call: Call, forward: Forward) -> Answer:
    return refusal("AccessDeniedException") if call.operation == "UpdateItem" else forward()


def _cut_off(call: Call, forward: Forward) -> Answer:
    return lost() if call.operation == "UpdateItem" else forward()


@pytest.mark.parametrize("fault", [_missing, _throttled, _denied, _cut_off])
def test_a_request_that_cannot_be_counted_passes(
    mini: Erp, aws_faults: AwsFaults, fault: Fault, capsys: pytest.CaptureFixture[str]
) -> None:
    with aws_faults.faulty(fault):
        answer = mini.get("/products")

    assert (answer.status, read_rate_limit(answer)[:2]) == (200, (LIMIT, LIMIT))
    assert "rate_limit_not_counted" in capsys.readouterr().out
    assert read_rate_limit(mini.get("/products"))[:2] == (LIMIT, LIMIT - 1)


def test_an_ask_that_is_repeated_costs_tokens_and_gives_none(
    stack: Stack, mini: Erp, aws_faults: AwsFaults
) -> None:
    assert stack.erp("mini", client="shop").get("/products").status == 200
    with aws_faults.faulty(lose_answer(0)):
        assert read_rate_limit(mini.get("/products"))[1] == LIMIT - 1 - 4, "botocore asked twice"

    passed = 1 + sum(mini.get("/products").status == 200 for _ in range(LIMIT))

    assert passed == LIMIT - 4


def test_an_environment_that_dies_keeps_what_it_took_along(
    stack: Stack, mini: Erp, aws_faults: AwsFaults
) -> None:
    assert stack.erp("mini", client="shop").get("/products").status == 200
    with pytest.raises(Killed), aws_faults.faulty(kill_after(0)):
        mini.get("/products")
    limiter.forget()

    passed = sum(mini.get("/products").status == 200 for _ in range(LIMIT))

    assert passed == LIMIT - 1 - spare_budget(LIMIT) // 2


# Twenty environments


def _caller(stack: Stack) -> Caller:
    assert stack.tenant("mini")
    return Caller(
        "mini", "erp", "client", "erp", frozenset(), frozenset(), second_factor=True, token_id="t"
    )


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_table_decides_as_the_simulation_does(stack: Stack, mini: Erp, pattern: str) -> None:
    """What tests/unit/http/test_leases.py shows of many patterns so holds for the table."""
    assert mini
    store, item = stack.store("mini"), WindowItem()

    def both(request: LeaseRequest) -> LeaseResult:
        outcome = rate_limit._lease(store, ERP, 1, request)
        assert outcome == item.lease(request)
        return outcome

    simulation = RateLimitSimulation(LIMIT, both)
    simulation.serve(PATTERNS[pattern](LIMIT, random.Random(1)))  # noqa: S311 - the seed replays it

    assert LIMIT - spare_budget(LIMIT) <= simulation.admitted <= LIMIT


def test_twenty_environments_at_once_share_one_limit(
    stack: Stack, mini: Erp, aws_faults: AwsFaults
) -> None:
    assert mini
    tenant, caller, store = stack.tenant("mini"), _caller(stack), stack.store("mini")
    start = threading.Barrier(ENVIRONMENT_COUNT)
    aws_faults.latency = 0.001

    def environment(_: int) -> int:
        own = RateLimiter()
        start.wait()
        passed = 0
        for _ in range(LIMIT // 10):
            try:
                own.admit(store, tenant, caller)
            except ServiceError:
                continue
            passed += 1
        return passed

    with ThreadPoolExecutor(ENVIRONMENT_COUNT) as pool:
        passed = sum(pool.map(environment, range(ENVIRONMENT_COUNT)))

    assert LIMIT - spare_budget(LIMIT) <= passed <= LIMIT


# What an environment remembers


def test_an_environment_remembers_so_many_credentials(
    stack: Stack, mini: Erp, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mini
    monkeypatch.setattr(rate_limit, "_CAPACITY", 2)
    a, b, c = (stack.erp("mini", client=name) for name in "abc")

    assert [read_rate_limit(erp.get("/products"))[1] for erp in (a, b, a, c, a)] == [
        LIMIT - used for used in (1, 1, 2, 1, 3)
    ]
    assert read_rate_limit(b.get("/products"))[1] == LIMIT - 2 - spare_budget(LIMIT) // 2, (
        "what was left is lost"
    )


def test_what_was_forgotten_is_wasted_and_no_more(mini: Erp) -> None:
    for _ in range(3):
        assert mini.get("/products").status == 200
        limiter.forget()

    passed = sum(mini.get("/products").status == 200 for _ in range(LIMIT))

    assert LIMIT - spare_budget(LIMIT) <= 3 + passed <= LIMIT
