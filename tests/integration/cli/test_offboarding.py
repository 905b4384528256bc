"""The command line for export and deletion of tenants, and for domains."""

import os
from pathlib import Path
from typing import Any

import pytest

from cli.main import main
from operations import tenant_changes
from tests.integration.cli.command_line import as_json, refused, run
from tests.integration.offboarding.company import CERTIFICATE, HOST, Company
from tests.stack import ADDRESS


def test_export_into_a_directory_whose_name_is_not_utf_8_prints_its_result(
    company: Company, tmp_path: Path
) -> None:
    assert company
    to = str(tmp_path / os.fsdecode(b"acme-\xff"))
    assert as_json("tenant", "export", "acme", "--to", to)["directory"] == to
    assert run("tenant", "export", "acme", "--to", to).exit_code == 0


def test_export_into_a_directory_that_cannot_be_written_is_refused(
    company: Company, tmp_path: Path
) -> None:
    assert company
    (tmp_path / "file").write_text("")
    error = refused("tenant", "export", "acme", "--to", str(tmp_path / "file" / "below"))
    assert "cannot be written" in error


@pytest.mark.usefixtures("terminal")
def test_deletion_asks_for_the_name_of_the_tenant(company: Company) -> None:
    company.cancel()
    error = refused("tenant", "delete", "acme", typed="beta\n")
    assert "nothing was changed" in error
    assert HOST in error
    assert company.remains()["table"]
    assert run("tenant", "show", "acme").exit_code == 0

    done = run("tenant", "delete", "acme", typed="acme\n")
    assert done.exit_code == 0
    assert "waiting for running requests of acme to end" in done.stderr
    assert company.remains() == {}


def test_deletion_without_a_terminal_needs_the_option_yes(company: Company) -> None:
    company.cancel()
    assert "--yes" in refused("tenant", "delete", "acme", code=2)
    for _ in range(2):
        done = as_json("tenant", "delete", "acme", "--yes")
        assert done == {"tenant": "acme", "state": "deleted"}
    assert company.remains() == {}


def test_deletion_that_times_out_can_be_repeated(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    company.cancel()
    with monkeypatch.context() as patch:
        patch.setattr("operations.tenant_tables._start_deletion", lambda _: False)
        busy = run("tenant", "delete", "acme", "--yes")
    assert busy.exit_code == 3
    assert "Run the command again" in busy.stderr
    assert as_json("tenant", "show", "acme")["state"] == "deleting"
    assert run("tenant", "delete", "acme", "--yes").exit_code == 0
    assert company.remains() == {}


def test_deleted_tenant_is_shown_as_deleted(company: Company) -> None:
    company.cancel()
    run("tenant", "delete", "acme", "--yes")
    shown = as_json("tenant", "show", "acme")
    assert shown["state"] == "deleted"
    assert set(shown) == {"tenant", "state", "deleted_at"}
    assert [each["tenant"] for each in as_json("tenant", "list")] == ["beta"]
    listed = as_json("tenant", "list", "--deleted")
    assert [(each["tenant"], each["state"]) for each in listed] == [
        ("acme", "deleted"),
        ("beta", "active"),
    ]
    assert "deleted" in run("tenant", "list", "--deleted").stdout
    assert "belonged to a tenant that was deleted" in refused("tenant", "create", "acme")
    assert run("tenant", "resume", "acme").exit_code == 1


# Domains


def test_add_list_and_remove_a_domain(company: Company) -> None:
    assert run("domain", "remove", HOST, "--yes").exit_code == 0
    arguments = ("domain", "add", "acme", HOST, "--certificate-arn", CERTIFICATE, "--yes")
    added = run(*arguments)
    assert added.exit_code == 0
    assert f"{HOST} CNAME d-" in added.stderr
    shown = as_json(*arguments)
    assert shown["is_address"] is True
    assert tenant_changes.show_tenant("acme").base_url == f"https://{HOST}/api/v1"
    assert company.stack.tenant().base_url == f"https://{HOST}/api/v1"

    assert as_json("domain", "list") == [shown]
    assert as_json("domain", "list", "acme") == [shown]
    assert as_json("domain", "list", "beta") == []
    assert HOST in run("domain", "list").stdout

    assert "is the address of the tenant acme" in refused("domain", "remove", HOST)
    run("tenant", "address", "acme", "--base-url", ADDRESS, "--yes")
    removed = as_json("domain", "remove", HOST, "--yes")
    assert removed == {"host": HOST, "state": "removed"}
    assert f"{HOST} belongs to no tenant" in refused("domain", "remove", HOST, "--yes")


# Names of tenants


def test_help_of_every_command_shows_an_example() -> None:
    def commands(group: Any, path: list[str]) -> list[list[str]]:
        found: list[list[str]] = []
        for name, each in group.commands.items():
            inner = [*path, name]
            found += commands(each, inner) if hasattr(each, "commands") else [inner]
        return found

    every = commands(main, [])
    assert ["tenant", "delete"] in every
    for path in every:
        text = run(*path, "--help").stdout
        example = " ".join(path)
        assert f"stowage {example}" in text or f"stowage --json {example}" in text, path
