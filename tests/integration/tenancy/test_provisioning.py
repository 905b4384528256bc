"""Creating tenants: whatever dies in between, the next run finishes it."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from operations import provisioning, tenant_tables
from operations.provisioning import (
    create_client,
    create_tenant,
    list_clients,
    list_tenants,
    revoke_client,
    rotate_client,
    set_address,
    set_modules,
    set_plan,
    set_settings,
    set_state,
    show_tenant,
)
from shared.identity.tenancy.directory import directory, read, tenant_key
from shared.identity.tenancy.settings import TenantSettings
from shared.identity.tenancy.tenant import Settings, Tenant
from shared.kernel.aws import client
from shared.kernel.db.table import EXPIRY, INDEX_COUNT
from shared.kernel.errors import Conflict, Gone, NotFound, ServiceError, ValidationFailed
from tests.integration.control_plane import ADDRESS, Killed, Wire, killer

ACME = TenantSettings(
    "acme",
    plan="professional",
    host="wms.acme.test",
    modules=frozenset({"waves", "bulk_import"}),
    timezone="Europe/Madrid",
)


def assert_complete() -> None:
    """Everything that a tenant needs is there."""
    directory.forget()
    assert directory.tenant("acme") == Tenant(
        slug="acme",
        state="active",
        plan="professional",
        modules=frozenset({"waves", "bulk_import"}),
        base_url="https://wms.acme.test/api/v1",
        timezone="Europe/Madrid",
    )
    assert directory.tenant_for_host("wms.acme.test") == "acme"
    dynamodb = client("dynamodb")
    table = dynamodb.describe_table(TableName="stowage-tenant-acme")["Table"]
    assert table["TableStatus"] == "ACTIVE"
    assert len(table["GlobalSecondaryIndexes"]) == INDEX_COUNT
    assert table["DeletionProtectionEnabled"]
    tags = dynamodb.list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"]
    assert {tag["Key"]: tag["Value"] for tag in tags} == {
        "service": "stowage",
        "stack": "stowage",
        "tenant": "acme",
    }
    expiry = dynamodb.describe_time_to_live(TableName="stowage-tenant-acme")
    assert expiry["TimeToLiveDescription"] == {
        "TimeToLiveStatus": "ENABLED",
        "AttributeName": EXPIRY,
    }
    backups = dynamodb.describe_continuous_backups(TableName="stowage-tenant-acme")
    recovery = backups["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert recovery["PointInTimeRecoveryStatus"] == "ENABLED"


def test_a_tenant_gets_its_table_and_its_address(aws_faults: Wire) -> None:
    assert aws_faults
    steps: list[str] = []
    tenant = create_tenant(ACME, progress=steps.append)
    assert tenant == show_tenant("acme")
    assert_complete()
    assert steps[0] == "registering acme"
    assert steps[-1] == "ready"


def test_creating_it_again_changes_nothing(aws_faults: Wire) -> None:
    assert aws_faults
    create_tenant(ACME)
    before = read(tenant_key("acme"))
    create_tenant(ACME)
    assert read(tenant_key("acme")) == before
    assert_complete()


STEPS = 9
"""AWS calls of a creation."""

MOMENTS = 2 * STEPS
"""When it can die: before and after each of them."""


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_a_creation_that_died_is_finished_by_the_next_run(moment: int, aws_faults: Wire) -> None:
    with aws_faults.hooked(killer(moment)), pytest.raises(Killed):
        create_tenant(ACME)
    directory.forget()
    if moment < MOMENTS - 3:
        assert directory.tenant("acme") is None, "it must not answer before it is complete"
    create_tenant(ACME)
    assert_complete()


def test_those_are_all_the_moments(aws_faults: Wire) -> None:
    with aws_faults.hooked(killer(MOMENTS)), aws_faults.recorded() as calls:
        create_tenant(ACME)
    assert len(calls) == STEPS


def test_a_run_that_dies_again_and_again_gets_there(aws_faults: Wire) -> None:
    for moment in range(MOMENTS):
        try:
            with aws_faults.hooked(killer(moment)):
                create_tenant(ACME)
        except Killed:
            continue
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
def test_a_slug_is_taken_once(other: TenantSettings, aws_faults: Wire) -> None:
    assert aws_faults
    create_tenant(ACME)
    with pytest.raises(Conflict, match="other settings"):
        create_tenant(other)
    assert_complete()


def test_a_host_is_taken_once_and_a_refused_tenant_leaves_nothing(aws_faults: Wire) -> None:
    assert aws_faults
    create_tenant(ACME)
    with pytest.raises(Conflict, match=r"wms\.acme\.test belongs to another"):
        create_tenant(TenantSettings("beta", host="wms.acme.test"))
    assert read(tenant_key("beta")) is None
    assert directory.tenant_for_host("wms.acme.test") == "acme"


def test_settings_that_cannot_be_cost_no_call(aws_faults: Wire) -> None:
    with aws_faults.recorded() as calls, pytest.raises(ValidationFailed):
        create_tenant(TenantSettings("Admin", host="localhost"))
    assert calls == []


def test_creating_a_suspended_tenant_again_does_not_resume_it(aws_faults: Wire) -> None:
    assert aws_faults
    create_tenant(ACME)
    set_state("acme", "suspended")
    assert create_tenant(ACME).state == "suspended"


def test_the_wait_for_the_table_ends(aws_faults: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    assert aws_faults
    monkeypatch.setattr(tenant_tables, "_is_active", lambda _: False)
    monkeypatch.setattr(tenant_tables, "_TIMEOUT_SECONDS", 0.02)
    monkeypatch.setattr(tenant_tables, "_POLL_SECONDS", 0.005)
    with pytest.raises(ServiceError) as refusal:
        create_tenant(ACME)
    assert refusal.value.status == 503
    monkeypatch.undo()


def test_states_come_and_go(aws_faults: Wire) -> None:
    assert aws_faults
    create_tenant(ACME)
    for _ in range(2):
        assert set_state("acme", "suspended").state == "suspended"
    moved = set_state("acme", "moved", moved_to="https://wms.acme.example")
    assert (moved.state, moved.moved_to) == ("moved", "https://wms.acme.example")
    resumed = set_state("acme", "active")
    assert (resumed.state, resumed.moved_to) == ("active", None)


def test_plan_and_modules_change(aws_faults: Wire) -> None:
    assert aws_faults
    create_tenant(ACME)
    assert set_plan("acme", "essentials").plan == "essentials"
    assert set_modules("acme", ["transfer_orders"]).modules == {"transfer_orders"}
    assert set_modules("acme", []).modules == frozenset()
    with pytest.raises(ValidationFailed):
        set_plan("acme", "free")
    with pytest.raises(ValidationFailed):
        set_modules("acme", ["wave"])


def test_settings_are_set_one_by_one_and_kept_exactly(aws_faults: Wire) -> None:
    assert aws_faults
    assert create_tenant(ACME).settings == Settings(
        receipt_tolerance=Decimal(0),
        pick_substitution="none",
        minutes_per_unit=Decimal("0.5"),
        minutes_per_trip=Decimal(5),
        commit_drops=False,
    )
    set_settings("acme", {"receipt_tolerance": Decimal("2.1"), "pick_substitution": "batch"})
    set_settings("acme", {"minutes_per_unit": Decimal("0.000001")})
    changed = set_settings("acme", {"commit_drops": True}).settings
    assert changed == Settings(
        Decimal("2.1"), "batch", Decimal("0.000001"), Decimal(5), commit_drops=True
    )
    assert create_tenant(ACME).settings == show_tenant("acme").settings == changed
    with pytest.raises(ValidationFailed):
        set_settings("acme", {"receipt_tolerance": Decimal(-1), "minutes_per_trip": Decimal(1)})
    assert show_tenant("acme").settings == changed


def test_a_tenant_moves_to_a_host_of_its_own(aws_faults: Wire) -> None:
    assert aws_faults
    create_tenant(TenantSettings("acme", base_url=ADDRESS))
    create_tenant(TenantSettings("beta", host="wms.beta.test"))
    assert set_address("acme", host="wms.acme.test").base_url == "https://wms.acme.test/api/v1"
    assert directory.tenant_for_host("wms.acme.test") == "acme"
    with pytest.raises(Conflict):
        set_address("acme", host="wms.beta.test")
    assert show_tenant("acme").base_url == "https://wms.acme.test/api/v1"
    assert directory.shared_address() is None, "one tenant's address is nobody else's"


@pytest.mark.parametrize(
    "change",
    [
        lambda: show_tenant("acme"),
        lambda: set_state("acme", "suspended"),
        lambda: set_plan("acme", "enterprise"),
        lambda: set_modules("acme", ["waves"]),
        lambda: set_settings("acme", {"receipt_tolerance": Decimal(5)}),
        lambda: set_address("acme", base_url=ADDRESS),
        lambda: create_client("acme", "ERP"),
    ],
)
@pytest.mark.parametrize("unfinished", [False, True])
def test_a_tenant_that_is_not_there_cannot_be_changed(
    change: Any, unfinished: Any, aws_faults: Wire
) -> None:
    if unfinished:
        with aws_faults.hooked(killer(4)), pytest.raises(Killed):
            create_tenant(ACME)
    with pytest.raises(NotFound):
        change()
    item = read(tenant_key("acme"))
    assert item is None or item["state"]["S"] == "creating"


def test_tenants_are_listed_by_slug_over_all_pages(
    aws_faults: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert aws_faults
    monkeypatch.setattr(provisioning, "ensure_table", lambda *_: None)
    slugs = [f"tenant-{number:02}" for number in range(12)]
    for slug in reversed(slugs):
        create_tenant(TenantSettings(slug, base_url=ADDRESS))
    assert [tenant.slug for tenant in list_tenants()] == slugs


def test_clients_are_counted_exactly_against_the_plan(aws_faults: Wire) -> None:
    assert aws_faults
    create_tenant(replace(ACME, plan="essentials"))
    first, second = (create_client("acme", name) for name in ("ERP", "shop"))
    with pytest.raises(ServiceError) as refusal:
        create_client("acme", "third")
    assert refusal.value.code == "limit_reached"
    assert refusal.value.extra["offer"]["next_plan"] == "professional"
    for _ in range(2):
        revoke_client(first.client_id)
    third = create_client("acme", "third")
    with pytest.raises(ServiceError):
        create_client("acme", "fourth")
    states = {known.client_id: known.active for known in list_clients("acme")}
    assert states == {first.client_id: False, second.client_id: True, third.client_id: True}


def test_a_secret_is_stored_nowhere(aws_faults: Wire) -> None:
    assert aws_faults
    create_tenant(ACME)
    created = create_client("acme", "ERP", ["products:read"])
    rotated = rotate_client(created.client_id)
    stored = str(client("dynamodb").scan(TableName="stowage-control")["Items"])
    assert created.client_id in stored
    assert created.client_secret not in stored
    assert rotated.client_secret not in stored
    assert len(created.client_secret) == len("sws_") + 43


@pytest.mark.parametrize(
    ("name", "scopes"),
    [("", ["products:read"]), ("x" * 101, ["products:read"]), ("a\nb", ["products:read"]),
     ("ERP", []), ("ERP", ["products:all"])],
)  # fmt: skip
def test_a_client_that_cannot_be_is_refused(name: str, scopes: list[str], aws_faults: Wire) -> None:
    assert aws_faults
    create_tenant(ACME)
    with pytest.raises(ValidationFailed):
        create_client("acme", name, scopes)
    assert list_clients("acme") == []


def test_two_rotations_at_once_do_not_undo_each_other(aws_faults: Wire) -> None:
    create_tenant(ACME)
    created = create_client("acme", "ERP")
    rotated: list[Any] = []

    def interleave(moment: str, operation: str) -> None:
        if (moment, operation) == ("before", "UpdateItem") and not rotated:
            rotated.append(None)
            rotate_client(created.client_id)

    with aws_faults.hooked(interleave), pytest.raises(Conflict):
        rotate_client(created.client_id)


def test_unknown_and_revoked_clients_cannot_be_rotated(aws_faults: Wire) -> None:
    assert aws_faults
    create_tenant(ACME)
    created = create_client("acme", "ERP")
    revoke_client(created.client_id)
    for client_id, refusal in ((created.client_id, Gone), ("stw_unknown", NotFound)):
        with pytest.raises(refusal):
            rotate_client(client_id)
    with pytest.raises(NotFound):
        revoke_client("stw_unknown")
