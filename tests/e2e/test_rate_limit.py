"""The rate limit on the deployed stack, by its clock."""

import uuid

import httpx
import pytest

from operations import tenant_changes
from shared.identity.auth import tokens
from tests.e2e.conftest import TIMEOUT, Deployed
from tests.e2e.responses import refused

_LIMIT = 120
_MOST = 5 * _LIMIT
_TOO_EARLY = 6
"""5 % of the limit, since several environments may answer."""


@pytest.mark.usefixtures("operator")
def test_plan_limit_applies_per_minute(stack: Deployed) -> None:
    mini = tenant_changes.show_tenant("mini")
    # A separate credential, so that other tests do not use the limit.
    token = tokens.issue_to_client(
        mini, f"counter-{uuid.uuid4().hex}", frozenset({"products:read"})
    )
    with httpx.Client(
        base_url=stack.base_url, headers={"Authorization": f"Bearer {token}"}, timeout=TIMEOUT
    ) as client:
        served, reset = 0, 60
        for _ in range(_MOST):
            answer = client.get("/products")
            if answer.status_code != 200:
                break
            assert answer.headers["RateLimit-Limit"] == str(_LIMIT)
            before, reset = reset, int(answer.headers["RateLimit-Reset"])
            remaining = int(answer.headers["RateLimit-Remaining"])
            if reset <= before:
                served += 1
                # The environment does not know what others answered since its last lease.
                assert 0 <= remaining < _LIMIT
            else:
                # A new minute. A request during which it began was counted in the former one.
                served = 0 if remaining == _LIMIT else 1
            assert served <= _LIMIT

    refused(answer, 429, "rate_limited")
    assert served >= _LIMIT - _TOO_EARLY
    assert answer.headers["RateLimit-Remaining"] == "0"
    assert 1 <= int(answer.headers["Retry-After"]) <= reset
