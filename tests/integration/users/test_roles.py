"""Roles over HTTP: named sets of permissions, which go only when nobody has them."""

from collections import Counter
from typing import Any

from shared.identity.users.repository import role_count
from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.integration.signing_in.desk import caller_of, hire, is_good, renew
from tests.integration.stored_entities import assert_totals_are_true, take_census
from tests.integration.users.office import (
    AT_ONCE,
    at_once,
    at_the_last_moment,
    log_of,
    new_role,
    new_user,
)
from tests.integration.write_users import PACKERS
from tests.stack import Stack


def _problems(answer: Any) -> list[str]:
    assert (answer.status, answer.code) == (422, "validation_failed"), answer.text
    return [problem["field"] for problem in answer.json()["errors"]]


def test_a_role_is_created_and_changed(erp: Erp) -> None:
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
    assert changed.data == {
        **made.data, "description": None, "permissions": [], "updated_at": later,
    }  # fmt: skip
    assert erp.get("/roles").data == [changed.data]


def test_all_that_is_wrong_is_told_at_once(erp: Erp) -> None:
    new_role(erp, "Équipe")
    wrong = {"name": "EQUIPE", "description": 5, "permissions": ["exits.manage", "all", 7]}
    assert _problems(erp.post("/roles", wrong)) == [
        "description", "permissions.1", "permissions.2", "name",
    ]  # fmt: skip
    assert _problems(erp.post("/roles", {})) == ["name", "permissions"]
    repeated = {"name": "Twice", "permissions": ["exits.manage"] * 2}
    assert _problems(erp.post("/roles", repeated)) == ["permissions.1"]


def test_names_are_unique_without_regard_to_case_and_accents(erp: Erp) -> None:
    team, other = new_role(erp, "Équipe"), new_role(erp, "Other")

    assert _problems(erp.patch(f"/roles/{other}", {"name": "equipe"})) == ["name"]
    assert erp.patch(f"/roles/{team}", {"name": "EQUIPE"}).data["name"] == "EQUIPE"
    assert erp.patch(f"/roles/{team}", {"name": "Team"}).status == 200
    assert erp.patch(f"/roles/{other}", {"name": "equipe"}).status == 200
    assert erp.delete(f"/roles/{team}").status == 200
    new_role(erp, "team")


def test_twenty_at_once_create_one_role(stack: Stack, erp: Erp, aws_faults: AwsFaults) -> None:
    aws_faults.latency = 0.01
    answers = at_once(lambda number: erp.post("/roles", PACKERS, key=f"r-{number}"))

    assert Counter(answer.status for answer in answers) == {201: 1, 422: AT_ONCE - 1}
    assert len(erp.walk("/roles")) == 1
    assert_totals_are_true(stack, take_census(stack))


# Permissions that are taken away


def test_a_permission_that_is_taken_away_ends_the_tokens_that_bear_it(erp: Erp) -> None:
    anna, bert = hire(), hire("bert")
    hers, his = anna.sign_in(), bert.sign_in()
    role = f"/roles/{anna.roles[0]}"

    more = ["entries.manage", "exits.manage", "inventory.manage"]
    assert erp.patch(role, {"permissions": more, "name": "Renamed"}).status == 200
    assert is_good(hers.access_token), "what is gained takes nothing away"
    assert erp.patch(role, {"permissions": ["exits.manage"]}).status == 200

    assert not is_good(hers.access_token)
    assert is_good(his.access_token), "another role"
    again = renew(hers.refresh_token).access_token
    assert is_good(again)
    assert caller_of(again).permissions == {"exits.manage"}


# Roles that users have


def test_a_role_that_users_have_stays(erp: Erp) -> None:
    role = new_role(erp)
    maria, ana = new_user(erp, roles=[role]), new_user(erp, "ana", roles=[role])

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
    assert _problems(erp.post("/users", {"username": "x", "name": "X", "roles": [role]})) == [
        "roles.0"
    ]


def test_users_are_counted_exactly_at_once(stack: Stack, erp: Erp, aws_faults: AwsFaults) -> None:
    role = new_role(erp)
    aws_faults.latency = 0.005

    users = at_once(lambda number: new_user(erp, f"user-{number}", roles=[role]))
    assert role_count(stack.store(), role) == AT_ONCE

    answers = at_once(
        lambda number: (
            erp.delete(f"/users/{users[number]}")
            if number % 2
            else erp.patch(f"/users/{users[number]}", {"roles": []})
        )
    )
    assert {answer.status for answer in answers} == {200}
    assert role_count(stack.store(), role) == 0
    assert erp.delete(f"/roles/{role}").status == 200
    assert_totals_are_true(stack, take_census(stack))


def test_a_role_that_somebody_gets_at_the_last_moment_stays(
    erp: Erp, aws_faults: AwsFaults
) -> None:
    role = new_role(erp)

    with at_the_last_moment(aws_faults, lambda: new_user(erp, roles=[role])):
        refused = erp.delete(f"/roles/{role}")

    assert "1 user has the role Packers" in refused.text
    assert erp.get(f"/roles/{role}").status == 200


def test_nobody_gets_a_role_that_goes_at_the_last_moment(erp: Erp, aws_faults: AwsFaults) -> None:
    role, kept = new_role(erp), new_role(erp, "Kept")
    user = new_user(erp, roles=[kept])

    with at_the_last_moment(aws_faults, lambda: erp.delete(f"/roles/{role}")):
        refused = erp.patch(f"/users/{user}", {"roles": [kept, role]})

    assert _problems(refused) == ["roles.1"]
    assert erp.get(f"/users/{user}").data["roles"] == [kept]


def test_a_role_never_goes_while_somebody_gets_it(
    stack: Stack, erp: Erp, aws_faults: AwsFaults
) -> None:
    """Either the deletion is first, and nobody gets the role, or somebody is, and it stays."""
    role = new_role(erp)
    aws_faults.latency = 0.005

    def act(number: int) -> Any:
        if number == AT_ONCE // 2:
            return erp.delete(f"/roles/{role}")
        body = {"username": f"user-{number}", "name": "U", "roles": [role]}
        return erp.post("/users", body)

    answers = at_once(act)

    deletion = answers.pop(AT_ONCE // 2)
    created = sum(answer.status == 201 for answer in answers)
    assert all(_problems(answer) == ["roles.0"] for answer in answers if answer.status != 201)
    if deletion.status == 200:
        assert created == 0
        assert erp.walk("/users") == []
    else:
        assert (deletion.status, deletion.code) == (409, "conflict")
        assert created == AT_ONCE - 1
        assert role_count(stack.store(), role) == created


def test_what_was_done_is_in_the_audit_log(erp: Erp) -> None:
    role = new_role(erp, "Packers", "exits.manage")
    erp.patch(f"/roles/{role}", {"name": "Pickers", "permissions": []})
    erp.patch(f"/roles/{role}", {"name": "Pickers"})
    erp.delete(f"/roles/{role}")

    log = log_of(erp, target_type="role", target=role)
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
