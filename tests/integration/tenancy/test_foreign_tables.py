"""A table that another deployment created is neither taken for a tenant nor deleted."""

from typing import Any

import pytest

from operations import tenant_tables
from operations.deletion import delete_tenant
from operations.provisioning import create_tenant, set_state
from operations.tenant_rules import NewTenant
from operations.tenant_tables import recorded_version
from operations.upgrade import upgrade_tables
from shared.identity.tenancy.directory import directory, host_key, read_item, tenant_key
from shared.identity.tenancy.tenant import PLANS
from shared.kernel.aws import client
from shared.kernel.config import config
from shared.kernel.db import schema
from shared.kernel.db.schema import TableVersion
from shared.kernel.db.table import table_definition
from shared.kernel.errors import Conflict, ServiceError, UnservedTable
from tests.clock import Clock
from tests.faults import AwsFaults, before_first
from tests.integration.user_grants.oauth_requests import create_example_user

ACME = NewTenant("acme", host="wms.acme.test")
TABLE = "stowage-tenant-acme"
_OTHER_STACK = "arn:aws:cloudformation:eu-west-1:123456789012:stack/stowage/ffff"
"""An earlier stack of the same name."""
_TAGS = {
    "of another stack": {"service": "stowage", "stack": "stowage", "stack_id": _OTHER_STACK},
    "of version 1.0.0": {"service": "stowage", "stack": "stowage", "tenant": "acme"},
    "of another service": {},
}


@pytest.fixture(autouse=True)
def _short_waits(aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch) -> None:
    assert aws_faults
    monkeypatch.setattr(tenant_tables, "_TAG_SECONDS", 0.02)
    monkeypatch.setattr(tenant_tables, "_POLL_SECONDS", 0.005)


def _create_table(tags: dict[str, str]) -> str:
    """Create a table with the name of acme's; return its ARN."""
    description = client("dynamodb").create_table(
        TableName=TABLE,
        **table_definition(),
        Tags=[{"Key": key, "Value": value} for key, value in tags.items()],
    )
    return str(description["TableDescription"]["TableArn"])


def _tag(arn: str, stack_id: str) -> None:
    client("dynamodb").tag_resource(ResourceArn=arn, Tags=[{"Key": "stack_id", "Value": stack_id}])


def _arn() -> str:
    return str(client("dynamodb").describe_table(TableName=TABLE)["Table"]["TableArn"])


@pytest.mark.parametrize("tags", _TAGS.values(), ids=_TAGS)
def test_tenant_with_a_foreign_table_is_refused_and_leaves_nothing(tags: dict[str, str]) -> None:
    arn = _create_table(tags)

    with pytest.raises(Conflict) as refusal:
        create_tenant(ACME)

    assert tags.get("stack_id", "missing") in refusal.value.message
    assert config().stack_id in refusal.value.message
    assert arn in refusal.value.message
    assert read_item(tenant_key("acme")) is None
    assert read_item(host_key("wms.acme.test")) is None
    backups = client("dynamodb").describe_continuous_backups(TableName=TABLE)
    recovery = backups["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert recovery["PointInTimeRecoveryStatus"] == "DISABLED", "the table is unchanged"


def test_table_that_an_operator_has_tagged_is_taken() -> None:
    arn = _create_table({"stack_id": _OTHER_STACK})
    _tag(arn, config().stack_id)
    assert create_tenant(ACME).state == "active"


def _lose_the_control_table() -> None:
    """Leave only the table of acme, as after its restore from a backup in another account."""
    for key in (tenant_key("acme"), host_key("wms.acme.test")):
        client("dynamodb").delete_item(TableName=config().control_table, Key={"pk": {"S": key}})
    directory.clear()


def test_tenant_of_a_recovered_table_has_its_version(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.freeze()  # the waits of the upgrade take no time
    new = schema.SCHEMA_VERSION
    monkeypatch.setattr(schema, "SCHEMA_VERSION", new - 1)
    create_tenant(ACME)
    _lose_the_control_table()
    monkeypatch.setattr(schema, "SCHEMA_VERSION", new)
    assert create_tenant(ACME).table_version == TableVersion.of(new - 1)
    assert recorded_version(TABLE) == TableVersion.of(new - 1)
    (upgraded,) = upgrade_tables(["acme"])
    assert upgraded.version == new


def test_recovered_table_of_a_version_that_is_not_served_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    create_tenant(ACME)
    _lose_the_control_table()
    monkeypatch.setattr(schema, "SCHEMA_VERSION", schema.SCHEMA_VERSION + 2)
    with pytest.raises(UnservedTable):
        create_tenant(ACME)
    item = read_item(tenant_key("acme"))
    assert item
    assert item["state"]["S"] == "creating"


def test_users_of_a_recovered_table_count_toward_the_plan() -> None:
    create_tenant(ACME)
    for number in range(PLANS[ACME.plan].limits["users"]):
        create_example_user(f"user-{number}")
    _lose_the_control_table()
    create_tenant(ACME)
    with pytest.raises(ServiceError, match="users"):
        create_example_user("one-more")


def test_foreign_table_created_during_the_creation_is_refused(aws_faults: AwsFaults) -> None:
    create = before_first("CreateTable", lambda: _create_table({"stack_id": _OTHER_STACK}))
    with aws_faults.faulty(create), pytest.raises(Conflict, match="another deployment"):
        create_tenant(ACME)
    directory.clear()
    assert directory.tenant("acme") is None


def test_creation_waits_until_the_tags_of_its_table_are_shown(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ListTagsOfResource is eventually consistent; moto shows tags at once."""
    clock.freeze()  # only the waits take time, however long moto takes
    _create_table({"stack_id": config().stack_id})
    shown = iter([None, None])
    real = tenant_tables._owner
    monkeypatch.setattr(tenant_tables, "_owner", lambda arn: next(shown, real(arn)))
    assert create_tenant(ACME).state == "active"


def test_completed_tenant_whose_table_has_no_tag_can_be_created_again() -> None:
    create_tenant(ACME)
    client("dynamodb").untag_resource(ResourceArn=_arn(), TagKeys=["stack_id"])
    assert create_tenant(ACME).state == "active"


@pytest.mark.parametrize("state", ["active", "cancelled"])
def test_table_that_was_replaced_by_a_foreign_one_is_neither_changed_nor_deleted(
    state: Any,
) -> None:
    create_tenant(ACME)
    set_state("acme", state)
    _tag(_arn(), _OTHER_STACK)
    with pytest.raises(Conflict, match="another deployment"):
        create_tenant(ACME) if state == "active" else delete_tenant("acme")
    item = read_item(tenant_key("acme"))
    assert item
    assert item["state"]["S"] == state
    assert _arn()
