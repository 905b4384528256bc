"""The command line for API clients and the audit log."""

from typing import Any

import pytest
from click.testing import Result

from operations.provisioning import set_state
from tests.faults import AwsFaults, kill_at
from tests.integration.cli.command_line import Run, as_json, refused, run


@pytest.fixture
def stowage(stowage: Run) -> Run:
    """The command line, for a deployed stack with the tenant acme."""
    assert stowage("tenant", "create", "acme").exit_code == 0
    return stowage


def created(*more: str) -> dict[str, Any]:
    """Create a client; return the fields that are shown."""
    rights = () if "--mobile" in more else ("--scope", "products:read")
    shown: dict[str, Any] = as_json("client", "create", "acme", "--name", "ERP", *rights, *more)
    return shown


@pytest.mark.usefixtures("stowage")
def test_mobile_client_has_no_secret() -> None:
    made = created("--mobile")
    assert made.keys() == {"client_id"}
    assert made["client_id"].startswith("stm_acme_")
    shown = as_json("client", "show", made["client_id"])
    assert (shown["kind"], shown["secrets"], shown["scopes"]) == ("mobile", 0, [])
    assert "has no secret" in refused("client", "rotate", made["client_id"])


def test_name_and_scopes_of_a_client_can_be_changed(stowage: Run) -> None:
    client_id = created()["client_id"]
    for _ in range(2):
        changed = as_json("client", "change", client_id, "--scope", "stocks:read", "--yes")
        assert (changed["name"], changed["scopes"]) == ("ERP", ["stocks:read"])
    renamed = as_json("client", "change", client_id, "--name", "Shop")
    assert (renamed["name"], renamed["scopes"]) == ("Shop", ["stocks:read"])
    refused = stowage("client", "change", client_id, "--name", "x" * 101)
    assert (refused.exit_code, refused.stderr) == (
        1, "Error: name: must have at most 100 characters\n",
    )  # fmt: skip


@pytest.mark.usefixtures("stowage")
def test_scope_given_twice_counts_once() -> None:
    client_id = created("--scope", "products:read", "--scope", "stocks:read")["client_id"]
    twice = ("--scope", "stocks:read", "--scope", "stocks:read")
    changed = as_json("client", "change", client_id, *twice, "--yes")
    assert changed["scopes"] == ["stocks:read"]


def test_clients_of_a_suspended_tenant_can_be_managed(stowage: Run) -> None:
    client_id = created()["client_id"]
    set_state("acme", "suspended")
    assert created()["client_id"] != client_id
    assert stowage("client", "rotate", client_id, "--now", "--yes").exit_code == 0
    assert stowage("client", "revoke", client_id, "--yes").exit_code == 0


def test_commands_on_a_revoked_client_are_refused(stowage: Run) -> None:
    client_id = created()["client_id"]
    assert stowage("client", "revoke", client_id, "--yes").exit_code == 0
    for command in (["show"], ["change", "--name", "x"], ["rotate"]):
        assert f"The client {client_id} was revoked." in refused("client", *command, client_id)


@pytest.mark.usefixtures("stowage")
@pytest.mark.parametrize("command", ["create", "revoke"])
def test_command_repeated_after_a_crash_takes_effect_once(
    command: str, bare_faults: AwsFaults
) -> None:
    """Revoking removes one client; creating may leave a client whose secret was not shown."""
    client_id = created()["client_id"]
    arguments = ["client", command, "acme", "--name", "Shop", "--scope", "stocks:read"]
    if command == "revoke":
        arguments = ["client", command, client_id, "--yes"]
    moment, results = 0, list[Result]()
    while bare_faults.kills(kill_at(moment), lambda: results.append(run(*arguments))):
        moment += 1
    assert moment > 5
    listed = as_json("client", "list", "acme")
    active = [client for client in listed if client["active"]]
    if command == "revoke":
        assert results[0].exit_code == 0
        assert active == []
    else:
        assert results[0].exit_code in {0, 1}
        assert len(active) == 2
    entries = as_json("audit", "acme", "--action", f"client.{command}d")
    assert len(entries) == (1 if command == "revoke" else len(listed))


def test_audit_log_prints_a_table_or_json(stowage: Run) -> None:
    client_id = created()["client_id"]
    stowage("client", "change", client_id, "--name", "Shop")
    stowage("tenant", "settings", "acme", "--receipt-tolerance", "2.5")

    entries = as_json("audit", "acme")
    by_action = {entry["action"]: entry for entry in entries}
    assert list(by_action)[:3] == ["settings.changed", "client.changed", "client.created"]
    assert by_action["settings.changed"]["changes"] == {"receipt_tolerance": {"from": 0, "to": 2.5}}
    assert by_action["client.changed"]["target"] == f"client {client_id}"
    assert by_action["client.changed"]["actor"].startswith("operator")

    lines = stowage("audit", "acme").stdout.splitlines()
    assert lines[0].split() == ["created", "at", "action", "actor", "target", "what", "reason"]
    assert "receipt_tolerance: 0 → 2.5" in lines[1]
    assert "name: ERP → Shop" in lines[2]


@pytest.mark.usefixtures("stowage")
def test_audit_log_can_be_filtered() -> None:
    first = created()["client_id"]
    second = created()["client_id"]
    entries = as_json("audit", "acme", "--action", "client.created")
    assert [entry["target"] for entry in entries] == [f"client {second}", f"client {first}"]
    (newest,) = as_json("audit", "acme", "--limit", "1")
    assert newest["target"] == f"client {second}"
    since = newest["created_at"]
    assert newest in as_json("audit", "acme", "--since", since)
    assert as_json("audit", "acme", "--since", "2100-01-01T00:00:00Z") == []


def test_names_are_printed_without_interpreting_markup(stowage: Run) -> None:
    """Companies name their clients; the names may contain what looks like rich's markup."""
    name = "ERP [/x] [red]one[/red] [link=https://evil.example]two[/link]"
    assert stowage("client", "create", "acme", "--name", name, "--mobile").exit_code == 0
    listed = stowage("client", "list", "acme")
    assert listed.exit_code == 0
    assert name in listed.output
    assert name in stowage("audit", "acme").output


def test_piped_output_is_neither_padded_nor_wrapped(stowage: Run) -> None:
    for name in ("ERP", "x" * 100):
        created()
        client_id = as_json("client", "list", "acme")[0]["client_id"]
        stowage("client", "change", client_id, "--name", name)
    for lines in (stowage("audit", "acme").stdout, stowage("tenant", "show", "acme").stdout):
        assert all(line == line.rstrip() for line in lines.splitlines())
    assert len(stowage("client", "list", "acme").stdout.splitlines()) == 3
