"""A company with the smallest limit of requests, and time that goes by its minutes."""

import pytest

from operations import provisioning
from shared.http.rate_limit import limiter
from shared.identity.tenancy.rules import TenantSettings
from shared.kernel.clock import now_ms
from tests.clock import Clock
from tests.gateway import Erp
from tests.stack import ADDRESS, Stack


@pytest.fixture
def minute(stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock at the first moment of a minute, which the limit goes by."""
    assert stack
    clock.freeze()
    clock.advance(60 - clock.time() % 60 + 0.001)
    monkeypatch.setattr(limiter, "_clock", now_ms)
    return clock


@pytest.fixture
def mini(stack: Stack, minute: Clock) -> Erp:
    """ERP of a company with the plan Essentials: 120 requests per minute."""
    assert minute
    provisioning.create_tenant(TenantSettings("mini", base_url=ADDRESS))
    return stack.erp("mini")
