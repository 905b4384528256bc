"""Creation of a tenant's table with backups, expiry and tags; and its removal."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from operations.progress import ReportProgress
from shared.kernel.aws import client
from shared.kernel.config import config
from shared.kernel.db.table import EXPIRY, table_definition
from shared.kernel.errors import ServiceUnavailable

_TIMEOUT_SECONDS = 300.0
"""Seconds to wait for DynamoDB; a table is usually ready within 30."""

_POLL_SECONDS = 1.0


def ensure_table(slug: str, progress: ReportProgress) -> None:
    """Create a tenant's table, or complete its creation. Safe to repeat and to run concurrently.

    Raises:
        ServiceUnavailable: DynamoDB was not ready in time.
    """
    name = config().tenant_table(slug)
    progress(f"creating the table {name}")
    _create(name, slug)
    progress("waiting until the table is ready")
    _wait_until(lambda: _is_active(name))
    progress("enabling backups and expiry")
    _wait_until(lambda: _enable_backups(name))
    _enable_expiry(name)


def remove_table(slug: str, progress: ReportProgress) -> None:
    """Delete a tenant's table with its data. Safe to repeat and to run concurrently.

    DynamoDB keeps a backup of the table for 35 days.

    Raises:
        ServiceUnavailable: DynamoDB was not ready in time.
    """
    name = config().tenant_table(slug)
    progress(f"deleting the table {name}")
    _wait_until(lambda: _start_deletion(name))
    progress("waiting until the table is deleted")
    _wait_until(lambda: describe_table(name) is None)


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
        return  # An earlier or a concurrent run has created it.


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


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    while not condition():
        if time.monotonic() >= deadline:
            raise ServiceUnavailable(retry_after=30)
        time.sleep(_POLL_SECONDS)
