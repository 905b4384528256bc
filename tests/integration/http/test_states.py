"""Changes of the state of a tenant take effect within ten seconds, also at the token route."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from operations import provisioning
from operations.api_clients import Credentials, create_client
from shared.identity.tenancy.directory import directory
from tests.clock import ManualClock
from tests.gateway import Erp, Response
from tests.integration.user_grants.oauth_requests import request_token_at
from tests.stack import Stack
from tests.tenant_cache import apply_now

MOVED_TO = "https://wms.acme.example/api/v1"
PATHS = (
    "/products", "/warehouses", "/entry-documents", "/stock-levels", "/receipts", "/imports",
    "/nothing",
)  # fmt: skip
"""Lists, and a path that does not exist."""


@dataclass(frozen=True, slots=True)
class TenantChange:
    """A change of a tenant by an operator, and the refusal that callers get."""

    do: Callable[[], Any]
    status: int
    code: str
    says: str = ""
    """Part of the message."""
    waits: str | None = None
    """Seconds of Retry-After."""


def state(name: str, **options: Any) -> Callable[[], Any]:
    return partial(provisioning.set_state, "acme", name, **options)  # type: ignore[arg-type]


CHANGES = {
    "suspended": TenantChange(state("suspended"), 402, "tenant_suspended"),
    "cancelled": TenantChange(state("cancelled"), 402, "tenant_cancelled"),
    "being moved": TenantChange(
        state("suspended", for_move=True),
        402,
        "tenant_suspended",
        says="is being moved to another server",
        waits="60",
    ),
    "moved": TenantChange(state("moved", moved_to=MOVED_TO), 410, "tenant_moved", says=MOVED_TO),
}


@pytest.fixture
def directory_clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[ManualClock]:
    """The clock of the tenant directory of this environment."""
    clock = ManualClock(1_000.0)
    monkeypatch.setattr(directory, "_clock", clock)
    directory.clear()
    yield clock
    directory.clear()


@pytest.fixture
def credentials(stack: Stack) -> Credentials:
    """The credentials of a client of acme."""
    assert stack
    return create_client("acme", "ERP")


def assert_refused(answer: Response, change: TenantChange) -> None:
    assert (answer.status, answer.code) == (change.status, change.code), answer.text
    body = answer.json()
    assert body["errors"] == []
    assert body["message"] == body["error"]["message"]
    assert change.says in body["message"]
    assert answer.headers.get("Retry-After") == change.waits


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_change_and_its_reversal_take_effect_within_ten_seconds(
    stack: Stack, credentials: Credentials, directory_clock: ManualClock, change: TenantChange
) -> None:
    erp = stack.erp(client=credentials.client_id)
    before = [erp.get(path).status for path in PATHS]
    assert request_token_at(stack.gateway, credentials).status == 200

    change.do()
    directory_clock.now += 9.9
    assert [erp.get(path).status for path in PATHS] == before, "the cached state is still valid"
    directory_clock.now += 0.1
    for path in PATHS:
        assert_refused(erp.get(path), change)
    assert_refused(request_token_at(stack.gateway, credentials), change)
    assert stack.erp("beta").get(PATHS[0]).status == 200

    provisioning.set_state("acme", "active")
    directory_clock.now += 10
    assert [erp.get(path).status for path in PATHS] == before
    assert request_token_at(stack.gateway, credentials).status == 200


def test_wrong_secret_hides_the_tenant_state(stack: Stack, credentials: Credentials) -> None:
    apply_now(provisioning.set_state, "acme", "suspended")
    answer = request_token_at(stack.gateway, credentials._replace(client_secret="sws_no"))
    assert (answer.status, answer.json()["error"]) == (401, "invalid_client")


def test_limited_tokens_and_users_get_the_same_refusal(stack: Stack) -> None:
    apply_now(provisioning.set_state, "acme", "moved", moved_to=MOVED_TO)
    for claims in ({}, {"kind": "mobile"}, {"second_factor": False}):
        user = Erp(stack.gateway, stack.user_token(**claims))
        assert_refused(user.get("/products"), CHANGES["moved"])
