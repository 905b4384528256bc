"""The subscriptions of clients and users whose access a command ends."""

from typing import Any

import pytest

from operations.api_clients import create_client
from tests.gateway import Erp
from tests.integration.cli.command_line import as_json, deploy_stack, refused, run
from tests.integration.users.user_requests import as_user, create_role, create_user
from tests.integration.write_webhooks import subscribe
from tests.stack import Stack

_DISABLE = ("user", "disable", "acme", "maria.lopez", "--yes")
_DELETE = ("user", "delete", "acme", "maria.lopez", "--yes")
_COMMANDS = {
    "client revoke": ("client", "revoke", "CLIENT", "--yes"),
    "client change": ("client", "change", "CLIENT", "--scope", "stocks:read", "--yes"),
    "user disable": _DISABLE,
    "user delete": _DELETE,
    "user roles": ("user", "roles", "acme", "maria.lopez", "--no-roles", "--yes"),
    "role change": ("role", "change", "acme", "Chiefs", "--no-permissions", "--yes"),
}
"""The commands that end or narrow the access of a client or user."""
_DEACTIVATE = "--deactivate-webhooks"


@pytest.fixture
def erp(stack: Stack) -> Erp:
    """An ERP of a stack that the command line finds."""
    deploy_stack()
    return stack.erp()


def _is_active(erp: Erp, number: int) -> bool:
    return bool(erp.get(f"/webhooks/{number}").data["is_active"])


def _shown(erp: Erp, number: int) -> list[dict[str, Any]]:
    webhook = erp.get(f"/webhooks/{number}").data
    return [{name: webhook[name] for name in ("id", "url", "events", "is_active")}]


@pytest.mark.parametrize("command", _COMMANDS)
def test_command_lists_subscriptions_and_deactivates_them_when_repeated(
    command: str, stack: Stack, erp: Erp
) -> None:
    other = subscribe(erp)
    arguments = _COMMANDS[command]
    if arguments[0] == "client":
        client_id = create_client("acme", "ERP").client_id
        arguments = tuple(client_id if one == "CLIENT" else one for one in arguments)
        number = subscribe(stack.erp(client=client_id))
    else:
        chiefs = create_role(erp, "Chiefs", "users.manage")
        create_user(erp, "ana.ruiz", roles=[create_role(erp, "Office", "users.manage")])
        number = subscribe(as_user(stack, create_user(erp, roles=[chiefs]), "users.manage"))
    asked = run(*(one for one in arguments if one != "--yes"))
    assert f"Affected webhook subscriptions continue to send events: {number}." in asked.stderr

    assert as_json(*arguments)["webhooks"] == _shown(erp, number)
    assert _is_active(erp, number)
    first = run(*arguments)
    assert f"Still active subscriptions: {number}." in first.stderr
    assert f"id {number}, url https://" in first.stdout

    for _ in range(2):
        assert as_json(*arguments, _DEACTIVATE)["webhooks"] == _shown(erp, number)
        assert not _is_active(erp, number)
    assert "Still active" not in run(*arguments).stderr
    assert _is_active(erp, other)
    (entry,) = as_json("audit", "acme", "--action", "webhook.changed")
    assert entry["target"] == f"webhook {number}"
    assert entry["actor"].startswith("operator")


@pytest.mark.parametrize("command", [_DISABLE, _DELETE])
def test_first_run_of_a_command_can_deactivate_subscriptions(
    command: tuple[str, ...], stack: Stack, erp: Erp
) -> None:
    number = subscribe(as_user(stack, create_user(erp), "users.manage"))
    assert [one["is_active"] for one in as_json(*command, _DEACTIVATE)["webhooks"]] == [False]
    assert not _is_active(erp, number)


def test_user_roles_without_roles_deactivate_nothing(erp: Erp) -> None:
    create_user(erp)
    error = refused("user", "roles", "acme", "maria.lopez", _DEACTIVATE, code=2)
    assert "--deactivate-webhooks needs --role or --no-roles." in error
