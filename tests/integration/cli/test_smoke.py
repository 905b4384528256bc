"""`stowage smoke`: its steps, its failures, and what it removes."""

import json
from collections.abc import Callable
from datetime import timedelta
from itertools import islice

import httpx
import pytest

from cli import smoke as command
from operations import deletion, provisioning, smoke
from operations.api_clients import create_client
from operations.provisioning import create_tenant, list_tenants, set_state
from operations.tenant_overview import get_overview
from operations.tenant_rules import NewTenant
from shared.kernel.aws import client
from shared.kernel.errors import NotFound
from tests import dns
from tests.clock import Clock
from tests.integration.cli.command_line import deploy_stack, refused, run
from tests.integration.test_python_client import FaultyTransport, respond_with
from tests.stack import ADDRESS, HOST, Stack

IN_PROCESS_STEPS = 7
"""The steps before the first one that needs a queue worker."""


@pytest.fixture
def transport(stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> FaultyTransport:
    """The way of the command line to the API of a stack in which waiting takes no time."""
    assert clock
    deploy_stack(ADDRESS)
    monkeypatch.setitem(dns._PUBLIC, HOST, "93.184.216.34")
    transport = FaultyTransport(stack.gateway)
    monkeypatch.setattr(
        command, "httpx", type("", (), {"Client": lambda **_: httpx.Client(transport=transport)})
    )
    return transport


def names() -> set[str]:
    return {each.slug for each in list_tenants()}


def unreachable(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused", request=request)


def create(slug: str) -> None:
    create_tenant(smoke.settings_of(slug, ADDRESS))


def test_steps_up_to_the_stock_pass(transport: FaultyTransport) -> None:
    with httpx.Client(transport=transport) as http:
        steps = islice(smoke.SmokeTest(smoke.new_slug(), ADDRESS, http).run(), IN_PROCESS_STEPS)
        outcomes = {one.step: one.outcome for one in steps}
    assert outcomes["receive a purchase order"] == "receipt finalized"
    assert outcomes["pick and dispatch an order"] == "order closed"
    assert outcomes["compare the stock"] == "6 on hand"


def test_a_failed_step_is_named_with_the_place_to_look_at(transport: FaultyTransport) -> None:
    def break_receipts(request: httpx.Request) -> httpx.Response | None:
        transport.before.append(break_receipts)
        busy = respond_with(503, "service_unavailable")
        return busy(request) if request.url.path.endswith("/receipts") else None

    transport.before.append(break_receipts)
    before = names()
    error = refused("--json", "smoke")
    assert '"code": "smoke_failed"' in error
    assert "receive a purchase order: failed after" in error
    assert "503 service_unavailable" in error
    assert "Look at the logs DocumentsLogs and WorkLogs of the stack stowage." in error
    assert names() == before


def test_an_api_that_cannot_be_reached_fails_and_the_tenant_is_removed(
    transport: FaultyTransport,
) -> None:
    transport.before = [unreachable] * 100
    before = names()
    failed = run("smoke")
    assert failed.exit_code == 1
    assert "create a tenant: smoke-" in failed.stderr
    assert "get a token: failed after" in failed.stderr
    assert "the API cannot be reached (ConnectError refused)." in failed.stderr
    assert failed.stdout == ""
    assert names() == before


def test_a_tenant_that_cannot_be_created_is_a_failed_step(
    transport: FaultyTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert transport

    def refuse(*_: object, **__: object) -> None:
        raise NotFound("The table")

    monkeypatch.setattr(smoke, "create_tenant", refuse)
    assert "create a tenant: failed after 0.0 s: The table" in refused("smoke")


def _creating(slug: str) -> None:
    provisioning._register_tenant(smoke.settings_of(slug, ADDRESS))


def _active(slug: str) -> None:
    create(slug)
    create_client(slug, "Smoke test")


def _cancelled(slug: str) -> None:
    create(slug)
    set_state(slug, "cancelled")


def _cut_off(*_: object) -> None:
    raise KeyboardInterrupt


def _deleting(slug: str) -> None:
    """Cut off a deletion while it waits."""
    _cancelled(slug)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(deletion, "wait_for_running_invocations", _cut_off)
        with pytest.raises(KeyboardInterrupt):
            smoke.remove(slug)
    assert get_overview(slug).state == "deleting"


@pytest.mark.parametrize("cut_off", [_creating, _active, _cancelled, _deleting])
def test_the_next_run_removes_what_a_cut_off_run_has_left(
    cut_off: Callable[[str], None], transport: FaultyTransport, clock: Clock
) -> None:
    slug = smoke.new_slug()
    cut_off(slug)
    assert smoke.leftovers() == [], "it may be running"
    clock.advance(timedelta(minutes=31).total_seconds())
    assert smoke.leftovers() == [slug]
    transport.before = [unreachable] * 100
    assert run("smoke").exit_code == 1
    assert get_overview(slug).state == "deleted"
    assert smoke.leftovers() == []


def test_companies_with_similar_names_are_kept(transport: FaultyTransport, clock: Clock) -> None:
    assert transport
    similar = ["smoke-20200229120000-00ff", "smoke-20201399000000-00ff", "smoke-shop"]
    for slug in similar:
        create_tenant(NewTenant(slug, base_url=ADDRESS))
    clock.advance(timedelta(days=1).total_seconds())
    assert smoke.leftovers() == []


def test_removal_of_a_tenant_that_was_not_created_does_nothing(transport: FaultyTransport) -> None:
    assert transport
    smoke.remove("smoke-20200229120000-00ff")


@pytest.mark.usefixtures("transport")
def test_a_successful_run_prints_each_step_with_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The steps that need queue workers run against the local stack (tests/e2e/test_smoke.py)."""
    every_step = smoke.SmokeTest.run
    monkeypatch.setattr(
        smoke.SmokeTest, "run", lambda test: islice(every_step(test), IN_PROCESS_STEPS)
    )
    before = names()
    done = run("--json", "smoke")
    assert done.exit_code == 0, done.stderr
    # The functions of the stack run in this process, and write their metrics to its output.
    rows = json.loads(done.stdout[done.stdout.index("[\n") :])
    assert [row.keys() for row in rows] == [{"step", "seconds", "outcome"}] * IN_PROCESS_STEPS
    people = run("smoke")
    assert people.exit_code == 0
    assert "compare the stock" in people.stdout
    assert "compare the stock: 6 on hand (" in people.stderr
    assert names() == before


def test_the_host_of_the_tenant_is_used_where_the_default_address_is_off(
    transport: FaultyTransport,
) -> None:
    client("cloudformation").delete_stack(StackName="stowage")
    deploy_stack("https://{slug}.stowage.test/api/v1", DefaultAddress="false")
    requested: list[str] = []

    def record(request: httpx.Request) -> httpx.Response | None:
        transport.before.append(record)
        requested.append(request.url.host)
        return unreachable(request)

    transport.before.append(record)
    assert run("smoke").exit_code == 1
    (host,) = set(requested)
    assert host.endswith(".stowage.test")
    assert host.removesuffix(".stowage.test") not in names()
