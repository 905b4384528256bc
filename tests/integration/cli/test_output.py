"""The form of results and errors, and the version."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli.main import main
from operations.api_clients import create_client
from shared.identity.auth.scopes import PERMISSIONS, SCOPES
from tests.faults import Answer, AwsFaults, Call, Forward
from tests.integration.cli.command_line import Run, as_json, deploy_stack, refused, run
from tests.integration.offboarding.company import CERTIFICATE, HOST, Company
from tests.integration.users.user_requests import before_next_commit
from tests.integration.write_webhooks import subscribe
from tests.stack import ADDRESS

_REPR = re.compile(
    r"\b(None|True|False|Decimal|datetime|frozenset|Ellipsis)\b|[\[\]{}]|<\w+[ .:]|'\w*',"
)
"""What a value looks like when Python writes it."""


def _error(*arguments: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code and the only JSON object on standard error."""
    result = run("--json", *arguments)
    assert result.stdout == ""
    shown: dict[str, Any] = json.loads(result.stderr)
    assert shown.keys() == {"error", "errors"}
    return result.exit_code, shown


def test_version_is_that_of_the_project() -> None:
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    shown = run("--version")
    assert (shown.exit_code, shown.stdout) == (0, f"stowage {project['version']}\n")


def test_json_error_has_every_problem_and_the_offer(stowage: Run) -> None:
    stowage("tenant", "create", "acme")
    code, shown = _error("tenant", "create", "Acme", "--timezone", "Mars")
    assert (code, shown["error"]["code"]) == (1, "validation_failed")
    assert [one["field"] for one in shown["errors"]] == ["slug", "timezone"]
    create = ("client", "create", "acme", "--name", "ERP", "--scope", "stocks:read")
    for _ in range(2):
        assert stowage(*create).exit_code == 0
    _, shown = _error(*create)
    assert shown["error"]["code"] == "limit_reached"
    assert shown["error"]["offer"]["limit"] == 2
    _, shown = _error("key", "retire", "\x1b")
    assert shown["error"]["message"] == "The key \x1b does not exist."


@pytest.mark.usefixtures("terminal")
def test_question_that_is_refused_is_a_json_error(company: Company) -> None:
    assert company
    declined = CliRunner(mix_stderr=False).invoke(
        main, ["--json", "tenant", "suspend", "acme"], input="n\n"
    )
    assert declined.exit_code == 1
    question, _, error = declined.stderr.partition("{")
    assert "Continue?" in question
    assert json.loads("{" + error)["error"]["code"] == "not_confirmed"


def test_interruption_is_a_json_error(stowage: Run, bare_faults: AwsFaults) -> None:
    def interrupt(_call: Call, _forward: Forward) -> Answer:
        raise KeyboardInterrupt

    with bare_faults.faulty(interrupt):
        ended = stowage("--json", "tenant", "list")
    assert ended.exit_code == 1
    assert json.loads(ended.stderr)["error"]["code"] == "interrupted"


def test_client_create_without_scope_lists_what_each_scope_gives(stowage: Run) -> None:
    stowage("tenant", "create", "acme")
    refused = stowage("client", "create", "acme", "--name", "ERP")
    assert (refused.exit_code, refused.stdout) == (2, "")
    for scope, gives in SCOPES.items():
        assert re.search(rf"{scope} +{re.escape(gives)}", refused.stderr)
    assert as_json("client", "list", "acme") == []


@pytest.mark.parametrize(
    ("command", "rights"),
    [
        (["client", "create"], SCOPES), (["client", "change"], SCOPES),
        (["role", "create"], PERMISSIONS), (["role", "change"], PERMISSIONS),
    ],
)  # fmt: skip
def test_help_lists_the_rights(command: list[str], rights: dict[str, str]) -> None:
    text = run(*command, "--help").stdout
    for name, gives in rights.items():
        assert re.search(rf"{re.escape(name)} +{re.escape(gives)}", text)


_COMMANDS = (
    "tenant list --deleted", "tenant show acme", "tenant show beta", "tenant settings acme",
    "tenant limit acme", "tenant modules acme --on waves", "domain list", "client list acme",
    "client show CLIENT", "user list acme", "user show acme ana", "user roles acme ana",
    "role list acme", "audit acme --limit 100", "key list", "key rotate", "events relay",
    "queues", "queues redrive webhooks",
    "tenant export acme --to DIR", "user reset-password acme ana --yes",
    "tenant delete beta --yes", "client revoke CLIENT --yes",
)  # fmt: skip


def test_output_contains_no_python_reprs(company: Company, tmp_path: Path) -> None:
    run("role", "create", "acme", "Packers", "--permission", "exits.manage")
    run("user", "create", "acme", "ana", "--name", "Ana", "--role", "Packers")
    run("user", "roles", "acme", "ana", "--no-roles", "--yes")
    run("user", "create", "acme", "bob", "--name", "Bob")
    run("tenant", "settings", "acme", "--receipt-tolerance", "2.50", "--commit-drops")
    run("tenant", "modules", "acme", "--off", "waves", "--yes")
    run("tenant", "cancel", "beta", "--yes")
    assert company
    client_id = create_client("acme", "Store", ["webhooks:manage"]).client_id
    subscribe(company.stack.erp(client=client_id))
    values = {"CLIENT": client_id, "DIR": str(tmp_path / "acme")}

    for command in _COMMANDS:
        shown = run(*(values.get(word, word) for word in command.split()))
        assert shown.exit_code == 0, (command, shown.stderr)
        assert shown.stdout, command
        text = (shown.stdout + shown.stderr).replace(str(tmp_path), "")
        assert not _REPR.search(text), (command, _REPR.search(text))


def test_numbers_and_durations_are_formatted(stowage: Run) -> None:
    stowage("tenant", "create", "acme")
    stowage("tenant", "settings", "acme", "--receipt-tolerance", "2.50")
    text = stowage("tenant", "settings", "acme").stdout
    assert re.search(r"^receipt tolerance +2\.5$", text, re.MULTILINE)
    assert re.search(r"^minutes per trip +5$", text, re.MULTILINE)
    assert re.search(r"^commit drops +no$", text, re.MULTILINE)
    exact = stowage("--json", "tenant", "settings", "acme").stdout
    assert '"minutes_per_trip": 5,' in exact


# Addresses


def test_own_addresses_are_accepted(bare_faults: AwsFaults) -> None:
    assert bare_faults
    deploy_stack("https://{slug}.stowage.test/api/v1")
    run("tenant", "create", "acme")
    of_api = "https://api.execute-api.eu-west-1.amazonaws.com/api/v1"
    for arguments, address in (
        (("--base-url", of_api), of_api),
        (("--host", "acme.stowage.test"), "https://acme.stowage.test/api/v1"),
    ):
        changed = as_json("tenant", "address", "acme", *arguments, "--yes")
        assert changed["address"] == address
    error = refused("tenant", "address", "acme", "--host", "beta.stowage.test", "--yes")
    assert "or use acme.stowage.test" in error


def test_address_of_the_api_is_refused_where_it_is_switched_off(bare_faults: AwsFaults) -> None:
    assert bare_faults
    deploy_stack("https://{slug}.stowage.test/api/v1", DefaultAddress="false")
    of_api = "https://api.execute-api.eu-west-1.amazonaws.com/api/v1"
    error = refused("tenant", "create", "acme", "--base-url", of_api)
    assert "its own address is switched off; use a host name" in error
    run("tenant", "create", "acme")
    shown = as_json("tenant", "show", "acme")
    assert shown["address"] == "https://acme.stowage.test/api/v1"


def test_host_that_is_removed_meanwhile_does_not_become_the_address(
    company: Company, aws_faults: AwsFaults
) -> None:
    assert company

    def remove() -> None:
        assert run("domain", "remove", HOST, "--yes").exit_code == 0

    with before_next_commit(aws_faults, remove):
        error = refused("tenant", "address", "acme", "--host", HOST, "--yes")
    assert "was removed by another command" in error
    assert as_json("tenant", "show", "acme")["address"] == ADDRESS
    assert as_json("domain", "list", "acme") == []


def test_new_tenant_with_a_host_that_is_not_served_is_told_what_is_missing(
    company: Company,
) -> None:
    assert company
    created = run("tenant", "create", "gamma", "--host", "wms.gamma.test")
    assert created.exit_code == 0
    assert "stowage domain add gamma wms.gamma.test" in created.stderr
    add = ("domain", "add", "gamma", "wms.gamma.test", "--certificate-arn", CERTIFICATE)
    assert run(*add).exit_code == 0
    again = run("tenant", "create", "gamma", "--host", "wms.gamma.test")
    assert (again.exit_code, "domain add" in again.stderr) == (0, False)
