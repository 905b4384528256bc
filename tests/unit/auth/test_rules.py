"""Authorization of callers (Authentication, rules 3 to 6 of the interface)."""

import time
from dataclasses import replace
from typing import Any

import pytest

from shared.identity.auth.rules import authorize, ensure_not_revoked
from shared.identity.auth.scopes import PERMISSIONS, SCOPES
from shared.identity.tenancy.revocations import revocation_keys
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.caller import Caller
from shared.kernel.errors import Forbidden, MissingScope, Unauthenticated

CLIENT = Caller(
    tenant="acme",
    subject="stw_1",
    kind="client",
    client_id="stw_1",
    scopes=frozenset({"products:read", "receipts:write"}),
    permissions=frozenset(),
    second_factor=True,
    token_id="j1",
    expires_at=2_000_000_000,
)
USER = Caller(
    tenant="acme",
    subject="7",
    kind="user",
    client_id=None,
    scopes=frozenset(),
    permissions=frozenset({"entries.manage"}),
    second_factor=True,
    token_id="j2",
    expires_at=2_000_000_000,
    session="s1",
    roles=frozenset({"3", "12"}),
)
MOBILE = replace(USER, kind="mobile", client_id="mobile", permissions=frozenset(PERMISSIONS))
WITHOUT_SECOND_FACTOR = replace(USER, second_factor=False, permissions=frozenset(PERMISSIONS))


def route(scope: str, permission: str | None = None, **more: bool) -> dict[str, Any]:
    facts = {"scope": scope, "permission": permission, "write": False, "allows_mobile": False}
    return {**facts, **more}


READ = route("products:read")
CREATE_ENTRY = route("receipts:write", "entries.manage", write=True)


def test_scopes_and_permissions_are_not_interchangeable() -> None:
    with pytest.raises(MissingScope):
        authorize(replace(CLIENT, scopes=frozenset(), permissions=frozenset(SCOPES)), **READ)
    with pytest.raises(Forbidden):
        authorize(
            replace(USER, permissions=frozenset(), scopes=frozenset({*PERMISSIONS, *SCOPES})),
            **CREATE_ENTRY,
        )


@pytest.mark.parametrize("missing", ["scope", "permission"])
@pytest.mark.parametrize("caller", [CLIENT, USER, MOBILE])
def test_write_route_without_scope_or_permission_raises(caller: Caller, missing: str) -> None:
    with pytest.raises(ValueError, match="must declare"):
        authorize(caller, **{**CREATE_ENTRY, missing: None})


def tenant(*revoked: str) -> Tenant:
    return Tenant(
        "acme",
        "active",
        "enterprise",
        frozenset(),
        "https://a.test/api/v1",
        revoked=dict.fromkeys(revoked, 2_000_000_000),
    )


@pytest.mark.parametrize(
    ("caller", "key"),
    [
        (CLIENT, "token:j1"),
        (CLIENT, "client:stw_1"),
        (USER, "token:j2"),
        (USER, "user:7"),
        (MOBILE, "client:mobile"),
        (MOBILE, "user:7"),
        (USER, "session:s1"),
        (USER, "role:3"),
        (USER, "role:12"),
    ],
)
def test_token_with_a_revoked_key_is_refused(caller: Caller, key: str) -> None:
    ensure_not_revoked(tenant(), caller)
    with pytest.raises(Unauthenticated):
        ensure_not_revoked(tenant("token:other", key), caller)


@pytest.mark.parametrize(
    "key", ["user:stw_1", "client:7", "token:j", "stw_1", "client:", "role:1", "session:None"]
)
def test_entries_of_other_keys_do_not_affect_a_caller(key: str) -> None:
    ensure_not_revoked(tenant(key), CLIENT)
    ensure_not_revoked(tenant(key), USER)


def test_token_issued_after_the_entry_is_accepted() -> None:
    later = replace(USER, expires_at=2_000_000_001)
    ensure_not_revoked(tenant(*revocation_keys(USER)), later)
    with pytest.raises(Unauthenticated):
        ensure_not_revoked(tenant("user:7"), replace(USER, expires_at=1_999_999_999))


def test_token_that_expired_after_the_authorizer_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("time.time", lambda: 1_999_999_999.9)
    ensure_not_revoked(tenant(), CLIENT)
    monkeypatch.setattr("time.time", lambda: 2_000_000_000)
    with pytest.raises(Unauthenticated):
        ensure_not_revoked(tenant(), CLIENT)
    with pytest.raises(Unauthenticated):
        ensure_not_revoked(tenant(), replace(CLIENT, expires_at=int(time.time())))


@pytest.mark.parametrize("caller", [CLIENT, USER, MOBILE, WITHOUT_SECOND_FACTOR])
def test_context_round_trips_the_caller(caller: Caller) -> None:
    flat = caller.to_context()
    assert all(isinstance(value, str) for value in flat.values())
    assert Caller.from_context(flat) == caller


def test_empty_context_entries_may_be_missing() -> None:
    flat = {name: value for name, value in USER.to_context().items() if value}
    assert "client" not in flat
    assert "scopes" not in flat
    assert Caller.from_context(flat) == USER


@pytest.mark.parametrize("missing", ["tenant", "subject", "kind", "second_factor", "jti", "exp"])
def test_context_without_a_required_entry_raises(missing: str) -> None:
    flat = CLIENT.to_context()
    del flat[missing]
    with pytest.raises(KeyError):
        Caller.from_context(flat)
