"""The command line for tenants, API clients and settings, run as an operator does."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import botocore.session
import pytest
from click.testing import CliRunner

from cli import deployment
from cli.main import main
from operations.api_clients import list_clients
from operations.tenant_changes import show_tenant
from shared.identity.tenancy.directory import directory
from shared.kernel.aws import client
from shared.kernel.config import config
from shared.kernel.db import schema
from tests.clock import Clock
from tests.faults import AwsFaults, Killed, before_first, kill_at
from tests.integration.cli.command_line import Run, as_json, deploy_stack, refused, run
from tests.integration.settings.test_settings import DEFAULTS
from tests.stack import ADDRESS, clear_all_caches


def test_create_tenant_and_show_it(stowage: Run) -> None:
    created = stowage("tenant", "create", "acme", "--plan", "enterprise", "--module", "waves")
    assert created.exit_code == 0
    assert "creating the table stowage-tenant-acme" in created.stderr
    assert ADDRESS in created.stdout
    shown = as_json("tenant", "show", "acme")
    assert shown.pop("created_at").endswith("Z")
    assert shown.pop("limits")["requests_per_minute"] == 1_200
    assert shown == {
        "tenant": "acme",
        "state": "active",
        "plan": "enterprise",
        "version": str(schema.SCHEMA_VERSION),
        "modules": ["waves"],
        "address": ADDRESS,
        "timezone": "UTC",
        "moved_to": None,
        "hosts": [],
        "table": "stowage-tenant-acme",
        "restoring": False,
        "being_moved": False,
        "clients": 0,
        "mobile_clients": 0,
    }
    assert "requests per minute 1200" in stowage("tenant", "show", "acme").stdout


def test_interrupted_creation_is_completed_by_the_same_command(
    stowage: Run, bare_faults: AwsFaults
) -> None:
    with bare_faults.faulty(kill_at(25)), pytest.raises(Killed):
        CliRunner(mix_stderr=False).invoke(main, ["tenant", "create", "acme"])
    assert as_json("tenant", "show", "acme")["state"] == "creating"
    (listed,) = as_json("tenant", "list")
    assert listed["state"] == "creating"
    assert "create it again" in refused("tenant", "suspend", "acme", "--yes")
    for _ in range(2):
        assert stowage("tenant", "create", "acme").exit_code == 0
    assert show_tenant("acme").state == "active"


def test_table_of_a_tenant_is_tagged_with_the_id_of_the_stack(stowage: Run) -> None:
    config.cache_clear()
    assert stowage("tenant", "create", "acme").exit_code == 0
    dynamodb = client("dynamodb")
    arn = dynamodb.describe_table(TableName="stowage-tenant-acme")["Table"]["TableArn"]
    tags = dynamodb.list_tags_of_resource(ResourceArn=arn)["Tags"]
    (stack,) = client("cloudformation").describe_stacks(StackName="stowage")["Stacks"]
    assert {"Key": "stack_id", "Value": stack["StackId"]} in tags


def test_tenant_gets_its_own_host_if_the_deployment_has_a_domain(bare_faults: AwsFaults) -> None:
    assert bare_faults
    deploy_stack("https://{slug}.stowage.test/api/v1")
    shown = as_json("tenant", "create", "acme")
    assert shown["address"] == "https://acme.stowage.test/api/v1"
    assert directory.tenant_for_host("acme.stowage.test") == "acme"
    own = as_json("tenant", "create", "beta", "--host", "wms.beta.test")
    assert own["address"] == "https://wms.beta.test/api/v1"


def test_suspend_resume_cancel_and_move_change_the_state(stowage: Run) -> None:
    stowage("tenant", "create", "acme")

    def state(*arguments: str) -> tuple[str, str | None]:
        for _ in range(2):  # every command can be repeated
            shown = as_json("tenant", *arguments)
        return shown["state"], shown["moved_to"]

    assert state("suspend", "acme", "--yes") == ("suspended", None)
    assert state("resume", "acme") == ("active", None)
    assert state("cancel", "acme", "--yes") == ("cancelled", None)
    assert state("move", "acme", "--to", "https://wms.acme.test/api/v1", "--yes") == (
        "moved",
        "https://wms.acme.test/api/v1",
    )
    assert state("resume", "acme") == ("active", None)


def test_plan_modules_and_address_can_be_changed(stowage: Run) -> None:
    stowage("tenant", "create", "acme", "--module", "waves")
    for command, name, value in (
        ("plan acme professional", "plan", "professional"),
        ("modules acme --on bulk_import --off waves --yes", "modules", ["bulk_import"]),
        ("modules acme", "modules", ["bulk_import"]),
        (f"address acme --base-url {ADDRESS}", "address", ADDRESS),
    ):
        assert as_json("tenant", *command.split())[name] == value


_SETTINGS: tuple[tuple[str, dict[str, object]], ...] = (
    ("--receipt-tolerance 5 --pick-substitution batch",
     {"receipt_tolerance": 5, "pick_substitution": "batch"}),
    ("--minutes-per-unit 0.25 --minutes-per-trip 0 --commit-drops",
     {"minutes_per_unit": 0.25, "minutes_per_trip": 0, "commit_drops": True}),
    ("--imports-require-kind-scope --no-commit-drops",
     {"imports_require_kind_scope": True, "commit_drops": False}),
    ("--approval-shortage-percent 10", {"approval_shortage_percent": 10}),
    ("--approval-shortage-percent none", {"approval_shortage_percent": None}),
    ("--blind-returns", {"blind_returns": True}),
    ("--packing-required --rfid-required --sscc-extension-digit 3 --gs1-company-prefix 4006381",
     {"packing_required": True, "rfid_required": True, "sscc_extension_digit": 3,
      "gs1_company_prefix": "4006381"}),
    ("--gs1-company-prefix none", {"gs1_company_prefix": None}),
    ("--timezone Europe/Madrid", {"timezone": "Europe/Madrid"}),
)  # fmt: skip
"""Options of `stowage tenant settings`, each after those before it, and what they change."""


def test_settings_can_be_shown_and_changed(stowage: Run) -> None:
    stowage("tenant", "create", "acme")
    shown = as_json("tenant", "settings", "acme")
    assert shown == {"tenant": "acme"} | {
        name: value for name, value in DEFAULTS.items() if name != "modules"
    }
    for options, values in _SETTINGS:
        shown |= values
        assert as_json("tenant", "settings", "acme", *options.split()) == shown
    assert as_json("tenant", "settings", "acme") == shown


def test_concurrent_module_switches_are_both_applied(stowage: Run, bare_faults: AwsFaults) -> None:
    stowage("tenant", "create", "acme", "--module", "bulk_import")

    def switch_concurrently() -> None:
        assert run("tenant", "modules", "acme", "--on", "transfer_orders").exit_code == 0

    options = ("--on", "waves", "--off", "bulk_import", "--yes")
    with bare_faults.faulty(before_first("TransactWriteItems", switch_concurrently)):
        switched = as_json("tenant", "modules", "acme", *options)
    assert switched["modules"] == ["transfer_orders", "waves"]
    assert show_tenant("acme").modules == {"transfer_orders", "waves"}


def test_create_rotate_and_revoke_a_client(stowage: Run) -> None:
    stowage("tenant", "create", "acme")
    created = as_json("client", "create", "acme", "--name", "ERP", "--scope", "products:read")
    rotated = as_json("client", "rotate", created["client_id"])
    assert rotated["client_id"] == created["client_id"]
    assert rotated["client_secret"] != created["client_secret"]
    (listed,) = as_json("client", "list", "acme")
    assert listed["secrets"] == 2
    assert listed["scopes"] == ["products:read"]
    assert stowage("client", "rotate", created["client_id"], "--now", "--yes").exit_code == 0
    assert [len(known.secret_hashes) for known in list_clients("acme")] == [1]
    for message in ("is revoked", "was already revoked"):
        revoked = stowage("client", "revoke", created["client_id"], "--yes")
        assert revoked.exit_code == 0
        assert message in revoked.stderr
    assert as_json("client", "revoke", created["client_id"]) == {
        "client_id": created["client_id"],
        "state": "revoked",
        "webhooks": [],
    }
    assert as_json("client", "list", "acme")[0]["active"] is False


def test_secret_is_shown_once_and_unabridged(stowage: Run) -> None:
    stowage("tenant", "create", "acme")
    created = stowage("client", "create", "acme", "--name", "ERP", "--scope", "stocks:read")
    (secret,) = [word for word in created.stdout.split() if word.startswith("sws_")]
    assert len(secret) == 47
    assert "cannot be shown again" in created.stderr
    assert secret not in stowage("client", "list", "acme").stdout


def test_missing_region_is_reported_with_the_option_that_helps(tmp_path: Path) -> None:
    missing = subprocess.run(  # noqa: S603 - a program of this project
        [Path(sys.executable).with_name("stowage"), "tenant", "list"],
        check=False,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert (missing.stdout, missing.returncode) == ("", 3)
    assert missing.stderr == (
        "Error: There is no Region. Name that of the stack with --region, or set STOWAGE_REGION.\n"
    )


def test_stack_without_the_outputs_exits_with_3(bare_faults: AwsFaults) -> None:
    assert bare_faults
    deploy_stack(ControlTable=None)
    assert "no output ControlTable" in refused("tenant", "list", code=3)


def _write_stack_file(folder: Path, monkeypatch: pytest.MonkeyPatch, **content: str) -> None:
    """Write what a local stack writes, and clear the variables that select another one."""
    for name in ("AWS_ENDPOINT_URL", "AWS_REGION", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "")  # monkeypatch restores the original value
    (folder / ".local").mkdir()
    keys = "aws_access_key_id = LOCALKEY\naws_secret_access_key = of-this-run\n"
    (folder / ".local/credentials").write_text(f"[default]\n{keys}")
    (folder / ".local/stack.json").write_text(json.dumps(content))


def test_local_stack_is_found_through_its_stack_file(
    bare_faults: AwsFaults, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert bare_faults
    monkeypatch.chdir(tmp_path)
    assert "make run" in refused("--local", "tenant", "list", code=3)

    deploy_stack()
    address = "http://127.0.0.1:4566/_aws/execute-api/abc/api/v1"
    endpoint = "https://dynamodb.eu-west-1.amazonaws.com"
    _write_stack_file(tmp_path, monkeypatch, base_url=address, endpoint_url=endpoint)
    monkeypatch.setattr(deployment, "_LOCAL_REGION", "eu-west-1")
    assert as_json("--local", "tenant", "create", "acme")["address"] == address
    monkeypatch.setenv("STOWAGE_LOCAL", "1")
    assert as_json("tenant", "show", "acme")["address"] == address
    used = botocore.session.Session().get_credentials()
    assert used is not None
    assert (used.access_key, used.secret_key) == ("LOCALKEY", "of-this-run")


def test_a_stopped_local_stack_is_reported_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    assert clock  # botocore waits between its attempts
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as free:
        endpoint = f"http://127.0.0.1:{free.getsockname()[1]}"
    base_url = f"{endpoint}/api/v1"
    _write_stack_file(tmp_path, monkeypatch, base_url=base_url, endpoint_url=endpoint)
    clear_all_caches()
    stopped = run("--local", "tenant", "list")
    clear_all_caches()
    assert (stopped.stdout, stopped.exit_code) == ("", 3)
    assert stopped.stderr == "Error: The local stack is not running. Start it with `make run`.\n"


def test_main_help_shows_examples_and_exit_codes() -> None:
    text = run("--help").stdout
    assert "stowage --local tenant list" in text
    assert "3 AWS or the stack cannot be reached" in " ".join(text.split())
