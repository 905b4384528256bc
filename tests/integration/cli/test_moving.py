"""`stowage tenant export --with-secrets` and `stowage tenant import`."""

import re
from pathlib import Path

import pytest

from operations import provisioning, tenant_changes
from operations.deletion import delete_tenant
from shared.identity.tenancy.directory import directory, tenant_key
from shared.kernel import aws
from shared.kernel.config import config
from tests.integration.cli.command_line import as_json, refused, run
from tests.integration.offboarding.company import FILE_KEYS, Company
from tests.stack import ADDRESS

PASSPHRASE = "a passphrase of some length"


@pytest.fixture
def exported(company: Company, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An export of acme, which does not exist any more in this deployment."""
    assert company
    monkeypatch.setenv("STOWAGE_PASSPHRASE", PASSPHRASE)
    # No import writes such a file, and an import of the tenant refuses it.
    aws.client("s3").delete_object(Bucket=config().import_work_bucket, Key=FILE_KEYS[1])
    provisioning.set_state("acme", "cancelled")
    to = tmp_path / "acme"
    shown = as_json("tenant", "export", "acme", "--to", str(to), "--with-secrets")
    assert shown["tenant"] == "acme"
    delete_tenant("acme")
    # as in a deployment in which there never was a tenant of this name
    aws.client("dynamodb").delete_item(
        TableName=config().control_table, Key={"pk": {"S": tenant_key("acme")}}
    )
    directory.clear()
    return to


def test_import_prints_what_was_compared(exported: Path) -> None:
    shown = as_json("tenant", "import", str(exported), "--yes")
    assert (shown["tenant"], shown["address"]) == ("acme", ADDRESS)
    assert [each["what"] for each in shown["compared"]] == [
        "items", "clients", "relayed events", "files",
    ]  # fmt: skip
    assert all(each["exported"] == each["imported"] for each in shown["compared"])
    assert shown["clients_without_secret"] == []
    again = run("tenant", "import", str(exported / "manifest.json"), "--yes")
    assert again.exit_code == 0, again.stderr
    assert provisioning.list_tenants()[0].state == "active"


def test_wrong_passphrase_is_refused_without_showing_it(
    exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STOWAGE_PASSPHRASE", "a wrong passphrase")
    error = refused("tenant", "import", str(exported))
    assert "The passphrase does not open" in error
    assert "a wrong passphrase" not in error


def test_without_terminal_the_passphrase_must_be_in_the_environment(
    exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STOWAGE_PASSPHRASE")
    assert "Set STOWAGE_PASSPHRASE in scripts" in refused("tenant", "import", str(exported), code=2)


def test_terms_of_the_export_are_shown_and_confirmed(exported: Path, terminal: None) -> None:
    assert terminal is None
    error = refused("tenant", "import", str(exported), typed="n\n")
    assert re.search(r"has \d+ items of the table, \d active API clients, .* \d users", error)
    assert "The tenant acme gets the plan enterprise, the modules " in error
    assert "bulk_import, transfer_orders, waves, the request limit 1000000." in error
    assert provisioning.list_tenants() == [tenant_changes.show_tenant("beta")]
    done = run("tenant", "import", str(exported), typed="y\n")
    assert done.exit_code == 0, done.stderr


def test_without_terminal_the_terms_are_confirmed_by_an_option(exported: Path) -> None:
    assert "Use --yes in scripts" in refused("tenant", "import", str(exported), code=2)


def test_options_replace_the_terms_of_the_export(exported: Path) -> None:
    options = ("--plan", "essentials", "--module", "none", "--requests-per-minute", "plan", "--yes")
    done = run("tenant", "import", str(exported), *options)
    assert done.exit_code == 0, done.stderr
    tenant = tenant_changes.show_tenant("acme")
    assert (tenant.plan, tenant.modules, tenant.requests_per_minute) == (
        "essentials", frozenset(), None,
    )  # fmt: skip
