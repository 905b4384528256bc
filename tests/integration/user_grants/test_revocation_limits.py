"""Many revocation entries: broader entries replace them without affecting other users."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from operations.api_clients import create_client, create_mobile_client, revoke_client
from shared.identity.auth.clients import client_key
from shared.identity.tenancy import revocations
from shared.identity.tenancy.access import operator_store
from shared.identity.tenancy.directory import read_item, tenant_key
from shared.identity.users.models import UserChange
from shared.identity.users.service import change_user
from shared.kernel import aws
from shared.kernel.db.unit_of_work import run_transaction
from tests.faults import Answer as AwsAnswer
from tests.faults import AwsFaults, Call, Forward
from tests.integration.user_grants.oauth_requests import (
    ExampleUser,
    client_form,
    create_example_user,
    is_accepted,
    refresh,
    request_token,
    revocation_entries,
    revoke,
    token_of,
)
from tests.stack import Stack

SOFT_LIMIT = 4
HARD_LIMIT = 8
WRITES = {"UpdateItem", "TransactWriteItems"}


@pytest.fixture(autouse=True)
def _small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revocations, "SOFT_LIMIT", SOFT_LIMIT)
    monkeypatch.setattr(revocations, "HARD_LIMIT", HARD_LIMIT)


def add_entries(number: int, last: int) -> None:
    """Add revocation entries that expire at `last`."""
    for n in range(number):
        revocations.revoke("acme", f"role:9{n}", fallback=f"role:9{n}", until=last)


def in_an_hour() -> int:
    return int(time.time()) + 3600


def revoke_key(key: str) -> None:
    run_transaction(operator_store("acme"), lambda tx: revocations.revoke_in(tx, key))


def disable(number: int) -> None:
    change = UserChange(is_active=False)
    run_transaction(operator_store("acme"), lambda tx: change_user(tx, number, change))


@contextmanager
def before_the_entry(aws_faults: AwsFaults, act: Callable[[], object]) -> Iterator[None]:
    """Do something just before the first write of a revocation entry in the block."""
    done = list[str]()

    def meanwhile(call: Call, forward: Forward) -> AwsAnswer:
        if not done and "revoked" in str(call.request) and call.operation in WRITES:
            done.append(call.operation)
            act()
        return forward()

    with aws_faults.faulty(meanwhile):
        yield
    assert done


def test_many_revocations_of_one_user_do_not_affect_other_users(user: ExampleUser) -> None:
    """Successful sign-ins are not limited, and each session can be revoked."""
    mallory = create_example_user("mallory", permissions=())
    others = user.sign_in().access_token
    for token in [mallory.sign_in().refresh_token for _ in range(HARD_LIMIT + 2)]:
        assert revoke(token).status == 200
    assert len(revocation_entries()) == SOFT_LIMIT + 1
    assert f"user:{mallory.id}" in revocation_entries()
    assert is_accepted(others)
    assert is_accepted(user.sign_in().access_token)


@pytest.mark.parametrize("token", ["access_token", "refresh_token"])
def test_one_user_cannot_use_up_the_entries_of_others(
    user: ExampleUser, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setattr(revocations, "PER_SUBJECT", 2)
    mallory = create_example_user("mallory", permissions=())
    for _ in range(SOFT_LIMIT + 1):
        assert revoke(getattr(mallory.sign_in(), token)).status == 200
    assert len(revocation_entries()) == 3
    assert f"user:{mallory.id}" in revocation_entries()

    revoked, other = user.sign_in(), user.sign_in().access_token
    assert revoke(getattr(revoked, token)).status == 200
    assert not is_accepted(revoked.access_token)
    assert is_accepted(other), "the entry is of one token or session, not of all of the user"


def test_one_client_cannot_use_up_the_entries_of_others(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stack
    monkeypatch.setattr(revocations, "PER_SUBJECT", 2)
    erp = create_client("acme", "ERP")
    for _ in range(SOFT_LIMIT + 1):
        assert revoke(token_of(erp), **erp._asdict()).status == 200
    assert len(revocation_entries()) == 3
    assert f"client:{erp.client_id}" in revocation_entries()


def test_concurrent_revocations_of_one_user_keep_the_limit(
    user: ExampleUser, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other requests reach the user's limit between the read and the write of the entries."""
    monkeypatch.setattr(revocations, "PER_SUBJECT", 2)
    given, others = user.sign_in(), [user.sign_in() for _ in range(2)]
    with before_the_entry(aws_faults, lambda: [revoke(other.access_token) for other in others]):
        assert revoke(given.access_token).status == 200
    assert len(revocation_entries()) == 3
    assert f"user:{user.id}" in revocation_entries()


@pytest.mark.parametrize("token", ["access_token", "refresh_token"])
@pytest.mark.parametrize("seen", range(SOFT_LIMIT + 1))
def test_concurrently_added_entries_count_toward_the_soft_limit(
    user: ExampleUser, aws_faults: AwsFaults, seen: int, token: str
) -> None:
    """Other requests reach the soft limit between the read and the write of the entries."""
    last = in_an_hour()
    add_entries(seen, last)
    given = getattr(user.sign_in(), token)
    with before_the_entry(aws_faults, lambda: add_entries(SOFT_LIMIT, last)):
        assert revoke(given).status == 200
    assert set(revocation_entries()) == {f"user:{user.id}"} | {
        f"role:9{n}" for n in range(SOFT_LIMIT)
    }


def test_user_can_sign_in_again_after_revoking_at_the_soft_limit(user: ExampleUser) -> None:
    add_entries(SOFT_LIMIT, in_an_hour())
    other = user.sign_in()
    for token in ("access_token", "refresh_token"):
        first = user.sign_in()
        assert revoke(getattr(first, token)).status == 200
        assert not is_accepted(first.access_token)
        assert is_accepted(user.sign_in().access_token)
    assert set(revocation_entries()) == {f"user:{user.id}"} | {
        f"role:9{n}" for n in range(SOFT_LIMIT)
    }
    assert not is_accepted(other.access_token)
    assert is_accepted(refresh(other.refresh_token).access_token)


def test_entry_for_all_tokens_covers_the_replaced_entries(user: ExampleUser) -> None:
    """The last entry expires earlier than the entries that it replaces."""
    bob = create_example_user("bob")
    token = bob.sign_in().access_token
    disable(bob.id)
    add_entries(HARD_LIMIT - 1, in_an_hour())
    soon = int(time.time()) + 60
    revocations.revoke("acme", "token:1", fallback=f"user:{user.id}", until=soon)
    assert set(revocation_entries()) == {revocations.ALL_TOKENS}
    assert not is_accepted(token)


def test_token_issued_right_after_an_entry_can_be_revoked_by_the_next(user: ExampleUser) -> None:
    """This also holds within one second, although the token has an `iat` in the future."""
    for _ in range(3):
        revoke_key(f"user:{user.id}")
        token = user.sign_in().access_token
        assert is_accepted(token)
        revoke_key(f"role:{user.roles[0]}")
        assert not is_accepted(token)


def test_client_read_before_its_revocation_is_read_again(
    user: ExampleUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The items of one BatchGetItem are not read at the same moment."""
    erp, app = create_client("acme", "ERP"), create_mobile_client("acme", "Scanner")
    before = {}
    for client in (erp, app):
        key = client_key(client.client_id)
        before[key] = read_item(key)
        revoke_client(client.client_id)
    dynamodb = aws.client("dynamodb")
    real = dynamodb.batch_get_item

    def torn(**request: Any) -> Any:
        answer = real(**request)
        for items in answer["Responses"].values():
            items[:] = [before.get(item.get("pk", {}).get("S"), item) for item in items]
        return answer

    monkeypatch.setattr(dynamodb, "batch_get_item", torn)
    assert request_token(client_form(erp)).outcome == (401, "invalid_client")
    assert user.sign_in(client_id=app.client_id).outcome == (401, "invalid_client")


def test_revocation_retries_on_a_transaction_conflict(
    user: ExampleUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DynamoDB refuses a write to an item that is part of a transaction in progress."""
    token = user.sign_in().access_token
    dynamodb = aws.client("dynamodb")
    real, refused = dynamodb.update_item, list[str]()

    def update_item(**request: Any) -> Any:
        if request["Key"]["pk"]["S"] == tenant_key("acme") and len(refused) < 3:
            refused.append("TransactionConflictException")
            raise dynamodb.exceptions.TransactionConflictException(
                {"Error": {"Code": refused[-1], "Message": ""}}, "UpdateItem"
            )
        return real(**request)

    monkeypatch.setattr(dynamodb, "update_item", update_item)
    assert revoke(token).status == 200
    assert not is_accepted(token)
