"""The list of a user's sessions, their absolute end, and ending them."""

from collections.abc import Callable

import pytest

from operations.api_clients import create_mobile_client
from shared.identity.tenancy.access import operator_store
from shared.identity.users.models import RoleChange, UserChange
from shared.identity.users.roles import change_role
from shared.identity.users.service import change_user
from shared.identity.users.sessions import LIFETIME, LONGEST, LONGEST_OF_ADMINISTRATOR
from shared.kernel.db.table import index_keys
from shared.kernel.db.unit_of_work import run_transaction
from tests.clock import Clock
from tests.concurrency import run_concurrently
from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.integration.user_grants.oauth_requests import (
    INVALID_GRANT,
    ExampleUser,
    OAuthResponse,
    caller_of,
    create_example_user,
    enable_two_step,
    is_accepted,
    refresh,
)
from tests.integration.users.user_requests import audit_entries
from tests.stack import Stack

_DAY = 24 * 3600
_NOBODYS = "1-" + "0" * 24


@pytest.fixture
def anna(stack: Stack, clock: Clock) -> ExampleUser:
    """A user without a second factor."""
    assert stack
    clock.freeze()
    return create_example_user()


@pytest.fixture
def boss(stack: Stack, clock: Clock) -> ExampleUser:
    """An administrator."""
    assert stack
    clock.freeze()
    return create_example_user("boss", permissions=["users.manage"])


def as_signed_in(stack: Stack, signed_in: OAuthResponse) -> Erp:
    """Return a caller with the access token."""
    return Erp(stack.gateway, signed_in.access_token)


def session_of(signed_in: OAuthResponse) -> str:
    """Return the id of the session of the tokens."""
    session = caller_of(signed_in.access_token).session
    assert session
    return session


def ids(caller: Erp, user: int | str = "me", **query: object) -> list[str]:
    """Return the ids of the listed sessions."""
    return [row["id"] for row in caller.walk(f"/users/{user}/sessions", **query)]


def use_until(first: OAuthResponse, clock: Clock, seconds: int) -> OAuthResponse:
    """Refresh the tokens again and again, the last time so many seconds after the sign-in."""
    signed_in, step = first, LIFETIME - 60
    while seconds:
        waited = min(step, seconds)
        clock.advance(waited)
        signed_in = refresh(signed_in.refresh_token)
        seconds -= waited
    return signed_in


# Absolute end


def test_session_ends_ninety_days_after_the_sign_in(anna: ExampleUser, clock: Clock) -> None:
    assert LONGEST == 90 * _DAY
    signed_in = use_until(anna.sign_in(), clock, LONGEST - 1)
    clock.advance(1)
    assert refresh(signed_in.refresh_token).outcome == INVALID_GRANT


def test_session_of_an_administrator_ends_after_twelve_hours(
    boss: ExampleUser, clock: Clock
) -> None:
    assert LONGEST_OF_ADMINISTRATOR == 12 * 3600
    signed_in = use_until(boss.sign_in(), clock, LONGEST_OF_ADMINISTRATOR - 1)
    clock.advance(1)
    assert refresh(signed_in.refresh_token).outcome == INVALID_GRANT
    assert boss.sign_in().status == 200


def test_user_who_becomes_an_administrator_signs_in_again_after_twelve_hours(
    anna: ExampleUser, boss: ExampleUser, clock: Clock
) -> None:
    signed_in = use_until(anna.sign_in(), clock, LONGEST_OF_ADMINISTRATOR)
    roles = UserChange(roles=[*anna.roles, *boss.roles])
    run_transaction(operator_store("acme"), lambda tx: change_user(tx, anna.id, roles))
    assert refresh(signed_in.refresh_token).outcome == INVALID_GRANT


def test_former_administrator_keeps_the_session(
    anna: ExampleUser, boss: ExampleUser, clock: Clock
) -> None:
    assert boss
    role = RoleChange(permissions=["users.manage"])
    run_transaction(operator_store("acme"), lambda tx: change_role(tx, anna.roles[0], role))
    signed_in = use_until(anna.sign_in(), clock, 3600)
    run_transaction(
        operator_store("acme"),
        lambda tx: change_role(tx, anna.roles[0], RoleChange(permissions=[])),
    )
    assert use_until(signed_in, clock, LONGEST_OF_ADMINISTRATOR).status == 200


# List


def test_sessions_are_listed_newest_first(stack: Stack, anna: ExampleUser, clock: Clock) -> None:
    app = create_mobile_client("acme", "scanners").client_id
    first = anna.sign_in()
    clock.advance(5)
    scanner = anna.sign_in(client_id=app)
    clock.advance(5)
    first = refresh(first.refresh_token)
    caller = as_signed_in(stack, first)

    rows = caller.walk("/users/me/sessions")

    assert [row["id"] for row in rows] == [session_of(scanner), session_of(first)]
    assert [row["client_id"] for row in rows] == [app, None]
    assert [row["is_current"] for row in rows] == [False, True]
    assert [row["second_factor"] for row in rows] == [False, False]
    assert rows[1]["updated_at"] > rows[1]["created_at"]
    assert rows[0]["updated_at"] == rows[0]["created_at"]
    assert ids(caller, sort="created_at") == [session_of(first), session_of(scanner)]
    assert ids(caller, per_page=1) == [session_of(scanner), session_of(first)]
    assert ids(caller, updated_since=rows[1]["updated_at"]) == [session_of(first)]
    assert caller.get("/users/me/sessions", query={"per_page": 1, "page": 2}).data == rows[1:]


def test_end_that_is_listed_is_that_of_the_present_permissions(
    stack: Stack, boss: ExampleUser, clock: Clock
) -> None:
    caller = as_signed_in(stack, boss.sign_in())
    (row,) = caller.walk("/users/me/sessions")
    assert row["created_at"][:10] <= row["expires_at"][:10]
    clock.advance(LONGEST_OF_ADMINISTRATOR)
    assert ids(stack.erp(), boss.id) == []


def test_ended_sessions_are_not_listed(stack: Stack, anna: ExampleUser, erp: Erp) -> None:
    enable_two_step(anna)
    plain, proven = anna.sign_in(), anna.sign_in(otp=anna.code())
    assert set(ids(erp, anna.id)) == {session_of(plain), session_of(proven)}
    caller = as_signed_in(stack, proven)
    assert caller.send("DELETE", "/users/me/totp", {"password": anna.password}).status == 200
    assert ids(erp, anna.id) == [session_of(proven)]
    erp.patch(f"/users/{anna.id}", {"is_active": False}).ok()
    assert ids(erp, anna.id) == []


def test_session_of_an_earlier_release_is_listed_after_its_next_use(
    anna: ExampleUser, erp: Erp
) -> None:
    signed_in = anna.sign_in()
    store = operator_store("acme")
    partition, sort = index_keys(1)
    store.client.update_item(
        TableName=store.table,
        Key={"PK": {"S": f"session#{session_of(signed_in)}"}, "SK": {"S": "HEAD"}},
        UpdateExpression=f"REMOVE {partition}, {sort}, used_at",
    )
    assert ids(erp, anna.id) == []
    refresh(signed_in.refresh_token)
    assert ids(erp, anna.id) == [session_of(signed_in)]


def test_cursor_of_another_form_is_refused(erp: Erp, anna: ExampleUser) -> None:
    anna.sign_in()
    anna.sign_in()
    links = erp.get(f"/users/{anna.id}/sessions", query={"per_page": 1}).json()["links"]
    assert "cursor" in links["next"]
    foreign = erp.get("/users", query={"per_page": 1}).json()["links"]["next"]
    cursor = foreign.partition("cursor=")[2].partition("&")[0] if foreign else "x"
    assert erp.get(f"/users/{anna.id}/sessions", query={"cursor": cursor}).status == 422


# Ending


def test_user_ends_one_session(stack: Stack, anna: ExampleUser, erp: Erp) -> None:
    here, there = anna.sign_in(), anna.sign_in()
    caller = as_signed_in(stack, here)

    ended = caller.delete(f"/users/me/sessions/{session_of(there)}").ok()

    assert (ended["id"], ended["is_current"]) == (session_of(there), False)
    assert refresh(there.refresh_token).outcome == INVALID_GRANT
    assert not is_accepted(there.access_token)
    assert is_accepted(here.access_token)
    assert ids(caller) == [session_of(here)]
    assert caller.delete(f"/users/me/sessions/{session_of(there)}").status == 404
    (entry,) = audit_entries(erp, action="session.ended")
    assert entry["target"] == {"type": "session", "id": session_of(there)}
    assert entry["actor"]["id"] == str(anna.id)


def test_user_ends_all_other_sessions(stack: Stack, anna: ExampleUser, erp: Erp) -> None:
    here, others = anna.sign_in(), [anna.sign_in() for _ in range(3)]
    caller = as_signed_in(stack, here)

    assert caller.post("/users/me/end-sessions").ok()["username"] == "anna"

    for other in others:
        assert refresh(other.refresh_token).outcome == INVALID_GRANT
        assert not is_accepted(other.access_token)
    assert not is_accepted(here.access_token)
    here = refresh(here.refresh_token)
    assert ids(as_signed_in(stack, here)) == [session_of(here)]
    (entry,) = audit_entries(erp, action="user.sessions_ended")
    assert entry["target"] == {"type": "user", "id": str(anna.id)}


def test_administrator_ends_the_sessions_of_a_user(anna: ExampleUser, erp: Erp) -> None:
    first, second, third = (anna.sign_in() for _ in range(3))
    assert erp.delete(f"/users/{anna.id}/sessions/{session_of(first)}").status == 200
    assert refresh(first.refresh_token).outcome == INVALID_GRANT
    assert erp.post(f"/users/{anna.id}/end-sessions").status == 200
    assert {refresh(one.refresh_token).outcome for one in (second, third)} == {INVALID_GRANT}
    assert ids(erp, anna.id) == []


def test_sessions_of_others_are_neither_shown_nor_ended(
    stack: Stack, anna: ExampleUser, erp: Erp
) -> None:
    berta = create_example_user("berta").sign_in()
    caller = as_signed_in(stack, anna.sign_in())
    number = caller_of(berta.access_token).subject
    theirs = session_of(berta)
    assert caller.get(f"/users/{number}/sessions").status == 403
    assert caller.post(f"/users/{number}/end-sessions").status == 403
    assert caller.delete(f"/users/{number}/sessions/{theirs}").status == 403
    for wrong in (theirs, _NOBODYS, "x", "1-"):
        assert caller.delete(f"/users/me/sessions/{wrong}").status == 404, wrong
        assert erp.delete(f"/users/{anna.id}/sessions/{wrong}").status == 404, wrong
    assert refresh(berta.refresh_token).status == 200


type _End = Callable[[Erp, OAuthResponse], object]


@pytest.mark.parametrize(
    "end",
    [
        lambda erp, one: erp.delete(f"/users/1/sessions/{session_of(one)}"),
        lambda erp, _one: erp.post("/users/1/end-sessions"),
    ],
)
def test_refresh_at_the_same_moment_does_not_survive(
    end: _End, anna: ExampleUser, erp: Erp, aws_faults: AwsFaults
) -> None:
    signed_in = anna.sign_in()
    aws_faults.latency = 0.01
    acts: list[Callable[[], object]] = [
        lambda: end(erp, signed_in),
        lambda: refresh(signed_in.refresh_token),
    ]
    _, refreshed = run_concurrently(2, lambda number: acts[number]())
    assert isinstance(refreshed, OAuthResponse)
    if refreshed.status == 200:
        assert refresh(refreshed.refresh_token).outcome == INVALID_GRANT
        assert not is_accepted(refreshed.access_token)
    assert ids(erp, anna.id) == []
