"""Users over HTTP."""

from collections import Counter
from typing import Any

import pytest

from operations.provisioning import set_plan
from shared.identity.tenancy.directory import directory
from shared.identity.users.repository import read_account
from shared.kernel.db.items import from_attributes
from tests.concurrency import run_concurrently
from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.integration.stored_entities import assert_counters_match, read_stored_entities
from tests.integration.user_grants.oauth_requests import (
    caller_of,
    create_example_user,
    is_accepted,
    refresh,
)
from tests.integration.users.user_requests import (
    CONCURRENCY,
    as_user,
    audit_entries,
    before_next_commit,
    create_role,
    create_user,
)
from tests.integration.write_users import MARIA, PASSWORD
from tests.stack import Stack

# Creation


def _user_counter(stack: Stack) -> int:
    (item,) = (
        item for item in map(from_attributes, stack.control_items()) if item["pk"] == "TENANT#acme"
    )
    return int(item["users"])


def test_plan_limits_the_number_of_users(stack: Stack, erp: Erp) -> None:
    set_plan("acme", "essentials")
    numbers = [create_user(erp, f"user-{number}") for number in range(10)]
    assert erp.patch(f"/users/{numbers[0]}", {"is_active": False}).status == 200

    refused = erp.post("/users", {**MARIA, "roles": []})

    assert (refused.status, refused.code) == (402, "limit_reached")
    offer = refused.json()["error"]["offer"]
    assert offer | {"upgrade_url": ""} == {
        "limit": 10, "used": 10, "plan": "essentials", "next_plan": "professional",
        "upgrade_url": "",
    }  # fmt: skip
    # a deleted user does not count
    assert erp.delete(f"/users/{numbers[1]}").status == 200
    assert erp.post("/users", {**MARIA, "roles": []}).status == 201
    assert _user_counter(stack) == 10
    # a larger plan has room at once; users above a smaller one stay
    set_plan("acme", "professional")
    create_user(erp, "one.more")
    set_plan("acme", "essentials")
    assert (
        erp.post("/users", {**MARIA, "roles": [], "username": "x"}).json()["error"]["offer"]["used"]
        == 11
    )
    assert erp.get("/users").json()["meta"]["total"] == 11


def test_problems_of_a_user_are_reported_before_the_limit(erp: Erp) -> None:
    set_plan("acme", "essentials")
    for number in range(10):
        create_user(erp, f"user-{number}")
    assert erp.post("/users", {**MARIA, "username": "user-1", "roles": [99]}).invalid_fields == [
        "username", "roles.0",
    ]  # fmt: skip


def test_created_user_has_a_generated_password_that_is_shown_once(erp: Erp) -> None:
    role = create_role(erp)
    made = erp.post("/users", {**MARIA, "username": " Maria.LOPEZ ", "roles": [role]})

    assert made.status == 201
    assert len(made.data["password"]) == 24
    shown = {name: value for name, value in made.data.items() if name != "password"}
    assert shown == {
        "id": 1,
        "username": "maria.lopez",
        "name": "María López",
        "email": "maria@talleres.example",
        "roles": [role],
        "is_active": True,
        "two_step": False,
        "created_at": shown["created_at"],
        "updated_at": shown["created_at"],
    }
    assert made.headers["Location"].endswith("/v1/users/1")
    assert erp.follow(made.headers["Location"]).data == shown
    assert erp.get("/users").data == [shown]


def test_given_password_is_not_returned(erp: Erp) -> None:
    made = erp.post("/users", {**MARIA, "roles": [], "password": PASSWORD})

    assert made.status == 201
    assert made.data["password"] is None
    assert PASSWORD not in made.text


def test_create_returns_all_problems(erp: Erp) -> None:
    create_user(erp)
    role = create_role(erp)
    wrong = {
        "username": "maria.lopez",
        "name": "",
        "email": "nobody",
        "roles": [role, 77, 78],
        "password": "maria.lopez@acme",
    }
    assert erp.post("/users", wrong).invalid_fields == [
        "name", "email", "username", "roles.1", "roles.2", "password",
    ]  # fmt: skip
    repeated = erp.post("/users", {"roles": [role, role]})
    assert repeated.invalid_fields == ["username", "name", "roles.1"]
    assert len(erp.walk("/users")) == 1


def test_concurrent_creations_of_one_name_create_one_user(
    stack: Stack, erp: Erp, aws_faults: AwsFaults
) -> None:
    role = create_role(erp)
    aws_faults.latency = 0.01
    body = {**MARIA, "roles": [role], "password": PASSWORD}

    answers = run_concurrently(
        CONCURRENCY, lambda number: erp.post("/users", body, key=f"maria-{number}")
    )

    assert Counter(answer.status for answer in answers) == {201: 1, 422: CONCURRENCY - 1}
    assert {tuple(one.invalid_fields) for one in answers if one.status == 422} == {("username",)}
    assert [user["username"] for user in erp.walk("/users")] == ["maria.lopez"]
    assert_counters_match(stack, read_stored_entities(stack))
    assert "1 user has" in erp.delete(f"/roles/{role}").text


# Changes


def test_only_sent_fields_change(erp: Erp) -> None:
    first, second = create_role(erp, "A"), create_role(erp, "B")
    user = create_user(erp, roles=[first])
    before = erp.get(f"/users/{user}").data

    changed = erp.patch(f"/users/{user}", {"email": None, "roles": [second, first]}).ok()

    assert changed == {
        **before,
        "email": None,
        "roles": [second, first],
        "updated_at": changed["updated_at"],
        "webhooks": [],
    }
    assert {**erp.get(f"/users/{user}").data, "webhooks": []} == changed


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"name": None}, ["name"]),
        ({"roles": None}, ["roles"]),
        ({"roles": [9]}, ["roles.0"]),
        ({"is_active": "no", "email": "x", "roles": [9]}, ["email", "is_active", "roles.0"]),
    ],
)
def test_invalid_changes_are_refused(erp: Erp, body: dict[str, Any], fields: list[str]) -> None:
    user = create_user(erp)
    assert erp.patch(f"/users/{user}", body).invalid_fields == fields


def test_deleted_user_is_gone_and_the_name_is_free(stack: Stack, erp: Erp) -> None:
    role = create_role(erp)
    user = create_user(erp, roles=[role])
    shown = erp.get(f"/users/{user}").data

    assert erp.delete(f"/users/{user}").data == {**shown, "webhooks": []}
    for answer in (
        erp.get(f"/users/{user}"),
        erp.patch(f"/users/{user}", {"name": "M"}),
        erp.delete(f"/users/{user}"),
        erp.post(f"/users/{user}/reset-password"),
        erp.post(f"/users/{user}/totp", {"password": PASSWORD}),
        erp.delete(f"/users/{user}/totp"),
    ):
        assert (answer.status, answer.code) == (410, "gone")
    assert read_account(stack.store(), user) is None
    assert create_user(erp, roles=[role]) == user + 1
    assert erp.delete(f"/users/{user + 1}").status == 200
    assert erp.delete(f"/roles/{role}").status == 200


# Revoked access


def test_disabled_user_loses_access_until_enabled(erp: Erp) -> None:
    anna = create_example_user()
    before = anna.sign_in()
    assert is_accepted(before.access_token)

    assert erp.patch(f"/users/{anna.id}", {"is_active": False}).data["is_active"] is False
    assert not is_accepted(before.access_token)
    assert refresh(before.refresh_token).outcome == (400, "invalid_grant")
    assert anna.sign_in().outcome == (400, "invalid_grant")

    assert erp.patch(f"/users/{anna.id}", {"is_active": True}).data["is_active"] is True
    assert not is_accepted(before.access_token)
    assert refresh(before.refresh_token).outcome == (400, "invalid_grant")
    assert is_accepted(anna.sign_in().access_token)


def test_removed_role_revokes_tokens_but_keeps_sessions(erp: Erp) -> None:
    assert erp
    anna = create_example_user()
    other = create_role(erp, "Readers")
    before = anna.sign_in()

    erp.patch(f"/users/{anna.id}", {"roles": [*anna.roles, other]})
    assert is_accepted(before.access_token), "an added right revokes nothing"
    erp.patch(f"/users/{anna.id}", {"roles": [other]})

    assert not is_accepted(before.access_token)
    again = refresh(before.refresh_token)
    assert is_accepted(again.access_token)


@pytest.mark.parametrize("grant", ["password", "refresh_token"])
def test_role_removed_during_a_grant_is_not_in_the_token(
    erp: Erp, aws_faults: AwsFaults, grant: str
) -> None:
    anna = create_example_user()
    refresh_token = anna.sign_in().refresh_token
    lose = before_next_commit(
        aws_faults, lambda: erp.patch(f"/users/{anna.id}", {"roles": []}).status == 200
    )

    with lose:
        got = refresh(refresh_token) if grant == "refresh_token" else anna.sign_in()

    assert caller_of(got.access_token).permissions == frozenset()
    assert is_accepted(got.access_token)
    assert is_accepted(refresh(got.refresh_token).access_token)


def test_deleted_user_loses_access(erp: Erp) -> None:
    anna = create_example_user()
    before = anna.sign_in()

    assert erp.delete(f"/users/{anna.id}").status == 200

    assert not is_accepted(before.access_token)
    assert refresh(before.refresh_token).outcome == (400, "invalid_grant")
    assert anna.sign_in().outcome == (400, "invalid_grant")


# Authorization


def test_user_can_read_only_their_own_record(stack: Stack, erp: Erp) -> None:
    maria, ana = create_user(erp), create_user(erp, "ana")
    shown = erp.get(f"/users/{maria}").data
    caller = as_user(stack, maria)

    assert caller.get("/users/me").data == shown
    assert caller.get(f"/users/{maria}").data == shown
    assert caller.get(f"/users/{ana}").code == "forbidden"
    assert caller.get("/users").code == "forbidden"
    assert caller.patch("/users/me", {"roles": []}).status in {403, 404}
    assert caller.patch(f"/users/{maria}", {"name": "Me"}).code == "forbidden"
    assert caller.delete(f"/users/{maria}").code == "forbidden"
    assert caller.post(f"/users/{maria}/reset-password").code == "forbidden"
    administrator = as_user(stack, ana, "users.manage")
    assert administrator.get(f"/users/{maria}").data == shown
    assert administrator.get("/users/me").data["username"] == "ana"
    assert erp.get("/users/me").code == "not_found", "a client is not a user"


# Stored and logged data


def test_changes_of_users_are_audited(stack: Stack, erp: Erp) -> None:
    role = create_role(erp)
    user = create_user(erp, roles=[role])
    target = f"/users/{user}"
    administrator = as_user(stack, 99, "users.manage")

    administrator.patch(target, {"name": "María", "roles": []})
    administrator.patch(target, {"name": "María"})
    administrator.patch(target, {"is_active": False})
    administrator.patch(target, {"is_active": True})
    administrator.post(f"{target}/reset-password")
    administrator.delete(target)

    log = audit_entries(erp, target_type="user", target=user)
    assert [(entry["action"], entry["changes"]) for entry in log] == [
        ("user.created", {}),
        (
            "user.changed",
            {
                "name": {"from": "María López", "to": "María"},
                "roles": {"from": [role], "to": []},
            },
        ),
        ("user.disabled", {"is_active": {"from": True, "to": False}}),
        ("user.enabled", {"is_active": {"from": False, "to": True}}),
        ("user.password_reset", {}),
        ("user.deleted", {}),
    ]
    assert {entry["details"]["username"] for entry in log} == {"maria.lopez"}
    assert [entry["actor"]["type"] for entry in log] == ["client", *["user"] * 5]
    assert {entry["actor"]["id"] for entry in log[1:]} == {"99"}


def test_secrets_are_not_logged_stored_or_returned_again(
    stack: Stack,
    erp: Erp,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    made = erp.post("/users", {**MARIA, "roles": []}, key="create")
    reset = erp.post("/users/1/reset-password", key="reset")
    own = erp.post("/users/1/reset-password", {"password": PASSWORD}, key="own")
    factor = erp.post("/users/1/totp", {"password": PASSWORD}, key="totp").data
    refused = erp.post("/users", {**MARIA, "password": f" {PASSWORD}"}, key="taken")
    assert refused.status == 422

    secrets = [
        made.data["password"], reset.data["password"], PASSWORD, factor["secret"],
        *factor["recovery_codes"],
    ]  # fmt: skip
    stored = repr([from_attributes(item) for item in stack.items()])
    shown = "".join(erp.get(path).text for path in ("/users", "/users/1", "/audit-log", "/roles"))
    logged = repr([vars(record) for record in caplog.records])
    written = "".join(capsys.readouterr()) + logged
    assert "answered" in logged
    for secret in secrets:
        assert secret not in stored
        assert secret not in shown
        assert secret not in written
    assert PASSWORD not in own.text
    directory.clear()
    assert erp.post("/users", {**MARIA, "roles": []}, key="create").text == made.text
