"""Revocation of tokens and clients, and the limits of revocation entries."""

import time
from functools import partial
from typing import Any

import pytest

from operations.api_clients import Credentials, create_client, list_clients, revoke_client
from operations.tenant_changes import show_tenant
from shared.identity.auth import tokens
from shared.identity.auth.rules import ensure_not_revoked
from shared.identity.tenancy import revocations
from shared.identity.tenancy.access import operator_store
from shared.identity.tenancy.directory import TenantDirectory, read_item, tenant_key
from shared.identity.tenancy.tenant import Tenant
from shared.kernel import aws
from shared.kernel.caller import Caller
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import NotFound, Unauthenticated
from tests.faults import AwsFaults, kill_at
from tests.integration.call_faults import at_calls
from tests.integration.user_grants.oauth_requests import (
    caller_of,
    post,
    revocation_entries,
    token_of,
)
from tests.sampling import sampled

pytestmark = pytest.mark.usefixtures("aws_faults")

SCOPE = frozenset({"products:read"})


def revoke(client: Credentials, token: str) -> tuple[int, Any]:
    id_, secret = client
    body = f"client_id={id_}&client_secret={secret}&token={token}&token_type_hint=access_token"
    status, _, answer = post("revoke", body)
    return status, answer


class ExampleHandler:
    """An API handler with a cache of tenants, whose clock the test moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.directory = TenantDirectory(clock=lambda: self.now)

    def accept(self, caller: Caller) -> None:
        tenant = self.directory.tenant(caller.tenant)
        assert isinstance(tenant, Tenant)
        ensure_not_revoked(tenant, caller)


def test_only_the_revoked_token_is_rejected_within_ten_seconds(acme: Credentials) -> None:
    first, second = token_of(acme), token_of(acme)
    handler = ExampleHandler()
    handler.accept(caller_of(first))
    assert revoke(acme, first) == (200, None)
    handler.now = 10.0
    with pytest.raises(Unauthenticated, match=r"^The access token was revoked\.$"):
        handler.accept(caller_of(first))
    handler.accept(caller_of(second))


def test_revoking_a_token_twice_adds_one_entry(acme: Credentials) -> None:
    token = token_of(acme)
    assert [revoke(acme, token)[0] for _ in range(2)] == [200, 200]
    assert len(revocation_entries()) == 1


def test_token_of_another_client_cannot_be_revoked(acme: Credentials) -> None:
    token = token_of(acme)
    for stranger in (create_client("acme", "shop"), create_client("beta", "ERP")):
        status, answer = revoke(stranger, token)
        assert (status, answer["error"]) == (400, "unauthorized_client")
    status, answer = revoke(acme._replace(client_secret="sws_no"), token)
    assert (status, answer["error"]) == (401, "invalid_client")
    assert revocation_entries() == revocation_entries("beta") == {}


def _revoke(key: str, *, until: float | None = None, now: float | None = None) -> None:
    """Revoke a token of the client c1, which was issued now unless `until` is given."""
    moment = time.time() if now is None else now
    ends = moment + tokens.LIFETIME if until is None else until
    revocations.revoke("acme", key, fallback="client:c1", until=ends, now=moment)


def test_entry_is_kept_until_the_last_revoked_token_has_expired(acme: Credentials) -> None:
    now = time.time()
    _revoke("token:old", until=now + 10, now=now)
    _revoke("token:new", now=now + 60)
    assert set(revocation_entries()) == {"token:old", "token:new"}
    _revoke("token:newer", now=now + 71)
    assert set(revocation_entries()) == {"token:new", "token:newer"}
    assert acme


def test_entry_of_the_client_replaces_token_entries_at_the_soft_limit(
    acme: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revocations, "SOFT_LIMIT", 3)
    now = time.time()
    for number in range(6):
        _revoke(f"token:{number}", now=now + number)
    assert set(revocation_entries()) == {"token:0", "token:1", "token:2", "client:c1"}
    last = revocation_entries()["client:c1"]
    assert last == int(now + 5 + tokens.LIFETIME)
    _revoke("token:older", now=now)
    assert revocation_entries()["client:c1"] == last, "the expiry of an entry is never reduced"
    token = token_of(acme)
    assert revoke(acme, token)[0] == 200
    assert f"client:{acme.client_id}" in revocation_entries()
    _revoke("token:later", now=now + 3700)
    assert set(revocation_entries()) == {"token:later"}


def _revoke_user(number: int, tx: Transaction) -> None:
    revocations.revoke_in(tx, f"user:{number}")


@pytest.mark.usefixtures("clock")  # a token after a revocation waits for the next second
def test_one_entry_replaces_all_entries_at_the_hard_limit(
    acme: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revocations, "HARD_LIMIT", 4)
    before = tokens.issue_to_client(show_tenant("acme"), "somebody", SCOPE)
    store = operator_store("acme")
    for number in range(5):
        run_transaction(store, partial(_revoke_user, number))
    assert set(revocation_entries()) == {revocations.ALL_TOKENS}
    with pytest.raises(Unauthenticated):
        ensure_not_revoked(show_tenant("acme"), tokens.verify(before)[0])
    later = tokens.issue_to_client(
        show_tenant("acme"),
        "somebody",
        SCOPE,
        now=revocation_entries()[revocations.ALL_TOKENS] - 3599,
    )
    ensure_not_revoked(show_tenant("acme"), tokens.verify(later)[0])
    revoke_client(acme.client_id)
    assert set(revocation_entries()) == {revocations.ALL_TOKENS, f"client:{acme.client_id}"}


def test_expired_entries_are_pruned_in_several_updates(
    acme: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert acme
    monkeypatch.setattr(revocations, "SOFT_LIMIT", 120)
    for number in range(120):
        _revoke(f"token:{number}")
    later = time.time() + 3700
    for number in range(3):
        _revoke(f"token:later-{number}", now=later)
    assert set(revocation_entries()) == {f"token:later-{number}" for number in range(3)}


def test_revocation_for_an_unknown_tenant_raises_not_found() -> None:
    with pytest.raises(NotFound):
        revocations.revoke("nobody", "token:1", fallback="client:c1", until=0)


@pytest.mark.usefixtures("clock")
def test_change_adds_revocation_entries_in_its_transaction(acme: Credentials) -> None:
    store, before = (
        operator_store("acme"),
        tokens.issue_to_client(show_tenant("acme"), acme.client_id, SCOPE),
    )

    def change(tx: Transaction) -> int:
        revocations.revoke_in(tx, f"client:{acme.client_id}", "role:7", one_less="clients")
        return revocations.next_valid_iat(tx)

    first = run_transaction(store, change)
    assert set(revocation_entries()) == {f"client:{acme.client_id}", "role:7"}
    item = read_item(tenant_key("acme"))
    assert item
    assert item["clients"] == {"N": "0"}
    with pytest.raises(Unauthenticated):
        ensure_not_revoked(show_tenant("acme"), caller_of(before))
    after = tokens.issue_to_client(show_tenant("acme"), acme.client_id, SCOPE, now=first)
    ensure_not_revoked(show_tenant("acme"), caller_of(after))


def test_failed_transaction_adds_no_entry(acme: Credentials) -> None:
    assert acme

    def change(tx: Transaction) -> None:
        revocations.revoke_in(tx, "user:7")
        tx.insert({"PK": "x", "SK": "x"}, on_condition_failed=lambda: NotFound("It"))

    operator_store("acme").client.put_item(
        TableName="stowage-tenant-acme", Item={"PK": {"S": "x"}, "SK": {"S": "x"}}
    )
    with pytest.raises(NotFound):
        run_transaction(operator_store("acme"), change)
    assert revocation_entries() == {}


def test_entry_that_is_renewed_concurrently_is_not_pruned(
    acme: Credentials, aws_faults: AwsFaults
) -> None:
    """Another request renews an expired entry after it was read and before it is pruned."""
    assert acme
    _revoke("user:7", now=time.time() - 4000)

    def renew() -> None:
        aws.client("dynamodb").update_item(
            TableName="stowage-control",
            Key={"pk": {"S": tenant_key("acme")}},
            UpdateExpression="SET revoked.#m = :later",
            ExpressionAttributeNames={"#m": "user:7"},
            ExpressionAttributeValues={":later": {"N": str(int(time.time()) + 3600)}},
        )

    with aws_faults.faulty(at_calls("GetItem", [0], after=renew)):
        run_transaction(operator_store("acme"), lambda tx: revocations.revoke_in(tx, "user:8"))
    assert set(revocation_entries()) == {"user:7", "user:8"}


def test_change_of_an_unknown_tenant_raises_not_found() -> None:
    with pytest.raises(NotFound):
        run_transaction(operator_store("nobody"), lambda tx: revocations.revoke_in(tx, "user:7"))


@pytest.mark.parametrize("moment", sampled("revocation of a client", range(20), every=3))
def test_revocation_of_a_client_can_be_repeated_after_an_interruption(
    moment: int, aws_faults: AwsFaults
) -> None:
    client = create_client("acme", "ERP")
    token = token_of(client)
    if aws_faults.kills(kill_at(moment), lambda: revoke_client(client.client_id)):
        revoke_client(client.client_id)
    (known,) = list_clients("acme")
    assert not known.active
    assert known.secret_hashes == ()
    with pytest.raises(Unauthenticated):
        ensure_not_revoked(show_tenant("acme"), caller_of(token))
    item = read_item(tenant_key("acme"))
    assert item
    assert item["clients"] == {"N": "0"}
