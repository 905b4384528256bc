"""The rate limit with failed calls, killed processes and many environments."""

import random

import pytest

from shared.http import rate_limit
from shared.http.rate_limit import RateLimiter
from shared.http.rate_limit_leases import LeaseRequest, LeaseResult, spare_budget
from shared.kernel.caller import Caller
from shared.kernel.errors import ServiceError
from tests.concurrency import run_concurrently
from tests.faults import (
    AwsFaults,
    Fault,
    lost,
    refuse_calls,
)
from tests.gateway import Erp
from tests.integration.call_faults import at_calls
from tests.integration.http.rate_limit_headers import ERP, LIMIT, read_rate_limit
from tests.rate_limit_simulation import ENVIRONMENT_COUNT, PATTERNS, RateLimitSimulation, WindowItem
from tests.stack import Stack

pytestmark = pytest.mark.usefixtures("mini")

# Faults


_REFUSALS = ["ResourceNotFoundException", "ThrottlingException", "AccessDeniedException"]


@pytest.mark.parametrize(
    "fault",
    [
        *(refuse_calls("UpdateItem", code=code) for code in _REFUSALS),
        at_calls("UpdateItem", answer=lambda _: lost()),
    ],
)
def test_request_is_admitted_when_the_lease_fails(
    mini: Erp, aws_faults: AwsFaults, fault: Fault, capsys: pytest.CaptureFixture[str]
) -> None:
    with aws_faults.faulty(fault):
        answer = mini.get("/products")

    assert (answer.status, read_rate_limit(answer)[:2]) == (200, (LIMIT, LIMIT))
    assert "rate_limit_not_counted" in capsys.readouterr().out
    assert read_rate_limit(mini.get("/products"))[:2] == (LIMIT, LIMIT - 1)


# Twenty environments


def _caller(stack: Stack) -> Caller:
    assert stack.tenant("mini")
    return Caller(
        "mini", "erp", "client", "erp", frozenset(), frozenset(), second_factor=True, token_id="t"
    )


@pytest.mark.parametrize("pattern", PATTERNS)
def test_table_grants_the_leases_of_the_simulation(stack: Stack, pattern: str) -> None:
    """So the results of tests/unit/http/test_leases.py hold for the table as well."""
    store, item = stack.store("mini"), WindowItem()

    def both(request: LeaseRequest) -> LeaseResult:
        outcome = rate_limit._lease(store, ERP, 1, request)
        assert outcome == item.lease(request)
        return outcome

    simulation = RateLimitSimulation(LIMIT, both)
    simulation.serve(PATTERNS[pattern](LIMIT, random.Random(1)))  # noqa: S311 - the seed replays it

    assert LIMIT - spare_budget(LIMIT) <= simulation.admitted <= LIMIT


def test_twenty_concurrent_environments_share_one_limit(
    stack: Stack, aws_faults: AwsFaults
) -> None:
    tenant, caller, store = stack.tenant("mini"), _caller(stack), stack.store("mini")
    aws_faults.latency = 0.001

    def environment(_: int) -> int:
        own = RateLimiter()
        passed = 0
        for _ in range(LIMIT // 10):
            try:
                own.admit(store, tenant, caller)
            except ServiceError:
                continue
            passed += 1
        return passed

    passed = sum(run_concurrently(ENVIRONMENT_COUNT, environment))

    assert LIMIT - spare_budget(LIMIT) <= passed <= LIMIT


# Budgets that an environment caches


def test_number_of_cached_budgets_is_limited(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "_CAPACITY", 1 + 2)  # the tenant and two clients
    a, b, c = (stack.erp("mini", client=name) for name in "abc")

    assert [read_rate_limit(erp.get("/products"))[1] for erp in (a, b, a, c, a)] == [
        LIMIT - used for used in (1, 1, 2, 1, 3)
    ]
    assert read_rate_limit(b.get("/products"))[1] == LIMIT - 2 - spare_budget(LIMIT) // 2, (
        "the rest of its lease is lost"
    )
