"""`tenant export`, `tenant delete` and `domain`, as an operator types them."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cli import offboarding
from cli.main import main
from operations import provisioning
from tests.integration.offboarding.company import (CERTIFICATE, HOST, Company)

type Run = Callable[..., Result]


def run(*arguments: str, typed: str = "") -> Result:
    return CliRunner(mix_stderr=False).invoke(main, arguments, input=typed)


def as_json(result: Result) -> Any:
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody sits there who can be asked."""

    stdin = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr(offboarding, "sys", SimpleNamespace(stdin=stdin))


def test_an_export_says_what_it_wrote(company: Company, tmp_path: Path) -> None:
    assert company
    to = tmp_path / "new" / "acme"
    for _ in range(2):
        shown = as_json(run("--json", "tenant", "export", "acme", "--to", str(to)))
    assert shown["counts"]["products.jsonl"] == 1
    assert shown["lines"] == sum(shown["counts"].values())
    people = run("tenant", "export", "acme", "--to", str(to))
    assert people.exit_code == 0
    assert "items" in people.stderr


def test_an_export_is_not_mixed_with_something_else(company: Company, tmp_path: Path) -> None:
    assert company
    (tmp_path / "letter.txt").write_text("Dear …")
    refused = run("tenant", "export", "acme", "--to", str(tmp_path))
    assert refused.exit_code == 1
    assert "holds no export of acme" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_an_export_that_cannot_be_written_is_refused(company: Company, tmp_path: Path) -> None:
    assert company
    (tmp_path / "file").write_text("")
    refused = run("tenant", "export", "acme", "--to", str(tmp_path / "file" / "below"))
    assert refused.exit_code == 1
    assert "cannot be written" in refused.stderr


@pytest.mark.usefixtures("terminal")
def test_a_deletion_asks_for_the_name(company: Company) -> None:
    company.cancel()
    other = run("tenant", "delete", "acme", typed="beta\n")
    assert other.exit_code == 1
    assert "nothing was deleted" in other.stderr
    assert HOST in other.stderr
    assert company.remains()["table"]
    assert run("tenant", "show", "acme").exit_code == 0

    done = run("tenant", "delete", "acme", typed="acme\n")
    assert done.exit_code == 0
    assert "waiting until nothing runs for acme" in done.stderr
    assert company.remains() == {}


def test_without_a_terminal_it_wants_to_be_told(company: Company) -> None:
    company.cancel()
    refused = run("tenant", "delete", "acme")
    assert refused.exit_code == 2
    assert "--yes" in refused.stderr
    for _ in range(2):
        done = as_json(run("--json", "tenant", "delete", "acme", "--yes"))
        assert done == {"tenant": "acme", "state": "deleted"}
    assert company.remains() == {}


def test_a_tenant_that_is_served_is_not_even_asked_about(company: Company) -> None:
    refused = run("tenant", "delete", "acme", "--yes")
    assert refused.exit_code == 1
    assert "cancel it first" in refused.stderr
    assert company.remains()["table"]


def test_a_table_that_does_not_go_in_time_is_worth_another_try(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    company.cancel()
    with monkeypatch.context() as patch:
        patch.setattr("operations.tenant_tables._start_deletion", lambda _: False)
        busy = run("tenant", "delete", "acme", "--yes")
    assert busy.exit_code == 3
    assert "Run the command again" in busy.stderr
    assert as_json(run("--json", "tenant", "show", "acme"))["state"] == "deleting"
    assert run("tenant", "delete", "acme", "--yes").exit_code == 0
    assert company.remains() == {}


def test_a_deleted_tenant_is_shown_as_what_it_is(company: Company) -> None:
    company.cancel()
    run("tenant", "delete", "acme", "--yes")
    shown = as_json(run("--json", "tenant", "show", "acme"))
    assert shown["state"] == "deleted"
    assert set(shown) == {"tenant", "state", "deleted_at"}
    assert [each["tenant"] for each in as_json(run("--json", "tenant", "list"))] == ["beta"]
    listed = as_json(run("--json", "tenant", "list", "--deleted"))
    assert [(each["tenant"], each["state"]) for each in listed] == [
        ("acme", "deleted"),
        ("beta", "active"),
    ]
    assert "deleted" in run("tenant", "list", "--deleted").stdout
    again = run("tenant", "create", "acme")
    assert again.exit_code == 1
    assert "belonged to a tenant that was deleted" in again.stderr
    assert run("tenant", "resume", "acme").exit_code == 1


# Domains


def test_the_life_of_a_domain(company: Company) -> None:
    assert run("domain", "remove", HOST).exit_code == 0
    arguments = ("domain", "add", "acme", HOST, "--certificate-arn", CERTIFICATE)
    added = run(*arguments)
    assert added.exit_code == 0
    assert f"{HOST} CNAME d-" in added.stderr
    shown = as_json(run("--json", *arguments))
    assert shown["is_address"] is True
    assert provisioning.show_tenant("acme").base_url == f"https://{HOST}/api/v1"
    assert company.stack.tenant().base_url == f"https://{HOST}/api/v1"

    assert as_json(run("--json", "domain", "list")) == [shown]
    assert as_json(run("--json", "domain", "list", "acme")) == [shown]
    assert as_json(run("--json", "domain", "list", "beta")) == []
    assert HOST in run("domain", "list").stdout

    refused = run("domain", "remove", HOST)
    assert refused.exit_code == 1
    assert "is the address of acme" in refused.stderr
    run("tenant", "address", "acme", "--base-url", "https://api.stowage.test/api/v1")
    for said in ("is removed", "belongs to no tenant"):
        removed = run("domain", "remove", HOST)
        assert removed.exit_code == 0
        assert said in removed.stderr
    shown = as_json(run("--json", "domain", "remove", HOST))
    assert shown == {"host": HOST, "state": "removed"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["add", "nobody", HOST], "The tenant nobody does not exist"),
        (["add", "beta", HOST], f"The host {HOST} belongs to another tenant"),
        (["add", "acme", "10.0.0.1"], "host: a host name"),
        (["list", "nobody"], "The tenant nobody does not exist"),
        (["remove", "*"], "host: a host name"),
    ],
)
def test_a_refusal_says_why(company: Company, arguments: list[str], message: str) -> None:
    assert company
    certificate = ["--certificate-arn", CERTIFICATE] if arguments[0] == "add" else []
    refused = run("domain", *arguments, *certificate)
    assert refused.exit_code == 1
    assert message in refused.stderr


# Names of tenants


@pytest.mark.parametrize(
    "slug",
    [
        "", "ab", "acme.shop", "Acme", "ACME", "a" * 33, "a" * 64, "acme-", "1acme", "acme_shop",
        "acme shop", "acme\n", "\u0430cme", "acm\u00e9", "\uff41cme", "acme/..", "xn--acme-9ua",
        "admin", "www", "a\u200bcme", "acme\u0000", "{slug}", "acme#1",
    ],
)  # fmt: skip
def test_what_cannot_be_a_name_is_refused_by_field(company: Company, slug: str) -> None:
    assert company
    refused = run("tenant", "create", slug)
    assert refused.exit_code == 1
    assert "slug: " in refused.stderr


@pytest.mark.parametrize("slug", ["-acme", "--acme"])
def test_what_looks_like_an_option_is_a_wrong_command_line(company: Company, slug: str) -> None:
    assert company
    assert run("tenant", "create", slug).exit_code == 2
    refused = run("tenant", "create", "--", slug)
    assert refused.exit_code == 1
    assert "slug: " in refused.stderr


@pytest.mark.parametrize("slug", ["abc", "a" * 32, "acme-2", "a-b-c", "a1"])
def test_what_can_be_a_name(company: Company, slug: str) -> None:
    assert company
    created = run("tenant", "create", slug)
    assert created.exit_code == (0 if len(slug) > 2 else 1)


def test_every_command_explains_itself_with_an_example() -> None:
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
