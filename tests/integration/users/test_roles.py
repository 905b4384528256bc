"""Roles over HTTP."""

from shared.identity.users.repository import count_users_with_role
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
    audit_entries,
    before_next_commit,
    create_role,
    create_user,
)
from tests.integration.write_users import PACKERS
from tests.stack import Stack


def test_role_is_created_and_changed(erp: Erp) -> None:
    made = erp.post("/roles", PACKERS)
    assert made.status == 201
    assert made.data == {
        "id": 1,
        **PACKERS,
        "created_at": made.data["created_at"],
        "updated_at": made.data["created_at"],
    }
    assert erp.follow(made.headers["Location"]).data == made.data

    changed = erp.patch("/roles/1", {"description": None, "permissions": []})

    later = changed.data["updated_at"]
    shown = {**made.data, "description": None, "permissions": [], "updated_at": later}
    assert changed.data == {**shown, "webhooks": []}
    assert erp.get("/roles").data == [shown]


def test_create_returns_all_problems(erp: Erp) -> None:
    create_role(erp, "Équipe")
    wrong = {"name": "EQUIPE", "description": 5, "permissions": ["exits.manage", "all", 7]}
    assert erp.post("/roles", wrong).invalid_fields == [
        "description", "permissions.1", "permissions.2", "name",
    ]  # fmt: skip
    assert erp.post("/roles", {}).invalid_fields == ["name", "permissions"]
    repeated = {"name": "Twice", "permissions": ["exits.manage"] * 2}
    assert erp.post("/roles", repeated).invalid_fields == ["permissions.1"]


def test_names_are_unique_ignoring_case_and_accents(erp: Erp) -> None:
    team, other = create_role(erp, "Équipe"), create_role(erp, "Other")

    assert erp.patch(f"/roles/{other}", {"name": "equipe"}).invalid_fields == ["name"]
    assert erp.patch(f"/roles/{team}", {"name": "EQUIPE"}).data["name"] == "EQUIPE"
    assert erp.patch(f"/roles/{team}", {"name": "Team"}).status == 200
    assert erp.patch(f"/roles/{other}", {"name": "equipe"}).status == 200
    assert erp.delete(f"/roles/{team}").status == 200
    create_role(erp, "team")


# Removed permissions


def test_removed_permission_revokes_the_tokens_with_the_role(erp: Erp) -> None:
    anna, bert = create_example_user(), create_example_user("bert")
    hers, his = anna.sign_in(), bert.sign_in()
    role = f"/roles/{anna.roles[0]}"

    more = ["entries.manage", "exits.manage", "inventory.manage"]
    assert erp.patch(role, {"permissions": more, "name": "Renamed"}).status == 200
    assert is_accepted(hers.access_token), "an added right revokes nothing"
    assert erp.patch(role, {"permissions": ["exits.manage"]}).status == 200

    assert not is_accepted(hers.access_token)
    assert is_accepted(his.access_token), "a token with another role"
    again = refresh(hers.refresh_token).access_token
    assert is_accepted(again)
    assert caller_of(again).permissions == {"exits.manage"}


# Users of roles


def test_role_of_a_user_cannot_be_deleted(erp: Erp) -> None:
    role = create_role(erp)
    maria, ana = create_user(erp, roles=[role]), create_user(erp, "ana", roles=[role])

    refused = erp.delete(f"/roles/{role}")
    assert (refused.status, refused.code) == (409, "conflict")
    assert "2 users have the role Packers" in refused.json()["message"]

    assert erp.patch(f"/users/{maria}", {"roles": []}).status == 200
    assert "1 user has" in erp.delete(f"/roles/{role}").json()["message"]
    assert erp.delete(f"/users/{ana}").status == 200
    shown = erp.get(f"/roles/{role}").data
    assert erp.delete(f"/roles/{role}").data == shown
    assert erp.get(f"/roles/{role}").code == "gone"
    assert erp.delete(f"/roles/{role}").code == "gone"
    assert erp.patch(f"/roles/{role}", {"name": "X"}).code == "gone"
    assert erp.post("/users", {"username": "x", "name": "X", "roles": [role]}).invalid_fields == [
        "roles.0"
    ]


def test_concurrent_changes_keep_the_user_count_exact(
    stack: Stack, erp: Erp, aws_faults: AwsFaults
) -> None:
    role = create_role(erp)
    aws_faults.latency = 0.005

    users = run_concurrently(
        CONCURRENCY, lambda number: create_user(erp, f"user-{number}", roles=[role])
    )
    assert count_users_with_role(stack.store(), role) == CONCURRENCY

    answers = run_concurrently(
        CONCURRENCY,
        lambda number: (
            erp.delete(f"/users/{users[number]}")
            if number % 2
            else erp.patch(f"/users/{users[number]}", {"roles": []})
        ),
    )
    assert {answer.status for answer in answers} == {200}
    assert count_users_with_role(stack.store(), role) == 0
    assert erp.delete(f"/roles/{role}").status == 200
    assert_counters_match(stack, read_stored_entities(stack))


def test_role_assigned_during_its_deletion_is_kept(erp: Erp, aws_faults: AwsFaults) -> None:
    role = create_role(erp)

    with before_next_commit(aws_faults, lambda: create_user(erp, roles=[role])):
        refused = erp.delete(f"/roles/{role}")

    assert "1 user has the role Packers" in refused.text
    assert erp.get(f"/roles/{role}").status == 200


def test_role_deleted_during_its_assignment_is_refused(erp: Erp, aws_faults: AwsFaults) -> None:
    role, kept = create_role(erp), create_role(erp, "Kept")
    user = create_user(erp, roles=[kept])

    with before_next_commit(aws_faults, lambda: erp.delete(f"/roles/{role}")):
        refused = erp.patch(f"/users/{user}", {"roles": [kept, role]})

    assert refused.invalid_fields == ["roles.1"]
    assert erp.get(f"/users/{user}").data["roles"] == [kept]


def test_changes_of_roles_are_audited(erp: Erp) -> None:
    role = create_role(erp, "Packers", "exits.manage")
    erp.patch(f"/roles/{role}", {"name": "Pickers", "permissions": []})
    erp.patch(f"/roles/{role}", {"name": "Pickers"})
    erp.delete(f"/roles/{role}")

    log = audit_entries(erp, target_type="role", target=role)
    assert [(one["action"], one["details"], one["changes"]) for one in log] == [
        ("role.created", {"name": "Packers", "permissions": ["exits.manage"]}, {}),
        (
            "role.changed",
            {"name": "Packers"},
            {
                "name": {"from": "Packers", "to": "Pickers"},
                "permissions": {"from": ["exits.manage"], "to": []},
            },
        ),
        ("role.deleted", {"name": "Pickers"}, {}),
    ]
