"""Deletion of a tenant removes everything but its name, also after interruptions."""

from typing import Any

import pytest

from functions.event_relay import app as relay
from functions.expired_stock import app as expired_stock
from operations import provisioning, tenant_changes, tenant_overview
from operations.deletion import delete_tenant, preview_deletion
from operations.domains import add_domain
from operations.draining import DRAIN_SECONDS
from operations.tenant_rules import NewTenant
from shared.identity.tenancy.directory import CACHE_SECONDS, directory
from shared.kernel import aws
from shared.kernel.clock import now
from shared.kernel.config import config
from shared.kernel.db import schema
from shared.kernel.db.outbox_item import CHANGES
from shared.kernel.errors import Conflict, NotFound
from tests.clock import Clock
from tests.expanded_template import expanded_of
from tests.faults import AwsFaults, before_each, kill_after, kill_before
from tests.integration.offboarding.company import CERTIFICATE, HOST, Company
from tests.sampling import sampled
from tests.stack import ADDRESS, Stack, set_attributes


@pytest.fixture(autouse=True)
def _waits_take_no_time(clock: Clock) -> None:
    assert clock


def assert_deleted(company: Company) -> None:
    """Assert that only the tombstone of acme remains, and all data of the other tenants."""
    assert company.remains() == {}
    tombstone = company.tombstone()
    assert tombstone is not None
    assert set(tombstone) == {"pk", "state", "deleted_at"}
    assert tombstone["state"] == {"S": "deleted"}
    directory.clear()
    assert company.stack.erp("beta").get("/products").json()["meta"]["total"] == 1
    assert company.files("beta")
    assert company.files("acme2")
    assert tenant_overview.get_overview("beta").clients == 1


def test_deletion_leaves_only_the_tombstone(company: Company) -> None:
    company.cancel()
    steps: list[str] = []
    delete_tenant("acme", progress=steps.append)
    assert_deleted(company)
    assert any("waiting for running requests of acme to end" in step for step in steps)
    assert steps[-1] == "deleted"


def test_deletion_waits_longer_than_cache_and_longest_invocation(
    company: Company, clock: Clock
) -> None:
    company.cancel()
    began = clock.monotonic()
    delete_tenant("acme")
    assert DRAIN_SECONDS <= clock.monotonic() - began < DRAIN_SECONDS + 10
    timeouts = {
        name: function["Properties"]["Timeout"]
        for name, function in expanded_of("AWS::Lambda::Function").items()
    }
    # It reads the item of a company before each of its turns.
    timeouts["ExpiredStockFunction"] = expired_stock._TURN_MS // 1000
    assert max(timeouts.values()) + CACHE_SECONDS < DRAIN_SECONDS


@pytest.mark.parametrize("fault", [kill_before, kill_after])
def test_interrupted_deletion_is_completed_by_the_next_run(
    company: Company, aws_faults: AwsFaults, fault: Any
) -> None:
    company.cancel()
    restore = company.stack.take_snapshot()
    with aws_faults.recorded() as seen:
        delete_tenant("acme")
    last = len(seen.calls) - 1  # leaves only the tombstone
    calls = sampled(f"deletion {fault.__name__}", range(last), every=20)
    for call in (*calls, last):
        restore()
        company.put_files()
        company.add_domain()
        directory.clear()
        assert aws_faults.kills(fault(call), lambda: delete_tenant("acme"))
        assert tenant_overview.get_overview("acme").state in {"cancelled", "deleting", "deleted"}
        delete_tenant("acme")
        assert_deleted(company)


def test_deletion_completes_after_repeated_interruptions(
    company: Company, aws_faults: AwsFaults
) -> None:
    company.cancel()
    call = 0
    while aws_faults.kills(kill_after(call), lambda: delete_tenant("acme")):
        call += 1
    assert call > 10
    assert_deleted(company)


def test_concurrent_deletions_of_one_tenant_complete(
    company: Company, aws_faults: AwsFaults
) -> None:
    """A second run executes completely before each call of the first."""
    company.cancel()
    with aws_faults.faulty(before_each(lambda _: delete_tenant("acme"))):
        delete_tenant("acme")
    assert_deleted(company)


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("restoring", {"M": {"table": {"S": "stowage-tenant-acme.r1"}, "refused_at": {"N": "1"}}}),
        ("table_version", {"N": str(schema.oldest_served() - 1)}),
    ],
    ids=["restore that was interrupted", "version that is not served"],
)
def test_tenant_whose_requests_are_refused_is_deleted_with_its_host(
    company: Company, attribute: str, value: Any
) -> None:
    company.cancel()
    set_attributes(**{attribute: value})
    delete_tenant("acme")
    assert_deleted(company)


def test_second_deletion_removes_files_that_arrived_since(company: Company) -> None:
    company.delete()
    company.put_files()
    assert company.remains().keys() == {"files"}
    delete_tenant("acme")
    assert_deleted(company)


def test_more_events_than_one_batch_are_removed(company: Company) -> None:
    for number in range(160):
        aws.client("dynamodb").put_item(
            TableName=config().outbox_table,
            Item={"PK": {"S": f"acme#{number % 4:x}"}, "SK": {"S": f"evt_{number:032x}"}},
        )
    company.delete()
    assert_deleted(company)


@pytest.mark.parametrize("state", ["active", "suspended"])
def test_deletion_of_an_active_or_suspended_tenant_is_refused(company: Company, state: Any) -> None:
    provisioning.set_state("acme", state)
    before = company.remains()
    for attempt in (lambda: delete_tenant("acme"), lambda: preview_deletion("acme")):
        with pytest.raises(Conflict, match=f"is {state}; only a cancelled or moved tenant"):
            attempt()
    assert company.remains() == before
    assert tenant_overview.get_overview("acme").state == state


def test_creation_that_is_not_complete_is_not_deleted(company: Company) -> None:
    """Its table may have been recovered from a backup."""
    before = company.remains()
    set_attributes(state={"S": "creating"})
    with pytest.raises(Conflict, match=r"Complete it \(stowage tenant create acme"):
        delete_tenant("acme")
    assert company.remains().keys() == before.keys()


def test_import_that_was_given_up_leaves_nothing(company: Company, aws_faults: AwsFaults) -> None:
    """Its name is free. A deletion that was interrupted leaves the state `deleting`."""
    set_attributes(state={"S": "creating"}, import_pending={"BOOL": True})
    call = 0
    while aws_faults.kills(kill_after(call), lambda: delete_tenant("acme")):
        call += 1
        with pytest.raises(NotFound, match="delet"):
            tenant_changes.show_tenant("acme")
    assert call > 10
    assert company.remains() == {}
    with pytest.raises(NotFound):
        tenant_overview.get_overview("acme")
    assert provisioning.create_tenant(NewTenant("acme", base_url=ADDRESS)).state == "active"


def test_moved_tenant_can_be_deleted(company: Company) -> None:
    provisioning.set_state("acme", "moved", moved_to="https://wms.acme.example")
    delete_tenant("acme")
    assert_deleted(company)


def test_unknown_tenant_is_not_found(stack: Stack) -> None:
    assert stack
    for attempt in (lambda: delete_tenant("nobody"), lambda: preview_deletion("nobody")):
        with pytest.raises(NotFound):
            attempt()


def test_preview_lists_what_a_deletion_removes(company: Company) -> None:
    company.cancel()
    preview = preview_deletion("acme")
    assert (preview.state, preview.tables, preview.clients, preview.hosts) == (
        "cancelled",
        (config().tenant_table("acme"),),
        2,
        (HOST,),
    )
    assert preview.items > 0


# After the deletion


def test_name_of_a_deleted_tenant_cannot_be_used_again(company: Company) -> None:
    company.delete()
    with pytest.raises(Conflict, match="belonged to a tenant that was deleted"):
        provisioning.create_tenant(NewTenant("acme", base_url=ADDRESS))
    assert_deleted(company)


@pytest.mark.parametrize(
    "change",
    [
        lambda _: tenant_changes.show_tenant("acme"),
        lambda _: provisioning.set_state("acme", "active"),
        lambda _: provisioning.set_plan("acme", "enterprise"),
        lambda _: provisioning.set_address("acme", base_url=ADDRESS),
        lambda company: add_domain("acme", "a.test", certificate=CERTIFICATE, api=company.api),
    ],
)
@pytest.mark.parametrize("finished", [False, True])
def test_deleted_tenant_cannot_be_changed(
    company: Company, aws_faults: AwsFaults, change: Any, finished: Any
) -> None:
    company.cancel()
    if finished:
        delete_tenant("acme")
    else:
        assert aws_faults.kills(kill_after(4), lambda: delete_tenant("acme"))
    before = company.tombstone()
    with pytest.raises(NotFound, match="delet"):
        change(company)
    assert company.tombstone() == before
    delete_tenant("acme")
    assert_deleted(company)


def test_host_of_a_deleted_tenant_can_be_given_to_another(company: Company) -> None:
    company.delete()
    add_domain("beta", HOST, certificate=CERTIFICATE, api=company.api)
    assert tenant_changes.show_tenant("beta").base_url == f"https://{HOST}/api/v1"


# Requests during the deletion


def test_tokens_are_refused_from_the_first_step_on(company: Company, aws_faults: AwsFaults) -> None:
    erp = company.stack.erp()
    company.cancel()
    assert erp.get("/products").code == "tenant_cancelled"
    assert aws_faults.kills(kill_after(4), lambda: delete_tenant("acme"))
    directory.clear()
    assert erp.get("/products").status == 401
    delete_tenant("acme")
    directory.clear()
    assert erp.get("/products").status == 401
    assert erp.post("/products", {"item_code": "P-2", "name": "Late"}).status == 401


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_request_with_a_cached_tenant_is_answered_503_after_the_deletion(
    company: Company, method: str
) -> None:
    """The request has passed the checks with the cached state of the tenant."""
    erp = company.stack.erp()
    assert erp.get("/products").status == 200
    _, cached = directory._cache["TENANT#acme"]
    company.delete()
    directory._cache["TENANT#acme"] = now(), cached
    body = {"item_code": "P-2", "name": "Late"} if method == "POST" else None
    answer = erp.send(method, "/products", body, key="late" if body else None)
    assert (answer.status, answer.code) == (503, "service_unavailable")
    directory.clear()
    assert erp.send(method, "/products", body).status == 401
    assert_deleted(company)


def test_events_of_a_deleted_tenant_are_dropped(company: Company) -> None:
    (event, *_) = company.stack.events("acme")
    assert CHANGES in event  # of a feed that is deleted, too
    record = {"eventName": "INSERT", "dynamodb": {"SequenceNumber": "1", "NewImage": event}}
    company.delete()
    directory.clear()

    class Context:
        aws_request_id = "r"

    assert relay.lambda_handler({"Records": [record]}, Context()) == {  # type: ignore[arg-type]
        "batchItemFailures": []
    }
    assert_deleted(company)
