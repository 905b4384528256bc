"""A table of a version that the release does not serve is refused everywhere, and is reported."""

import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cli import confirmation, lookups
from local import tenants
from local.server import LocalRunFailed
from operations import api_clients, provisioning
from operations.upgrade import upgrade_tables
from shared.kernel.db import schema
from shared.kernel.db.schema import TableVersion, served
from shared.kernel.errors import UnservedTable
from tests.cases import each_case
from tests.clock import Clock
from tests.import_scenario import ImportScenario
from tests.integration.cli.command_line import as_json, deploy_stack, refused, run
from tests.integration.held_lease import hold_lease
from tests.integration.upgrade.conftest import set_version
from tests.integration.upgrade.invention import TARGET, changed_kinds, invented_version
from tests.integration.user_grants.oauth_requests import request_token
from tests.lists import LISTS
from tests.stack import ADDRESS, NAME, Stack, set_attributes
from tests.template import Template
from tests.webhook_scenario import open_webhook_scenario

NEWEST = 5
"""The version of the release in these tests, which serves 4 and 5."""


@pytest.fixture(autouse=True)
def release(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code of a later release, with the tables of acme and beta."""
    assert stack  # it is deployed once per process, with the version of the present release
    monkeypatch.setattr(schema, "SCHEMA_VERSION", NEWEST)
    for slug in ("acme", "beta"):
        set_version(slug, NEWEST)


def announce(version: int) -> None:
    """Record that the table of acme is being upgraded."""
    upgrade = {"to": {"N": str(version)}, "announced_at": {"N": "1"}}
    set_attributes(upgrade={"M": upgrade})


def _prepare_upgrade_to_a_newer_one() -> None:
    set_version("acme", 5)
    announce(6)


type Cause = tuple[Callable[[], None], str]

CAUSES: dict[str, Cause] = {
    "unknown": (
        lambda: set_version("acme", None),
        "no version, and this release serves versions 4 and 5. An earlier release created it",
    ),
    "too old": (
        lambda: set_version("acme", 3),
        "version 3, and this release serves versions 4 and 5. Deploy the release with version 4",
    ),
    "too new": (
        lambda: set_version("acme", 6),
        "version 6, and this release serves versions 4 and 5. Deploy a release that serves vers",
    ),
    "on its way to a newer one": (
        _prepare_upgrade_to_a_newer_one,
        "version 6, and this release serves versions 4 and 5. Deploy a release that serves vers",
    ),
}
"""Why the table of acme is not served → how to cause it, and how the message says it."""


@pytest.fixture(params=CAUSES)
def refusal(stack: Stack, request: pytest.FixtureRequest) -> str:
    """Give the table of acme a version that is not served; return the message."""
    assert stack
    prepare, message = CAUSES[request.param]
    prepare()
    return f"The table of acme has {message}"


def alarms(output: str) -> list[dict[str, Any]]:
    """Return the metric that the alarm watches, as written to the log."""
    (alarm,) = [
        one
        for name, one in Template({}).resources("AWS::CloudWatch::Alarm").items()
        if name == "UnservedTablesAlarm"
    ]
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    template = Template({"AWS::StackName": NAME})
    dimensions = {one["Name"]: template.text(one["Value"]) for one in alarm["Dimensions"]}
    return [
        line
        for line in lines
        for written in line.get("_aws", {}).get("CloudWatchMetrics", ())
        if written["Namespace"] == alarm["Namespace"]
        and alarm["MetricName"] in {metric["Name"] for metric in written["Metrics"]}
        and [sorted(dimensions)] == written["Dimensions"]
        and all(line[name] == value for name, value in dimensions.items())
    ]


def test_routes_refuse_with_503_and_raise_the_alarm(
    stack: Stack, refusal: str, capsys: pytest.CaptureFixture[str], log: io.StringIO
) -> None:
    erp, before = stack.erp(), stack.items()
    draft = {"item_code": "P-1", "name": "Cable", "type": "item"}
    for answer in (erp.get("/products"), erp.post("/products", draft), erp.get("/settings")):
        assert answer.status == 503
        assert answer.json()["error"]["code"] == "service_unavailable"
        assert refusal in answer.json()["error"]["message"]
        assert answer.headers["Retry-After"] == "60"
    assert stack.items() == before
    assert len(alarms(capsys.readouterr().out)) == 3
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    reported = [line for line in lines if line["message"] == "unserved table"]
    assert {(line["level"], line["tenant"]) for line in reported} == {("ERROR", "acme")}
    assert all(refusal in line["reason"] for line in reported)


def test_other_tenants_are_served(stack: Stack, refusal: str) -> None:
    assert refusal
    assert stack.erp("beta").get("/products").status == 200


@pytest.mark.parametrize("version", [4, 5])
def test_this_version_and_the_one_before_are_served(stack: Stack, version: int) -> None:
    set_version("acme", version)
    erp = stack.erp()
    assert erp.post("/products", {"item_code": "P-1", "name": "A", "type": "item"}).status == 201
    assert erp.get("/products").json()["meta"]["total"] == 1


def test_user_cannot_sign_in_to_a_table_that_is_not_served(refusal: str) -> None:
    form = {"grant_type": "password", "username": "ana@acme", "password": "0123456789ab"}
    answer = request_token(form)
    assert answer.status == 503
    assert refusal in str(answer.body)


# Workers


def test_relay_and_webhook_worker_leave_their_messages(
    stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are received again, and delivered when the table is served."""
    assert clock
    with open_webhook_scenario(stack, monkeypatch) as webhooks:
        webhooks.subscribe("product.created")
        webhooks.create_product()
        set_version("acme", NEWEST + 1)
        assert len(webhooks.run_relay()) == 2
        set_version("acme", NEWEST)
        webhooks.create_product(2)
        assert webhooks.run_relay() == []
        messages = webhooks.take_messages()
        set_version("acme", NEWEST + 1)
        assert len(webhooks.run_worker(*messages)) == len(messages)
        assert webhooks.requests == []
        set_version("acme", NEWEST)
        assert webhooks.run_worker(*messages) == []
        webhooks.run_until_idle()
        assert webhooks.requests
    # The relay needs the table for the subscriptions and for the feed of changes.
    assert len(alarms(capsys.readouterr().out)) == 2 + len(messages)


def test_import_worker_leaves_its_message(stack: Stack) -> None:
    set_version("acme", NEWEST + 1)
    scenario = ImportScenario(stack)
    scenario.put_file("drop/products/a.csv", b"item_code;name\nP-1;Cable\n")
    bodies = scenario.take_messages()
    assert len(scenario.deliver(*bodies)) == len(bodies) == 1
    set_version("acme", NEWEST)
    assert scenario.deliver(*bodies) == []


# Operators


def test_local_run_says_how_to_remove_saved_tables_that_are_not_served(refusal: str) -> None:
    with pytest.raises(LocalRunFailed, match="Remove the saved data with `make clean`") as failed:
        tenants.provision(ADDRESS, {})
    assert refusal in str(failed.value)


@pytest.fixture
def operator(stack: Stack) -> None:
    """The command line finds the stack, whose release has the version of this one."""
    assert stack
    deploy_stack()


@each_case(
    "command",
    [
        ("user", "list", "acme"),
        ("role", "list", "acme"),
        ("audit", "acme"),
        ("tenant", "plan", "acme", "professional", "--yes"),
        ("tenant", "settings", "acme", "--receipt-tolerance", "5"),
        ("client", "create", "acme", "--name", "ERP", "--scope", "products:read"),
        ("tenant", "export", "acme", "--to", "acme-export"),
        ("tenant", "upgrade", "acme", "--yes"),
        ("tenant", "upgrade", "acme", "--expand"),
        ("tenant", "upgrade", "acme", "--dry-run"),
    ],
)
@pytest.mark.usefixtures("operator")
def test_commands_refuse_with_the_same_message(
    command: tuple[str, ...], refusal: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*command)
    assert result.exit_code == 1, result.stderr
    assert refusal in result.stderr


def test_operator_library_refuses_before_it_writes(stack: Stack, refusal: str) -> None:
    before = stack.items(), stack.control_items()
    with pytest.raises(UnservedTable):
        lookups.open_store("acme")
    with pytest.raises(UnservedTable):
        api_clients.create_client("acme", "ERP", ["products:read"])
    with pytest.raises(UnservedTable):
        list(upgrade_tables(["acme"]))
    assert (stack.items(), stack.control_items()) == before
    assert refusal


@pytest.mark.usefixtures("operator")
def test_list_shows_the_version_of_each_table() -> None:
    set_version("acme", 4)
    announce(5)
    set_version("beta", None)
    assert run("tenant", "create", "mini").exit_code == 0
    rows = {row["tenant"]: row["version"] for row in as_json("tenant", "list")}
    assert rows == {"acme": "4, upgrade to 5", "beta": None, "mini": "5"}
    assert "4, upgrade to 5" in run("tenant", "list").stdout
    assert "version         5" in run("tenant", "show", "mini").stdout


@pytest.fixture
def invented(stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A new release that is deployed; acme and beta have tables of the version before."""
    assert stack
    assert clock
    for slug in ("acme", "beta"):
        set_version(slug, TARGET - 1)
    with invented_version(monkeypatch, LISTS["/products"].collection):
        deploy_stack()
        yield


@pytest.mark.usefixtures("invented")
def test_upgrade_of_all_tenants_asks_and_shows_what_was_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "Nothing was changed" in refused("tenant", "upgrade", "--all", code=2)
    monkeypatch.setattr(confirmation, "ensure_terminal", lambda _: None)
    dry = as_json("tenant", "upgrade", "--all", "--dry-run")
    assert [(row["tenant"], row["version"], row["target"], row["kinds"]) for row in dry] == [
        (slug, TARGET - 1, TARGET, changed_kinds()) for slug in ("acme", "beta")
    ]
    assert all(len(row["missing_indexes"]) == 3 for row in dry)
    error = refused("tenant", "upgrade", "--all", typed="n\n")
    assert "The tables of acme, beta are upgraded to version" in error
    expanded = as_json("tenant", "upgrade", "--all", "--expand")
    assert [len(row["added_indexes"]) for row in expanded] == [3, 3]
    done = run("tenant", "upgrade", "--all", typed="y\n")
    assert done.exit_code == 0, done.stderr
    assert "waiting for running requests of acme to end" in done.stderr
    again = as_json("tenant", "upgrade", "acme")
    assert again == [{"tenant": "acme", "version": TARGET, "rewritten": 0}]
    contracted = as_json("tenant", "upgrade", "--all", "--contract")
    assert [row["removed_indexes"] for row in contracted] == [[], []]


@pytest.mark.usefixtures("invented")
def test_tenant_that_is_not_served_does_not_stop_the_others() -> None:
    set_version("acme", None)
    result = run("--json", "tenant", "upgrade", "--all", "--yes")
    assert result.exit_code == 1
    assert [row["tenant"] for row in json.loads(result.stdout)] == ["beta"]
    assert "The table of acme has no version" in result.stderr


@pytest.mark.usefixtures("invented")
@pytest.mark.parametrize("option", ["--rate=500", "--expand", "--contract"])
def test_tenant_on_which_another_operator_works_does_not_stop_the_others(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    if option == "--contract":
        assert run("tenant", "upgrade", "--all", "--yes").exit_code == 0
    hold_lease("verification", clock, monkeypatch)  # of acme
    result = run("--json", "tenant", "upgrade", "--all", option, "--yes")
    assert result.exit_code == 1
    assert [row["tenant"] for row in json.loads(result.stdout)] == ["beta"]
    assert "The verification of acme, which" in result.stderr


@pytest.mark.usefixtures("invented")
@pytest.mark.parametrize("begins", ["before", "during"])
def test_unfinished_restore_of_a_tenant_does_not_stop_the_others(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, begins: str
) -> None:
    sleep = clock.sleep

    def begin_restore(seconds: float = 0) -> None:
        set_attributes(restoring={"M": {"table": {"S": "new"}}})  # of acme
        sleep(seconds)

    if begins == "before":
        begin_restore()
    monkeypatch.setattr(clock, "sleep", begin_restore)
    result = run("--json", "tenant", "upgrade", "--all", "--yes")
    assert result.exit_code == 1
    assert [(row["tenant"], row["version"]) for row in json.loads(result.stdout)] == [
        ("beta", TARGET)
    ]
    assert "The restore of acme is not finished." in result.stderr


@pytest.mark.usefixtures("invented")
def test_tenant_that_is_deleted_before_the_confirmation_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def delete_meanwhile(*_: Any, **__: Any) -> None:
        set_attributes(state={"S": "deleting"})  # of acme

    monkeypatch.setattr("cli.upgrade.confirm", delete_meanwhile)
    result = run("--json", "tenant", "upgrade", "--all")
    assert result.exit_code == 1
    assert [row["tenant"] for row in json.loads(result.stdout)] == ["beta"]
    assert "The tenant acme was not deleted completely" in result.stderr


@pytest.mark.usefixtures("stack", "clock")
def test_command_line_of_another_release_neither_upgrades_nor_creates() -> None:
    """Functions of the deployed release would refuse the table."""
    set_version("acme", NEWEST - 1)
    deploy_stack(SchemaVersion=str(NEWEST - 1))
    for command in ("upgrade acme --yes", "upgrade acme --contract --yes", "create mini"):
        error = refused("tenant", *command.split())
        assert "release with schema version 5, and the deployed release has 4" in error
    assert provisioning.list_tenants()[0].table_version == TableVersion.of(NEWEST - 1)
    assert run("tenant", "upgrade", "acme", "--expand").exit_code == 0


# The rules


def test_first_release_serves_only_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "SCHEMA_VERSION", 1)
    assert served("acme", TableVersion.of(1)) == TableVersion.of(1)
    with pytest.raises(UnservedTable, match="this release serves version 1"):
        served("acme", TableVersion.of(0))
