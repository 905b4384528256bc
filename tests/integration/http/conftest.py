"""Fixtures of the rate limit tests."""

import pytest

from operations import provisioning
from operations.tenant_rules import NewTenant
from shared.http.rate_limit import limiter
from shared.kernel.clock import now_ms
from tests.clock import Clock
from tests.gateway import Erp
from tests.stack import ADDRESS, Stack


@pytest.fixture
def minute_clock(stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock at the start of a minute, used by the rate limit."""
    assert stack
    clock.freeze()
    clock.advance(60 - clock.time() % 60 + 0.001)
    monkeypatch.setattr(limiter, "_clock", now_ms)
    return clock


@pytest.fixture
def mini(stack: Stack, minute_clock: Clock) -> Erp:
    """The ERP of a tenant with the plan Essentials, which allows 120 requests per minute."""
    assert minute_clock
    provisioning.create_tenant(NewTenant("mini", base_url=ADDRESS))
    return stack.erp("mini")
