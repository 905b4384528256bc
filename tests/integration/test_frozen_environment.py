"""What an execution environment has cached expires while Lambda freezes it.

The monotonic clock stands still in these tests. Each one warms an environment, changes what it has
cached from another one, and lets an hour pass by the wall clock before the next request.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from operations import provisioning, signing_keys
from operations.deletion import delete_tenant
from operations.draining import DRAIN_SECONDS
from shared.http.rate_limit import limiter
from shared.identity.tenancy import revocations
from shared.identity.tenancy.access import TenantAccess
from shared.kernel.clock import now_ms
from shared.kernel.db.lists import bookmarks
from shared.kernel.db.lists.bookmarks import ListPosition, State
from tests.clock import FrozenEnvironment
from tests.gateway import Erp
from tests.stack import Stack

_HOUR = 3600
_TOKEN_AGE = 600
"""Age of the token of the last request, in seconds; that of the first one has expired by then."""


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, stack: Stack) -> FrozenEnvironment:
    assert stack
    return FrozenEnvironment(monkeypatch)


def _retire_the_signing_key() -> None:
    """Retire the key that has signed the tokens, after a leak."""
    old = signing_keys.list_keys()[0].key.kid
    signing_keys.rotate()
    signing_keys.retire(old, now=True)


def _revoke_the_client() -> None:
    revocations.revoke(
        "acme", "client:erp", fallback="client:erp", until=time.time() + revocations.TOKEN_LIFETIME
    )


@dataclass(frozen=True, slots=True)
class _Change:
    """A change by another environment, and the status that requests get after it."""

    make: Callable[[], Any]
    status: int
    path: str = "/products"


_CHANGES = {
    "revoked token": _Change(_revoke_the_client, 401),
    "retired key": _Change(_retire_the_signing_key, 401),
    "changed address": _Change(
        partial(provisioning.set_address, "acme", base_url="https://partner.test/api/v1"), 401
    ),
    "suspended tenant": _Change(partial(provisioning.set_state, "acme", "suspended"), 402),
    "cancelled tenant": _Change(partial(provisioning.set_state, "acme", "cancelled"), 402),
    "disabled module": _Change(
        partial(provisioning.switch_modules, "acme", off=["waves"]), 404, "/waves"
    ),
}


@pytest.mark.parametrize("change", _CHANGES.values(), ids=_CHANGES)
def test_change_takes_effect_while_an_environment_is_frozen(
    change: _Change, stack: Stack, environment: FrozenEnvironment
) -> None:
    assert stack.erp().get(change.path).status == 200

    environment.freeze_for(_HOUR - _TOKEN_AGE)
    erp = stack.erp()
    change.make()
    environment.freeze_for(_TOKEN_AGE)

    assert erp.get(change.path).status == change.status


def test_new_key_is_published_while_an_environment_is_frozen(
    stack: Stack, environment: FrozenEnvironment
) -> None:
    anybody = Erp(stack.gateway, None)

    def published() -> set[str]:
        return {key["kid"] for key in anybody.get("/.well-known/jwks.json").json()["keys"]}

    before = published()
    new = signing_keys.rotate()
    environment.freeze_for(_HOUR)

    assert published() == before | {new.kid}


def test_next_window_of_the_rate_limit_begins_while_an_environment_is_frozen(
    stack: Stack, environment: FrozenEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limiter, "_clock", now_ms)
    provisioning.set_requests_per_minute("acme", 1)
    environment.freeze_for(60 - time.time() % 60 + 0.001)  # to the start of a window
    erp = stack.erp()
    assert [erp.get("/products").status for _ in range(2)] == [200, 429]

    environment.freeze_for(_HOUR)

    assert stack.erp().get("/products").status == 200


def test_credentials_of_a_tenant_are_renewed_while_an_environment_is_frozen(
    environment: FrozenEnvironment,
) -> None:
    access = TenantAccess()
    first = access.client("dynamodb", "acme", "stowage-tenant-acme")
    environment.freeze_for(_HOUR)
    assert access.client("dynamodb", "acme", "stowage-tenant-acme") is not first


def test_cached_position_of_a_list_expires_while_an_environment_is_frozen(
    stack: Stack, environment: FrozenEnvironment
) -> None:
    position = ListPosition("1/", State("1/", touched_ms=0).valid_until, 10, "after")
    bookmarks.cache_position(stack.store(), "products", position)
    assert bookmarks.cached_position(stack.store(), "products", 10)
    environment.freeze_for(_HOUR)
    assert bookmarks.cached_position(stack.store(), "products", 10) is None


def test_deletion_of_a_tenant_waits_by_the_wall_clock(environment: FrozenEnvironment) -> None:
    assert environment
    provisioning.set_state("acme", "cancelled")
    began = time.time()
    delete_tenant("acme")
    assert DRAIN_SECONDS <= time.time() - began < DRAIN_SECONDS + 10


def test_cached_tenant_is_read_again_after_the_clock_was_set_back(
    stack: Stack, environment: FrozenEnvironment
) -> None:
    erp = stack.erp()
    environment.freeze_for(120)
    assert erp.get("/products").status == 200
    provisioning.set_state("acme", "suspended")
    assert erp.get("/products").status == 200
    environment.freeze_for(-60)
    assert erp.get("/products").status == 402
