"""Cost of the rate limit, and its accuracy when twenty environments share it."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle

import pytest

from operations import provisioning
from shared.http.rate_limit import WINDOW_MS, RateLimiter
from shared.identity.tenancy.rules import NewTenant
from shared.identity.tenancy.tenant import PLANS, Tenant
from shared.kernel.caller import Caller
from shared.kernel.db.store import Store
from shared.kernel.errors import ServiceError
from tests import faults
from tests.bench.report import Row, Table, at_most
from tests.faults import AwsFaults
from tests.rate_limit_simulation import ENVIRONMENT_COUNT, PATTERNS, Pattern
from tests.stack import ADDRESS, Stack, deployed

_WINDOWS, _QUICK_WINDOWS = 3, 1
_ALONE: Mapping[str, int] = {"essentials": 160, "professional": 70, "enterprise": 20}
"""Upper bound of round trips per 1,000 requests: one per 5 % of the limit, and the first."""
_CREDENTIALS = 8
"""Credentials of a tenant that send as much as each may; together 160 % of its limit."""
_SHARE = 0.05
"""Share of the limit that may be refused too early."""
_CALLER = Caller(
    "mini", "erp", "client", "erp", frozenset(), frozenset(), second_factor=True, token_id="t"
)


def measure(quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Measure the limit of each plan with one environment and with twenty."""
    windows = _QUICK_WINDOWS if quick else _WINDOWS
    single = Table(
        "Cost of the rate limit",
        ["plan", "requests per minute", "round trips per 1,000 requests", "AWS calls"],
        "One environment answers as many requests per minute as the plan allows. A call is a"
        " conditional write of an item of less than 1 KB; most requests need no call. The calls for"
        " the credential and for the tenant are concurrent: one round trip.",
    )
    shared = Table(
        "Accuracy of the rate limit",
        [
            "requests per minute, distribution",
            "admitted, share of the limit",
            "refused too early, share of the limit",
            "calls per 1,000 requests",
        ],
        f"{ENVIRONMENT_COUNT} environments receive 150 % of the allowed requests, for {windows}"
        " minutes. Shares are those of the worst minute, calls are the mean. A request is refused"
        " too early when it is refused before the number of answered requests reaches the limit.",
    )
    with pytest.MonkeyPatch.context() as patch:
        aws_faults = faults.install(patch)
        with deployed(patch) as stack:
            bench = _Bench(stack, aws_faults, windows)
            for plan in PLANS:
                limit, minutes = bench.serve(plan, lambda limit, _: [0] * limit)
                trips = _per_1000(limit, [one.trips for one in minutes])
                cells = [plan, f"{limit}", f"{trips:.0f}", f"{_calls(limit, minutes):.0f}"]
                single.rows.append(Row(cells, *at_most(trips, _ALONE[plan])))
            for plan in PLANS:
                for name, pattern in PATTERNS.items():
                    limit, minutes = bench.serve(plan, pattern)
                    shared.rows.append(_row(f"{limit}, {name}", limit, minutes))
            for plan in PLANS:
                total, minutes = bench.serve(plan, _all_at_random, _CREDENTIALS)
                title = f"{total} of a tenant, {_CREDENTIALS} clients at random"
                shared.rows.append(_row(title, total, minutes))
    return [single, shared]


@dataclass(slots=True)
class _Minute:
    """The results of the requests of one window."""

    admitted: int = 0
    answered: int = 0
    early: int = 0
    calls: int = 0
    trips: int = 0
    """Requests that made calls; the calls of a request are concurrent, unless one is refused."""


def _all_at_random(limit: int, chance: random.Random) -> Sequence[int]:
    """Send as many requests as eight credentials may, to random environments."""
    return chance.choices(range(ENVIRONMENT_COUNT), k=limit * _CREDENTIALS)


def _calls(limit: int, minutes: Sequence[_Minute]) -> float:
    """Return the AWS calls per 1,000 allowed requests."""
    return _per_1000(limit, [one.calls for one in minutes])


def _per_1000(limit: int, counts: Sequence[int]) -> float:
    return sum(counts) / (limit * len(counts)) * 1_000


def _row(title: str, limit: int, minutes: Sequence[_Minute]) -> Row:
    most, least = (choose(one.admitted for one in minutes) / limit for choose in (max, min))
    early = max(one.early for one in minutes) / limit
    cells = [
        title,
        f"{least:.1%} … {most:.1%}" if least < most else f"{most:.1%}",
        f"{early:.1%}",
        f"{_calls(limit, minutes):.0f}",
    ]
    return Row(cells, f"≤ 100 %, early ≤ {_SHARE:.0%}", most <= 1 and early <= _SHARE)


@dataclass(slots=True)
class _Bench:
    stack: Stack
    aws_faults: AwsFaults
    windows: int
    _now: int = 0

    def serve(self, plan: str, pattern: Pattern, credentials: int = 1) -> tuple[int, list[_Minute]]:
        """Serve a pattern in every window; return the limit and the result of each window.

        The credentials send in turn. The limit of several is that of the tenant.
        """
        provisioning.create_tenant(NewTenant("mini", base_url=ADDRESS))
        tenant = provisioning.set_plan("mini", plan)
        limit = tenant.limits["requests_per_minute"]
        total = tenant.limits["total_requests_per_minute"] if credentials > 1 else limit
        callers = [replace(_CALLER, subject=f"erp-{number}") for number in range(credentials)]
        environments = [RateLimiter(self._clock) for _ in range(ENVIRONMENT_COUNT)]
        store = self.stack.store("mini")
        chance = random.Random(plan)  # noqa: S311 - replayable, not secret
        minutes = []
        for _ in range(self.windows):
            self._now += WINDOW_MS
            order = pattern(limit, chance)
            minute = _Minute()
            with self.aws_faults.recorded() as seen:
                for environment, caller in zip(order, cycle(callers), strict=False):
                    before = len(seen.calls)
                    if _is_admitted(environments[environment], store, tenant, caller):
                        minute.admitted += 1
                    else:
                        minute.early += minute.answered < total
                    minute.answered += 1
                    minute.trips += len(seen.calls) > before
            minute.calls = len(seen.calls)
            minutes.append(minute)
        provisioning.set_plan("mini", "essentials")
        return total, minutes

    def _clock(self) -> int:
        return self._now


def _is_admitted(environment: RateLimiter, store: Store, tenant: Tenant, caller: Caller) -> bool:
    try:
        environment.admit(store, tenant, caller)
    except ServiceError:
        return False
    return True
