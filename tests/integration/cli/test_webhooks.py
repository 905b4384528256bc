"""The subscriptions of clients and users whose access a command ends."""

from typing import Any

import pytest

from operations.api_clients import create_client
from tests.gateway import Erp
from tests.integration.cli.command_line import deploy_stack, run
from tests.integration.cli.test_users import as_json
from tests.integration.users.user_requests import as_user, create_user
from tests.integration.write_webhooks import subscribe
from tests.stack import Stack

_DISABLE = ("user", "disable", "acme", "maria.lopez", "--yes")
_DELETE = ("user", "delete", "acme", "maria.lopez", "--yes")
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


@pytest.mark.parametrize("command", ["revoke", "disable", "delete"])
def test_command_lists_subscriptions_and_deactivates_them_when_repeated(
    command: str, stack: Stack, erp: Erp
) -> None:
    other = subscribe(erp)
    if command == "revoke":
        client_id = create_client("acme", "ERP").client_id
        arguments: tuple[str, ...] = ("client", "revoke", client_id, "--yes")
        number = subscribe(stack.erp(client=client_id))
    else:
        arguments = _DISABLE if command == "disable" else _DELETE
        number = subscribe(as_user(stack, create_user(erp), "users.manage"))

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
