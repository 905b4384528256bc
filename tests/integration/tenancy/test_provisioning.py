"""Creation and configuration of tenants, also after interruptions."""

from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from operations import provisioning, tenant_tables
from operations.api_clients import create_client, rotate_client
from operations.provisioning import (
    create_tenant,
    list_tenants,
    set_address,
    set_plan,
    set_settings,
    set_state,
    switch_modules,
)
from operations.tenant_changes import show_tenant
from operations.tenant_rules import NewTenant
from shared.identity.tenancy.access import operator_store
from shared.identity.tenancy.directory import directory, read_item, tenant_key
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.aws import client
from shared.kernel.config import config
from shared.kernel.db.items import item_at, to_attributes
from shared.kernel.db.schema import TableVersion, current_version
from shared.kernel.db.table import EXPIRY, INDEX_COUNT
from shared.kernel.errors import Conflict, NotFound, ServiceError, ValidationFailed
from shared.kernel.events.feed import FeedHead, head_item, read_head
from shared.warehouse.settings.values import settings_of
from tests.faults import AwsFaults, before_first, kill_at, refusal
from tests.integration.call_faults import at_calls
from tests.sampling import sampled
from tests.stack import ADDRESS

pytestmark = pytest.mark.usefixtures("aws_faults")

ACME = NewTenant(
    "acme",
    plan="professional",
    host="wms.acme.test",
    modules=frozenset({"waves", "bulk_import"}),
    timezone="Europe/Madrid",
)


STACK_TABLES = ["stowage-control", "stowage-outbox"]


def protected_stack_tables() -> list[str]:
    """Return the tables of the stack that cannot be deleted."""
    tables = [client("dynamodb").describe_table(TableName=name)["Table"] for name in STACK_TABLES]
    return [table["TableName"] for table in tables if table["DeletionProtectionEnabled"]]


def _feed_head() -> FeedHead | None:
    return read_head(operator_store("acme"))


def assert_complete() -> None:
    """Assert that item, host and table of the tenant exist with all properties."""
    directory.clear()
    assert directory.tenant("acme") == Tenant(
        slug="acme",
        state="active",
        plan="professional",
        modules=frozenset({"waves", "bulk_import"}),
        base_url="https://wms.acme.test/api/v1",
        timezone="Europe/Madrid",
        table_version=current_version(),
    )
    assert directory.tenant_for_host("wms.acme.test") == "acme"
    dynamodb = client("dynamodb")
    table = dynamodb.describe_table(TableName="stowage-tenant-acme")["Table"]
    assert table["TableStatus"] == "ACTIVE"
    assert len(table["GlobalSecondaryIndexes"]) == INDEX_COUNT
    assert table["DeletionProtectionEnabled"]
    assert protected_stack_tables() == STACK_TABLES
    tags = dynamodb.list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"]
    assert {tag["Key"]: tag["Value"] for tag in tags} == {
        "service": "stowage",
        "stack": "stowage",
        "stack_id": config().stack_id,
        "tenant": "acme",
    }
    expiry = dynamodb.describe_time_to_live(TableName="stowage-tenant-acme")
    assert expiry["TimeToLiveDescription"] == {
        "TimeToLiveStatus": "ENABLED",
        "AttributeName": EXPIRY,
    }
    head = _feed_head()
    assert head
    assert head == FeedHead(head.epoch, position=0, checksums={})
    backups = dynamodb.describe_continuous_backups(TableName="stowage-tenant-acme")
    recovery = backups["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert recovery["PointInTimeRecoveryStatus"] == "ENABLED"


def test_created_tenant_has_a_table_and_an_address() -> None:
    steps: list[str] = []
    tenant = create_tenant(ACME, progress=steps.append)
    assert tenant == show_tenant("acme")
    assert_complete()
    assert steps[:3] == [
        "protecting the table stowage-control from deletion",
        "protecting the table stowage-outbox from deletion",
        "registering acme",
    ]
    assert steps[-1] == "ready"


def test_tables_of_the_stack_are_protected_before_anything_is_stored(
    aws_faults: AwsFaults,
) -> None:
    stored_after = list[list[str]]()
    look = at_calls(
        "TransactWriteItems", before=lambda: stored_after.append(protected_stack_tables())
    )

    assert protected_stack_tables() == []
    with aws_faults.faulty(look):
        create_tenant(ACME)
    assert stored_after == [STACK_TABLES, STACK_TABLES]  # the table, then the item of the tenant


def test_protection_that_was_lost_is_enabled_with_the_next_tenant() -> None:
    """As by an update from version 1.0.0, whose template had enabled it."""
    create_tenant(ACME)
    client("dynamodb").update_table(TableName=STACK_TABLES[1], DeletionProtectionEnabled=False)
    create_tenant(NewTenant("beta", base_url=ADDRESS))
    assert protected_stack_tables() == STACK_TABLES


def test_protection_waits_for_another_change_of_the_table(
    aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As while CloudFormation updates the table, or a concurrent command protects it."""
    monkeypatch.setattr(tenant_tables, "_POLL_SECONDS", 0.005)
    refuse = at_calls("UpdateTable", range(3), answer=lambda _: refusal("ResourceInUseException"))

    with aws_faults.faulty(refuse), aws_faults.recorded() as calls:
        create_tenant(ACME)
    assert calls.operations.count("UpdateTable") == 3 + len(STACK_TABLES)
    assert_complete()


def test_creating_an_existing_tenant_changes_nothing() -> None:
    create_tenant(ACME)
    set_settings("acme", {"receipt_tolerance": Decimal("2.1")})
    before = read_item(tenant_key("acme"))
    create_tenant(ACME)
    assert read_item(tenant_key("acme")) == before
    assert settings_of(show_tenant("acme").company).receipt_tolerance == Decimal("2.1")


STEPS = 22
"""Number of AWS calls of a creation."""

MOMENTS = 2 * STEPS
"""Number of points at which a creation can be interrupted: before and after each call."""

_SERVED = MOMENTS - 3
"""The first point at which the tenant is served: after the call that makes it active."""
_TRIED = {*sampled("creation of a tenant", range(MOMENTS), every=6), _SERVED - 1, _SERVED}


@pytest.mark.parametrize("moment", sorted(_TRIED))
def test_interrupted_creation_is_completed_by_the_next_run(
    moment: int, aws_faults: AwsFaults
) -> None:
    assert aws_faults.kills(kill_at(moment), lambda: create_tenant(ACME))
    directory.clear()
    if moment < _SERVED:
        assert directory.tenant("acme") is None, "an incomplete tenant must not be served"
    create_tenant(ACME)
    assert_complete()


def test_number_of_steps_covers_the_whole_creation(aws_faults: AwsFaults) -> None:
    with aws_faults.faulty(kill_at(MOMENTS)), aws_faults.recorded() as calls:
        create_tenant(ACME)
    assert len(calls.operations) == STEPS


def test_creation_completes_after_repeated_interruptions(aws_faults: AwsFaults) -> None:
    for moment in range(MOMENTS):
        if not aws_faults.kills(kill_at(moment), lambda: create_tenant(ACME)):
            break
    assert_complete()


@pytest.mark.parametrize(
    "other",
    [
        replace(ACME, plan="enterprise"),
        replace(ACME, timezone="UTC"),
        replace(ACME, modules=frozenset()),
        replace(ACME, host="other.acme.test"),
    ],
)
def test_existing_slug_with_different_settings_is_refused(other: NewTenant) -> None:
    create_tenant(ACME)
    with pytest.raises(Conflict, match="other settings"):
        create_tenant(other)
    assert_complete()


def test_tenant_with_the_host_of_another_is_refused_and_leaves_nothing() -> None:
    create_tenant(ACME)
    with pytest.raises(Conflict, match=r"wms\.acme\.test belongs to another"):
        create_tenant(NewTenant("beta", host="wms.acme.test"))
    assert read_item(tenant_key("beta")) is None
    assert directory.tenant_for_host("wms.acme.test") == "acme"


def test_invalid_settings_are_refused_without_a_call(aws_faults: AwsFaults) -> None:
    with aws_faults.recorded() as calls, pytest.raises(ValidationFailed):
        create_tenant(NewTenant("Admin", host="localhost"))
    assert calls.operations == []


def test_creating_a_suspended_tenant_again_does_not_resume_it() -> None:
    create_tenant(ACME)
    set_state("acme", "suspended")
    assert create_tenant(ACME).state == "suspended"


def test_wait_for_the_table_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenant_tables, "_is_active", lambda _: False)
    monkeypatch.setattr(tenant_tables, "_TIMEOUT_SECONDS", 0.02)
    monkeypatch.setattr(tenant_tables, "_POLL_SECONDS", 0.005)
    with pytest.raises(ServiceError) as refusal:
        create_tenant(ACME)
    assert refusal.value.status == 503
    monkeypatch.undo()


def test_address_can_be_changed_to_an_own_host() -> None:
    create_tenant(NewTenant("acme", base_url=ADDRESS))
    create_tenant(NewTenant("beta", host="wms.beta.test"))
    assert set_address("acme", host="wms.acme.test").base_url == "https://wms.acme.test/api/v1"
    assert directory.tenant_for_host("wms.acme.test") == "acme"
    with pytest.raises(Conflict):
        set_address("acme", host="wms.beta.test")
    assert show_tenant("acme").base_url == "https://wms.acme.test/api/v1"
    assert directory.shared_address() is None, "the address of a tenant is not shared"


@pytest.mark.parametrize(
    "change",
    [
        lambda: show_tenant("acme"),
        lambda: set_state("acme", "suspended"),
        lambda: set_plan("acme", "enterprise"),
        lambda: switch_modules("acme", on=["waves"]),
        lambda: set_settings("acme", {"receipt_tolerance": Decimal(5)}),
        lambda: set_address("acme", base_url=ADDRESS),
        lambda: create_client("acme", "ERP"),
    ],
)
@pytest.mark.parametrize("unfinished", [False, True])
def test_missing_or_incomplete_tenant_cannot_be_changed(
    change: Any, unfinished: Any, aws_faults: AwsFaults
) -> None:
    if unfinished:
        assert aws_faults.kills(kill_at(8), lambda: create_tenant(ACME))
    with pytest.raises(NotFound):
        change()
    item = read_item(tenant_key("acme"))
    assert item is None or item["state"]["S"] == "creating"


def test_a_table_that_was_recovered_from_a_backup_has_no_feed_of_changes() -> None:
    create_tenant(ACME)
    head = head_item("stowage-tenant-acme", FeedHead(epoch=1, position=7, checksums={}))
    for item in (head, item_at(("product#000000000001", "HEAD"), id=1)):
        client("dynamodb").put_item(TableName="stowage-tenant-acme", Item=to_attributes(item))

    tenant_tables.ensure_version("acme", current_version().written)

    assert _feed_head() is None


def test_a_feed_that_another_creation_has_begun_goes_on(aws_faults: AwsFaults) -> None:
    """The other one ended, and the tenant was used, after this one saw an empty table."""
    create_tenant(ACME)
    used = head_item("stowage-tenant-acme", FeedHead(epoch=1, position=7, checksums={}))
    put = partial(
        client("dynamodb").put_item, TableName="stowage-tenant-acme", Item=to_attributes(used)
    )
    with aws_faults.faulty(before_first("TransactWriteItems", put)):
        tenant_tables.ensure_version("acme", current_version().written)
    head = _feed_head()
    assert head
    assert (head.epoch, head.position) == (1, 7)


def test_list_of_tenants_is_sorted_and_contains_all_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provisioning, "ensure_table", lambda *_, **__: None)
    monkeypatch.setattr(provisioning, "write_version", lambda _, version: TableVersion.of(version))
    slugs = [f"tenant-{number:02}" for number in range(12)]
    for slug in reversed(slugs):
        create_tenant(NewTenant(slug, base_url=ADDRESS))
    assert [tenant.slug for tenant in list_tenants()] == slugs


def test_concurrent_rotation_of_a_secret_is_refused(aws_faults: AwsFaults) -> None:
    create_tenant(ACME)
    created = create_client("acme", "ERP")
    rotate = before_first("UpdateItem", lambda: rotate_client(created.client_id))
    with aws_faults.faulty(rotate), pytest.raises(Conflict):
        rotate_client(created.client_id)
