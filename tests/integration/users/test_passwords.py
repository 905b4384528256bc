"""Password resets and password changes, and the sessions that they end."""

import hashlib
import json
from collections import Counter

import pytest

from shared.identity.auth import attempt_limits
from shared.identity.users import passwords
from shared.identity.users.repository import read_account
from tests.clock import Clock
from tests.concurrency import run_concurrently
from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.integration.user_grants.oauth_requests import (
    ExampleUser,
    create_example_user,
    is_accepted,
    refresh,
)
from tests.integration.users.user_requests import (
    CONCURRENCY,
    as_user,
    audit_entries,
    create_user,
)
from tests.integration.write_users import PASSWORD
from tests.stack import Stack

_NEW = "ten green bottles hanging"
_CHANGE = {"current_password": PASSWORD, "new_password": _NEW}


def has_password(stack: Stack, user: int, password: str) -> bool:
    account = read_account(stack.store(), user)
    assert account is not None
    return passwords.verify(password, account.login.password)


# Reset by an administrator


def test_reset_generates_a_password_and_ends_all_sessions(erp: Erp) -> None:
    anna = create_example_user()
    before = anna.sign_in()

    reset = erp.post(f"/users/{anna.id}/reset-password").ok()

    assert reset["username"] == "anna"
    assert not is_accepted(before.access_token)
    assert refresh(before.refresh_token).outcome == (400, "invalid_grant")
    assert anna.sign_in().outcome == (400, "invalid_grant")
    anna.password = reset["password"]
    assert is_accepted(anna.sign_in().access_token)


def test_reset_accepts_a_given_password(stack: Stack, erp: Erp) -> None:
    user = create_user(erp)

    assert erp.post(f"/users/{user}/reset-password", {"password": _NEW}).data["password"] is None
    assert has_password(stack, user, _NEW)
    refused = erp.post(f"/users/{user}/reset-password", {"password": "maria.lopez@acme"})
    assert refused.json()["error"]["field"] == "password"
    assert has_password(stack, user, _NEW)


def test_administrator_cannot_reset_the_own_password(stack: Stack, erp: Erp) -> None:
    """A stolen token of an administrator is not enough to take over the account."""
    user = create_user(erp)
    administrator = as_user(stack, user, "users.manage")

    refused = administrator.post(f"/users/{user}/reset-password", {"password": _NEW})

    assert (refused.status, refused.code) == (403, "forbidden")
    assert "POST /users/me/password" in refused.json()["error"]["message"]
    assert has_password(stack, user, PASSWORD)


# Change by the user


def test_user_can_change_the_own_password(stack: Stack, erp: Erp) -> None:
    user = create_user(erp)
    changed = as_user(stack, user).post("/users/me/password", _CHANGE).ok()

    assert changed == erp.get(f"/users/{user}").data
    assert has_password(stack, user, _NEW)
    assert not has_password(stack, user, PASSWORD)
    assert audit_entries(erp, action="user.password_changed") == [
        {
            "action": "user.password_changed",
            "actor": {"type": "user", "id": str(user), "name": "María López"},
            "target": {"type": "user", "id": str(user)},
            "changes": {},
            "details": {"username": "maria.lopez"},
            "reason": None,
        }
    ]


def test_others_cannot_change_the_password(stack: Stack, erp: Erp) -> None:
    maria, ana = create_user(erp), create_user(erp, "ana")
    for other in (erp, as_user(stack, ana, "users.manage"), as_user(stack, ana)):
        answer = other.post(f"/users/{maria}/password", _CHANGE)
        assert (answer.status, answer.code) == (403, "forbidden")
    assert has_password(stack, maria, PASSWORD)


def test_password_change_returns_all_problems(stack: Stack, erp: Erp) -> None:
    user = create_user(erp)
    caller = as_user(stack, user)

    def problems(**body: object) -> list[str]:
        answer = caller.post("/users/me/password", {**_CHANGE, **body})
        return answer.invalid_fields

    assert problems(current_password="wrong") == ["current_password"]
    assert problems(current_password="wrong", new_password="short") == [
        "new_password", "current_password",
    ]  # fmt: skip
    assert problems(current_password=None, new_password="short") == [
        "current_password", "new_password",
    ]  # fmt: skip
    assert problems(new_password="password1234") == ["new_password"]
    assert has_password(stack, user, PASSWORD)


def test_password_change_keeps_only_the_session_of_the_request(stack: Stack) -> None:
    anna = create_example_user()
    here, elsewhere = anna.sign_in(), anna.sign_in()
    body = {"current_password": anna.password, "new_password": _NEW}

    assert Erp(stack.gateway, here.access_token).post("/users/me/password", body).status == 200

    assert not is_accepted(here.access_token)
    assert not is_accepted(elsewhere.access_token)
    assert refresh(elsewhere.refresh_token).outcome == (400, "invalid_grant")
    again = refresh(here.refresh_token)
    assert is_accepted(again.access_token)
    _sign_in_with(anna, _NEW)
    assert is_accepted(refresh(again.refresh_token).access_token)


def _sign_in_with(person: ExampleUser, password: str) -> None:
    assert person.sign_in().outcome == (400, "invalid_grant")
    person.password = password
    assert person.sign_in().status == 200


def test_checks_of_the_current_password_are_limited(stack: Stack, erp: Erp, clock: Clock) -> None:
    clock.freeze()
    maria, ana = create_user(erp), create_user(erp, "ana")
    caller, wrong = as_user(stack, maria), {**_CHANGE, "current_password": "wrong"}
    statuses = [
        caller.post("/users/me/password", wrong).status for _ in range(attempt_limits.PER_USER + 5)
    ]
    assert Counter(statuses) == {422: attempt_limits.PER_USER, 429: 5}

    refused = caller.post("/users/me/password", _CHANGE)

    assert (refused.status, refused.code) == (429, "rate_limited")
    assert as_user(stack, ana).post("/users/me/password", _CHANGE).status == 200
    clock.advance(int(refused.headers["Retry-After"]))
    assert caller.post("/users/me/password", _CHANGE).status == 200


def test_one_of_several_concurrent_password_changes_succeeds(
    stack: Stack, erp: Erp, aws_faults: AwsFaults
) -> None:
    """The other requests fail, because the current password has changed."""
    user = create_user(erp)
    caller = as_user(stack, user)
    aws_faults.latency = 0.01
    chosen = [f"{number} green bottles hanging" for number in range(CONCURRENCY)]

    answers = run_concurrently(
        CONCURRENCY,
        lambda number: caller.post(
            "/users/me/password", {**_CHANGE, "new_password": chosen[number]}
        ),
    )

    statuses = Counter(answer.status for answer in answers)
    assert statuses[200] == 1
    assert statuses[422] + statuses[429] + statuses[401] == CONCURRENCY - 1
    assert statuses[422] <= attempt_limits.PER_USER
    won = next(number for number, answer in enumerate(answers) if answer.status == 200)
    assert has_password(stack, user, chosen[won])


@pytest.mark.parametrize("route", ["password", "reset-password"])
def test_stored_fingerprint_does_not_help_to_guess_the_password(
    stack: Stack, erp: Erp, route: str
) -> None:
    user = create_user(erp)
    own = route == "password"
    body = _CHANGE if own else {"password": _NEW}
    who = as_user(stack, user) if own else erp
    path = f"/users/{user}/{route}"

    assert who.post(path, body, key="k").status == 200

    canonical = json.dumps(["POST", path, body], sort_keys=True).encode()
    records = [
        item for item in stack.items() if item["PK"]["S"].endswith("#k") and "fingerprint" in item
    ]
    assert len(records) == 1
    fast = hashlib.sha256(canonical).hexdigest()
    assert records[0]["fingerprint"]["S"] != fast
    assert len(records[0]["fingerprint"]["S"]) == len(fast)
