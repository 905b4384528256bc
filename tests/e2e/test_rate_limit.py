"""Requests per minute on the deployed stack, by its own clock."""

import uuid

import httpx
import pytest

from operations import provisioning
from shared.identity.auth import tokens
from tests.e2e.conftest import TIMEOUT, Deployed
from tests.e2e.responses import refused

_LIMIT = 120
_MOST = 5 * _LIMIT
_TOO_EARLY = 6
"""A twentieth of the limit: several environments may answer."""


@pytest.mark.usefixtures("operator")
def test_a_minute_has_as_many_requests_as_the_plan(stack: Deployed) -> None:
    mini = provisioning.show_tenant("mini")
    # A credential of its own: nobody else's requests count.
    token = tokens.issue(mini, f"counter-{uuid.uuid4().hex}", frozenset({"products:read"}))
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
            served = served + 1 if reset <= before else 1  # another minute has begun
            assert served <= _LIMIT
            # What others answered since this environment last asked is not known to it.
            assert 0 <= int(answer.headers["RateLimit-Remaining"]) < _LIMIT

    refused(answer, 429, "rate_limited")
    assert served >= _LIMIT - _TOO_EARLY
    assert answer.headers["RateLimit-Remaining"] == "0"
    assert 1 <= int(answer.headers["Retry-After"]) <= reset
