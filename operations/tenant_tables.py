"""A tenant's table: created, backed up point in time, expiring, tagged; and removed."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from shared.kernel.aws import client
from shared.kernel.config import config
from shared.kernel.db.table import EXPIRY, table_definition
from shared.kernel.errors import ServiceUnavailable

_TIMEOUT_SECONDS = 300.0
"""Seconds to wait for DynamoDB; a table of ours is usually ready within 30."""

_POLL_SECONDS = 1.0


def ensure_table(slug: str, progress: Callable[[str], None]) -> None:
    """Create whatever is missing of a tenant's table. Safe to repeat and to run twice at once.

    Raises:
        ServiceUnavailable: DynamoDB was not ready in time.
    """
    name = config().tenant_table(slug)
    progress(f"creating the table {name}")
    _create(name, slug)
    progress("waiting until the table is ready")
    _wait_until(lambda: _is_active(name))
    progress("switching on backups and expiry")
    _wait_until(lambda: _enable_backups(name))
    _enable_expiry(name)


def remove_table(slug: str, progress: Callable[[str], None]) -> None:
    """Remove a tenant's table with all that is in it. Safe to repeat and to run twice at once.

    DynamoDB keeps a backup of it for 35 days.

    Raises:
        ServiceUnavailable: DynamoDB was not ready in time.
    """
    name = config().tenant_table(slug)
    progress(f"deleting the table {name}")
    _wait_until(lambda: _start_deletion(name))
    progress("waiting until the table is gone")
    _wait_until(lambda: describe_table(name) is None)


def _start_deletion(name: str) -> bool:
    """Have DynamoDB delete a table; False while it is busy with another change of it."""
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
        return True  # another run was faster
    except dynamodb.exceptions.ResourceInUseException:
        return False
    return True


def describe_table(name: str) -> Mapping[str, Any] | None:
    """Ask DynamoDB about a table; None when there is none."""
    dynamodb = client("dynamodb")
    try:
        table: Mapping[str, Any] = dynamodb.describe_table(TableName=name)["Table"]
    except dynamodb.exceptions.ResourceNotFoundException:
        return None
    return table


def _create(name: str, slug: str) -> None:
    dynamodb = client("dynamodb")
    tags = {"service": "stowage", "stack": config().stack, "tenant": slug}
    try:
        dynamodb.create_table(
            TableName=name,
            **table_definition(),
            DeletionProtectionEnabled=True,
            Tags=[{"Key": key, "Value": value} for key, value in tags.items()],
        )
    except dynamodb.exceptions.ResourceInUseException:
        return  # an earlier run, or another one at this moment, has created it


def _is_active(name: str) -> bool:
    table = describe_table(name)
    if table is None:
        return False  # a table may be invisible for a moment after its creation
    parts = [table, *table.get("GlobalSecondaryIndexes", ())]
    return all(part.get("TableStatus", part.get("IndexStatus")) == "ACTIVE" for part in parts)


def _enable_backups(name: str) -> bool:
    """Switch point-in-time recovery on; False while DynamoDB still prepares the table for it."""
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
        # DynamoDB refuses to switch on what another run has just switched on
        if error.response["Error"]["Code"] != "ValidationException" or not _is_expiry_enabled(dynamodb, name):
            raise


def _is_expiry_enabled(dynamodb: Any, name: str) -> bool:
    state = dynamodb.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    return state["TimeToLiveStatus"] in ("ENABLED", "ENABLING")


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    while not condition():
        if time.monotonic() >= deadline:
            raise ServiceUnavailable(retry_after=30)
        time.sleep(_POLL_SECONDS)
