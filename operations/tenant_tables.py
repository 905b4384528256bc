"""Creation and removal of a tenant's table; deletion protection of the tables of the stack."""

import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from operations.progress import ReportProgress
from shared.identity.tenancy.directory import current_table, read_item, tenant_from_item, tenant_key
from shared.kernel.aws import client, read_pages
from shared.kernel.config import config
from shared.kernel.db import schema
from shared.kernel.db.aws_errors import cancellation_reasons
from shared.kernel.db.items import from_attributes, item_at, key_of, to_attributes
from shared.kernel.db.outbox_item import CHANGES_SINCE
from shared.kernel.db.schema import TableVersion
from shared.kernel.db.store import key_attributes
from shared.kernel.db.table import EXPIRY, PARTITION_KEY, table_definition
from shared.kernel.errors import Conflict, ServiceUnavailable
from shared.kernel.events.feed import HEAD_KEY, first_head

_TIMEOUT_SECONDS = 300.0
"""Seconds to wait for DynamoDB; a table is usually ready within 30."""

_POLL_SECONDS = 1.0
_RESTORE_POLL_SECONDS = 5.0

ON_DEMAND_UNITS = 40_000
"""Read units per second of a table on demand: the default quota of an AWS account."""
_NO_MAXIMUM = -1
"""What DynamoDB calls a maximum that is not set."""

_TAG_SECONDS = 10.0
"""Seconds to wait for the tags of an existing table; DynamoDB shows new ones after a few."""

_OWNER_TAG = "stack_id"
"""Tag with the id of the stack that created a table. The name of the stack does not tell: a later
stack can have the same name, and `STACK-tenant-` can begin the names of two stacks."""


def table_of(slug: str) -> str:
    """Return the name of a tenant's table, read without a cache."""
    return current_table(slug, read_item(tenant_key(slug)))


def new_table_name(slug: str, moment: datetime) -> str:
    """Return the name of the table of a restore that begins at `moment`."""
    return f"{config().tenant_table(slug)}.r{moment:%Y%m%dT%H%M%S}"


def tables_of(slug: str) -> list[str]:
    """Return the tables of a tenant: its first one and those of restores, as far as they exist.

    No slug contains a dot, so another tenant of this stack never has such a table.
    """
    name = re.compile(rf"{re.escape(config().tenant_table(slug))}(\.r\d{{8}}T\d{{6}})?")
    every = read_pages(client("dynamodb"), "list_tables", "TableNames")
    return sorted(each for each in every if name.fullmatch(each))


def find_own_table(slug: str, *, is_completed: bool) -> bool:
    """Return whether the tenant's table exists.

    Args:
        slug: The tenant.
        is_completed: Whether the creation of the tenant was completed. Its table may then lack the
            tag: version 1.0.0 created it, or it was restored from a backup, which has no tags.

    Raises:
        Conflict: Another deployment created the table.
    """
    return find_own(table_of(slug), is_completed=is_completed)


def find_own(name: str, *, is_completed: bool) -> bool:
    """Return whether a table of a tenant exists; see `find_own_table`."""
    table = describe_table(name)
    if table is None:
        return False
    arn, expected = table["TableArn"], config().stack_id
    owner: str | None = None

    def is_known() -> bool:
        nonlocal owner
        owner = _owner(arn)
        return owner is not None or is_completed

    with suppress(ServiceUnavailable):
        _wait_until(is_known, _TAG_SECONDS)
    if owner == expected or (owner is None and is_completed):
        return True
    raise Conflict(
        f"The table {name} belongs to another deployment: its tag {_OWNER_TAG} is "
        f"{owner or 'missing'}, and this deployment is {expected}. If its data belongs to this "
        "one, because the stack was deleted and created again, tag the table and run the command "
        f"again: aws dynamodb tag-resource --resource-arn {arn} --tags "
        f"Key={_OWNER_TAG},Value={expected}"
    )


def _owner(arn: str) -> str | None:
    """Return the id of the stack that created a table; None without the tag."""
    return _tags_of(arn).get(_OWNER_TAG)


def _tags_of(arn: str) -> dict[str, str]:
    tags = read_pages(client("dynamodb"), "list_tags_of_resource", "Tags", ResourceArn=arn)
    return {tag["Key"]: tag["Value"] for tag in tags}


def ensure_table(slug: str, progress: ReportProgress, *, exists: bool) -> None:
    """Create a tenant's table, or complete its creation. Safe to repeat and to run concurrently.

    Args:
        slug: The tenant.
        progress: Receives a description of each step.
        exists: Whether `find_own_table` has found it.

    Raises:
        Conflict: Another deployment created the table.
        ServiceUnavailable: DynamoDB was not ready in time.
    """
    name = table_of(slug)
    progress(f"creating the table {name}")
    if not exists and not _create(name, slug):  # an earlier or a concurrent call has created it
        find_own_table(slug, is_completed=False)
    progress("waiting until the table is ready")
    _wait_until(lambda: _is_active(name))
    progress("enabling backups and expiry")
    _wait_until(lambda: _enable_backups(name))
    _enable_expiry(name)
    if config().table_units:  # a new table has no maxima
        set_maxima(slug, name)


def set_maxima(slug: str, name: str | None = None) -> None:
    """Set the most units per second of a tenant's table by its request limit. Safe to repeat.

    DynamoDB throttles what exceeds a maximum, which is a target: bursts may exceed it. The table
    and each of its indexes have maxima of their own. Without `table_units`, there are none.

    Args:
        slug: The tenant.
        name: The table; by default the present one.

    Raises:
        ServiceUnavailable: DynamoDB was not ready in time.
    """
    item = read_item(tenant_key(slug))
    if item is None:
        return
    per_minute = tenant_from_item(item).limits["total_requests_per_minute"]
    units = config().table_units * per_minute
    if not 0 < units < ON_DEMAND_UNITS:  # DynamoDB refuses a maximum above the quota
        units = _NO_MAXIMUM
    _wait_until(partial(_set_maxima, name or current_table(slug, item), units))


def _set_maxima(name: str, units: int) -> bool:
    """Set the maxima of a table; return False while another change of it is in progress."""
    table = describe_table(name) or {}
    maxima = {"MaxReadRequestUnits": units, "MaxWriteRequestUnits": units}
    indexes = table.get("GlobalSecondaryIndexes", ())
    missing = [index["IndexName"] for index in indexes if not _has_maxima(index, maxima)]
    changes: dict[str, Any] = {}
    if not _has_maxima(table, maxima):
        changes["OnDemandThroughput"] = maxima
    if missing:
        changes["GlobalSecondaryIndexUpdates"] = [
            {"Update": {"IndexName": index, "OnDemandThroughput": maxima}} for index in missing
        ]
    if not changes:
        return True
    dynamodb = client("dynamodb")
    try:
        dynamodb.update_table(TableName=name, **changes)
    except dynamodb.exceptions.ResourceInUseException:
        return False
    return True


def _has_maxima(described: Mapping[str, Any], maxima: Mapping[str, int]) -> bool:
    present = described.get("OnDemandThroughput", {})
    return all(present.get(name, _NO_MAXIMUM) == units for name, units in maxima.items())


def start_restore(source: str, target: str, moment: datetime) -> None:
    """Start the restore of a table into a new one, unless an earlier run has. Safe to repeat."""
    dynamodb = client("dynamodb")
    with suppress(dynamodb.exceptions.TableAlreadyExistsException):
        dynamodb.restore_table_to_point_in_time(
            SourceTableName=source, TargetTableName=target, RestoreDateTime=moment
        )


def complete_restored_table(name: str, slug: str, progress: ReportProgress) -> None:
    """Wait for a restored table, and give it what a restore leaves out. Safe to repeat.

    DynamoDB restores neither tags nor deletion protection, backups and expiry.

    Raises:
        ServiceUnavailable: DynamoDB was not ready in time.
    """
    while not _is_active(name):  # minutes to hours
        progress(f"{slug}: DynamoDB is restoring the table {name}")
        time.sleep(_RESTORE_POLL_SECONDS)
    progress(f"{slug}: protecting the table, enabling backups and expiry")
    arn = (describe_table(name) or {})["TableArn"]
    present = _tags_of(arn)
    if missing := [tag for tag in _tags(slug) if present.get(tag["Key"]) != tag["Value"]]:
        client("dynamodb").tag_resource(ResourceArn=arn, Tags=missing)
    _wait_until(lambda: _protect(name))
    _wait_until(lambda: _enable_backups(name))
    _enable_expiry(name)
    if config().table_units:  # a new table has no maxima
        set_maxima(slug, name)


def write_version(slug: str, version: int) -> TableVersion:
    """Record the version of a new table in it, and begin its feed of changes. Safe to repeat.

    A feed that has entries stays: another creation of the tenant has ended meanwhile.
    """
    name = table_of(slug)
    dynamodb = client("dynamodb")
    recorded: dict[str, Any] = {"Item": to_attributes(item_at(schema.VERSION_KEY, version=version))}
    begun = {
        "Item": to_attributes(first_head(name)),
        "ConditionExpression": f"attribute_not_exists({PARTITION_KEY}) OR #position = :begin",
        "ExpressionAttributeNames": {"#position": "position"},
        "ExpressionAttributeValues": {":begin": {"N": "0"}},
    }
    puts = [recorded, begun] if version >= CHANGES_SINCE else [recorded]
    try:
        dynamodb.transact_write_items(
            TransactItems=[{"Put": {"TableName": name, **put}} for put in puts]
        )
    except dynamodb.exceptions.TransactionCanceledException as error:
        if cancellation_reasons(error)[-1]["Code"] != "ConditionalCheckFailed":
            raise
    return TableVersion.of(version)


def ensure_version(slug: str, version: int) -> TableVersion:
    """Return the version of a table; one that is still empty gets `version`. Safe to repeat.

    One with contents was recovered from a backup: its feed of changes ends. That of a table without
    contents begins again.
    """
    name = table_of(slug)
    own = [schema.VERSION_KEY, HEAD_KEY]
    first = client("dynamodb").scan(TableName=name, Limit=len(own) + 1, ConsistentRead=True)
    recorded = recorded_version(name) if first["Items"] else TableVersion.of(version)
    if all(key_of(from_attributes(item)) in own for item in first["Items"]):
        return write_version(slug, recorded.complete)
    client("dynamodb").delete_item(TableName=name, Key=key_attributes(HEAD_KEY))
    return recorded


def recorded_version(name: str) -> TableVersion:
    """Return the version that a table had at the moment of its contents."""
    found = client("dynamodb").get_item(
        TableName=name, Key=key_attributes(schema.VERSION_KEY), ConsistentRead=True
    )
    item = found.get("Item")
    return TableVersion.of(int(item["version"]["N"]) if item else schema.FIRST_VERSION)


def protect_stack_tables(progress: ReportProgress) -> None:
    """Enable deletion protection of the control table and the outbox. Safe to repeat.

    The template does not: DynamoDB refuses to delete a protected table, and a stack whose creation
    fails could then not be removed (D-227).

    Raises:
        ServiceUnavailable: DynamoDB was not ready in time.
    """
    for name in (config().control_table, config().outbox_table):
        if _is_protected(name):
            continue
        progress(f"protecting the table {name} from deletion")
        _wait_until(partial(_protect, name))


def _is_protected(name: str) -> bool:
    table = client("dynamodb").describe_table(TableName=name)["Table"]
    return bool(table.get("DeletionProtectionEnabled"))


def _protect(name: str) -> bool:
    """Protect a table; return False while another change of it is in progress."""
    dynamodb = client("dynamodb")
    with suppress(dynamodb.exceptions.ResourceInUseException):
        dynamodb.update_table(TableName=name, DeletionProtectionEnabled=True)
    return _is_protected(name)


def remove_tables(slug: str, progress: ReportProgress) -> None:
    """Delete the tables of a tenant with their data. Safe to repeat and to run concurrently.

    DynamoDB keeps a backup of each table for 35 days.

    Raises:
        ServiceUnavailable: DynamoDB was not ready in time.
    """
    names = tables_of(slug)
    for name in names:
        progress(f"deleting the table {name}")
        _wait_until(partial(_start_deletion, name))
    for name in names:
        progress(f"waiting until the table {name} is deleted")
        _wait_until(partial(_is_gone, name))


def _is_gone(name: str) -> bool:
    return describe_table(name) is None


def _start_deletion(name: str) -> bool:
    """Start the deletion of a table; return False while another change of it is in progress."""
    table = describe_table(name)
    if table is None or table["TableStatus"] == "DELETING":
        return True
    dynamodb = client("dynamodb")
    try:
        if table.get("DeletionProtectionEnabled"):
            dynamodb.update_table(TableName=name, DeletionProtectionEnabled=False)
            return False
        dynamodb.delete_table(TableName=name)
    except dynamodb.exceptions.ResourceNotFoundException:
        return True  # A concurrent run has deleted it.
    except dynamodb.exceptions.ResourceInUseException:
        return False
    return True


def describe_table(name: str) -> Mapping[str, Any] | None:
    """Return DynamoDB's description of a table; None if it does not exist."""
    dynamodb = client("dynamodb")
    try:
        table: Mapping[str, Any] = dynamodb.describe_table(TableName=name)["Table"]
    except dynamodb.exceptions.ResourceNotFoundException:
        return None
    return table


def _create(name: str, slug: str) -> bool:
    """Start the creation of a table; return False if there is one of that name."""
    dynamodb = client("dynamodb")
    try:
        dynamodb.create_table(
            TableName=name,
            **table_definition(),
            DeletionProtectionEnabled=True,
            Tags=_tags(slug),
        )
    except dynamodb.exceptions.ResourceInUseException:
        return False
    return True


def _tags(slug: str) -> list[dict[str, str]]:
    tags = {
        "service": "stowage",
        "stack": config().stack,
        _OWNER_TAG: config().stack_id,
        "tenant": slug,
    }
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def _is_active(name: str) -> bool:
    table = describe_table(name)
    if table is None:
        return False  # DynamoDB may not find a table directly after its creation.
    parts = [table, *table.get("GlobalSecondaryIndexes", ())]
    return all(part.get("TableStatus", part.get("IndexStatus")) == "ACTIVE" for part in parts)


def _enable_backups(name: str) -> bool:
    """Enable point-in-time recovery; return False while DynamoDB still prepares the table."""
    dynamodb = client("dynamodb")
    try:
        dynamodb.update_continuous_backups(
            TableName=name,
            PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
        )
    except dynamodb.exceptions.ContinuousBackupsUnavailableException:
        return False
    return True


def _enable_expiry(name: str) -> None:
    dynamodb = client("dynamodb")
    if _is_expiry_enabled(dynamodb, name):
        return
    try:
        dynamodb.update_time_to_live(
            TableName=name,
            TimeToLiveSpecification={"Enabled": True, "AttributeName": EXPIRY},
        )
    except dynamodb.exceptions.ClientError as error:
        # DynamoDB refuses to enable expiry twice; a concurrent run may have enabled it.
        if error.response["Error"]["Code"] != "ValidationException" or not _is_expiry_enabled(
            dynamodb, name
        ):
            raise


def _is_expiry_enabled(dynamodb: Any, name: str) -> bool:
    state = dynamodb.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    return state["TimeToLiveStatus"] in ("ENABLED", "ENABLING")


def _wait_until(condition: Callable[[], bool], seconds: float | None = None) -> None:
    deadline = time.monotonic() + (_TIMEOUT_SECONDS if seconds is None else seconds)
    while not condition():
        if time.monotonic() >= deadline:
            raise ServiceUnavailable(retry_after=30)
        time.sleep(_POLL_SECONDS)
