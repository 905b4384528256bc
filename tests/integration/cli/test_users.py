"""The command line for users and roles."""

import json
from typing import Any

import pytest

from operations.provisioning import set_state
from shared.identity.tenancy.access import operator_store
from shared.identity.users.models import MAX_ROLES
from shared.identity.users.passwords import verify
from shared.identity.users.repository import read_account
from tests.clock import install_for_tokens
from tests.gateway import Erp
from tests.integration.cli.command_line import as_json, deploy_stack, refused, run
from tests.integration.user_grants.oauth_requests import (
    create_example_user,
    enable_two_step,
    is_accepted,
    refresh,
)
from tests.integration.users.user_requests import audit_entries
from tests.stack import Stack

_PASSWORD = "eleven green bottles"


@pytest.fixture(autouse=True)
def deployed(stack: Stack) -> None:
    """Deploy a stack that the command line finds."""
    assert stack
    deploy_stack()


def _packers() -> None:
    as_json("role", "create", "acme", "Packers", "--permission", "exits.manage")


def _ana(*more: str) -> Any:
    return as_json("user", "create", "acme", "ana.ruiz", "--name", "Ana Ruiz", *more)


def test_create_user_and_show_it_by_name() -> None:
    _packers()
    made = _ana("--email", "ana@acme.example", "--role", "packers")

    assert made == {"username": "ana.ruiz", "id": 1, "password": made["password"]}
    account = read_account(operator_store("acme"), 1)
    assert account is not None
    assert verify(made["password"], account.login.password)
    shown = as_json("user", "show", "acme", "Ana.Ruiz")
    assert (shown["username"], shown["email"], shown["roles"]) == (
        "ana.ruiz", "ana@acme.example", ["Packers"],
    )  # fmt: skip
    assert as_json("user", "list", "acme") == [shown]
    people = run("user", "list", "acme")
    assert "Packers" in people.stdout
    assert made["password"] not in people.stdout


def test_message_says_that_a_password_is_shown_once() -> None:
    created = run("user", "create", "acme", "ana", "--name", "Ana")
    assert created.exit_code == 0
    assert "cannot be shown again" in created.stderr
    reset = run("user", "reset-password", "acme", "ana", "--yes")
    assert "cannot be shown again" in reset.stderr
    assert reset.stdout != created.stdout


def test_typed_password_is_not_shown() -> None:
    typed = f"{_PASSWORD}\n{_PASSWORD}\n"
    for command in (
        ("create", "acme", "ana", "--name", "Ana"),
        ("reset-password", "acme", "ana", "--yes"),
    ):
        result = run("--json", "user", *command, "--ask-password", typed=typed)
        assert result.exit_code == 0, result.stderr
        assert _PASSWORD not in result.stdout + result.stderr
        assert json.loads(result.stdout) == {"username": "ana", "id": 1, "password": None}
        account = read_account(operator_store("acme"), 1)
        assert account is not None
        assert verify(_PASSWORD, account.login.password)


def test_all_problems_are_printed_together() -> None:
    _ana()
    text = refused("user", "create", "acme", "ana.ruiz", "--name", "", "--email", "nobody")
    assert [line.removeprefix("Error: ").partition(":")[0] for line in text.splitlines()] == [
        "name", "email", "username",
    ]  # fmt: skip
    assert "username" in refused("user", "create", "acme", "Añá", "--name", "A")


def test_roles_of_a_user_are_replaced_by_name() -> None:
    _packers()
    as_json("role", "create", "acme", "Receiving", "--permission", "entries.manage")
    _ana()
    for _ in range(2):  # every command can be repeated
        shown = as_json(
            "user", "roles", "acme", "ana.ruiz", "--role", "Receiving", "--role", "PACKERS", "--yes"
        )
        assert shown["roles"] == ["Receiving", "Packers"]
    assert {**as_json("user", "roles", "acme", "ana.ruiz"), "webhooks": []} == shown
    none = as_json("user", "roles", "acme", "ana.ruiz", "--no-roles", "--yes")
    assert none["roles"] == as_json("user", "roles", "acme", "ana.ruiz")["roles"] == []


def test_role_given_in_two_spellings_counts_once() -> None:
    _packers()
    twice = ("--role", "Packers", "--role", "PACKERS")
    _ana(*twice)
    as_json("user", "roles", "acme", "ana.ruiz", "--no-roles", "--yes")
    assert as_json("user", "roles", "acme", "ana.ruiz", *twice, "--yes")["roles"] == ["Packers"]


def test_too_many_roles_of_a_user_are_refused() -> None:
    _ana()
    names = [f"Role {number}" for number in range(MAX_ROLES + 1)]
    for name in names:
        as_json("role", "create", "acme", name)
    given = [word for name in names for word in ("--role", name)]
    text = refused("user", "roles", "acme", "ana.ruiz", *given, "--yes")
    assert text == "Error: roles: must have at most 20 entries\n"


def test_user_can_be_disabled_and_enabled() -> None:
    anna = create_example_user()
    token = anna.sign_in().access_token
    for _ in range(2):
        assert as_json("user", "disable", "acme", "anna", "--yes")["is_active"] is False
    assert not is_accepted(token)
    for _ in range(2):
        assert as_json("user", "enable", "acme", "anna")["is_active"] is True
    assert anna.sign_in().status == 200


def test_second_factor_can_be_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    install_for_tokens(monkeypatch)
    anna = create_example_user()
    enable_two_step(anna)
    restricted = anna.sign_in()
    for _ in range(2):
        removed = as_json("user", "remove-second-factor", "acme", "anna", "--yes")
        assert removed["two_step"] is False
    assert refresh(restricted.refresh_token).outcome == (400, "invalid_grant")
    assert is_accepted(anna.sign_in().access_token)


def test_last_administrator_is_kept() -> None:
    as_json("role", "create", "acme", "Admins", "--permission", "users.manage")
    _ana("--role", "Admins")
    for command in (
        ("user", "disable", "acme", "ana.ruiz", "--yes"),
        ("user", "roles", "acme", "ana.ruiz", "--no-roles", "--yes"),
        ("user", "delete", "acme", "ana.ruiz", "--yes"),
        ("role", "change", "acme", "Admins", "--no-permissions", "--yes"),
    ):
        first, *_ = refused(*command).splitlines()
        assert first.startswith("Error: "), "nothing is announced that does not happen"
        assert "the permission users.manage" in first

    as_json("user", "create", "acme", "bert", "--name", "Bert", "--role", "Admins")
    assert as_json("user", "disable", "acme", "ana.ruiz", "--yes")["is_active"] is False


def test_role_can_be_changed_and_deleted() -> None:
    _packers()
    renamed = as_json("role", "change", "acme", "packers", "--name", "Pickers")
    assert (renamed["name"], renamed["permissions"]) == ("Pickers", ["exits.manage"])
    more = as_json(
        "role", "change", "acme", "Pickers", "--description", "Pick.",
        "--permission", "exits.manage", "--permission", "inventory.manage",
    )  # fmt: skip
    assert more["description"] == "Pick."
    assert more["permissions"] == ["exits.manage", "inventory.manage"]
    bare = as_json("role", "change", "acme", "Pickers", "--no-permissions", "--yes")
    assert bare["permissions"] == []

    _ana("--role", "Pickers")
    assert "1 user has the role Pickers" in refused("role", "delete", "acme", "Pickers")
    as_json("user", "roles", "acme", "ana.ruiz", "--no-roles", "--yes")
    assert run("role", "delete", "acme", "Pickers", "--yes").exit_code == 0
    assert as_json("role", "list", "acme") == []


def test_list_of_roles_contains_all_pages(erp: Erp) -> None:
    for number in range(102):
        assert erp.post("/roles", {"name": f"Role {number}", "permissions": []}).status == 201

    listed = as_json("role", "list", "acme")

    assert [role["name"] for role in listed] == [f"Role {number}" for number in range(102)]


def test_users_of_a_suspended_tenant_can_be_managed(stack: Stack, erp: Erp) -> None:
    _ana()
    set_state("acme", "suspended")
    assert as_json("user", "disable", "acme", "ana.ruiz", "--yes")["is_active"] is False
    set_state("acme", "active")

    entries = audit_entries(erp, target_type="user")
    assert [entry["action"] for entry in entries] == ["user.created", "user.disabled"]
    assert {entry["actor"]["type"] for entry in entries} == {"operator"}
    assert stack.tenant().state == "active"
