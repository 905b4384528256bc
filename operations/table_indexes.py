"""Adding and removing indexes of a tenant's table, one at a time, as DynamoDB allows."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from operations.progress import ReportProgress
from operations.tenant_tables import table_of
from shared.kernel.aws import client
from shared.kernel.db.table import table_definition
from shared.kernel.errors import Conflict

_POLL_SECONDS = 5.0
"""A table is ready again some minutes after an index was added, or hours if the index has many
entries at once. New indexes have none: their entries are written later."""

type _Change = Mapping[str, Any]
"""Arguments of UpdateTable other than the name."""


def missing_indexes(slug: str) -> list[str]:
    """Return the indexes that this release needs and the tenant's table lacks.

    Raises:
        Conflict: An index has another key or projection than this release needs.
    """
    present = _present(_describe(slug))
    _ensure_equal(slug, present)
    return [name for name in _wanted() if name not in present]


def unused_indexes(slug: str) -> list[str]:
    """Return the indexes of the tenant's table that this release does not use."""
    return [name for name in _present(_describe(slug)) if name not in _wanted()]


def add_missing_indexes(slug: str, progress: ReportProgress) -> list[str]:
    """Add the indexes that the tenant's table lacks, and wait for them. Safe to repeat.

    Raises:
        Conflict: An index has another key or projection than this release needs.
    """
    missing = missing_indexes(slug)
    _change_until_done(slug, lambda: missing_indexes(slug), _creation, progress, "adding")
    return missing


def remove_unused_indexes(slug: str, progress: ReportProgress) -> list[str]:
    """Remove the indexes that this release does not use, and wait for it. Safe to repeat."""
    unused = unused_indexes(slug)
    _change_until_done(slug, lambda: unused_indexes(slug), _removal, progress, "removing")
    return unused


def _change_until_done(
    slug: str,
    left: Callable[[], list[str]],
    change: Callable[[Mapping[str, Any], str], _Change],
    progress: ReportProgress,
    verb: str,
) -> None:
    """Change one index after the other until none is left and the table is ready."""
    dynamodb = client("dynamodb")
    while True:
        table, names = _describe(slug), left()
        if _is_ready(table):
            if not names:
                return
            # Another run, or a change of another kind, may have been faster.
            with suppress(
                dynamodb.exceptions.ResourceInUseException,
                dynamodb.exceptions.LimitExceededException,
            ):
                dynamodb.update_table(TableName=table["TableName"], **change(table, names[0]))
        progress(f"{slug}: {verb} indexes, {len(names)} left")
        time.sleep(_POLL_SECONDS)


def _describe(slug: str) -> Mapping[str, Any]:
    table: Mapping[str, Any] = client("dynamodb").describe_table(TableName=table_of(slug))["Table"]
    return table


def _present(table: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {index["IndexName"]: index for index in table.get("GlobalSecondaryIndexes", ())}


def _wanted() -> dict[str, Mapping[str, Any]]:
    return {index["IndexName"]: index for index in table_definition()["GlobalSecondaryIndexes"]}


def _is_ready(table: Mapping[str, Any]) -> bool:
    indexes = _present(table).values()
    return table["TableStatus"] == "ACTIVE" and all(
        index["IndexStatus"] == "ACTIVE" for index in indexes
    )


def _ensure_equal(slug: str, present: Mapping[str, Mapping[str, Any]]) -> None:
    for name, wanted in _wanted().items():
        if name in present and _shape(present[name]) != _shape(wanted):
            raise Conflict(
                f"The index {name} of the table of {slug} has another key or projection than this "
                "release needs. An index never changes: a release that needs another one gives it "
                "a number of its own. Use the release that created the table."
            )


def _shape(index: Mapping[str, Any]) -> tuple[Any, ...]:
    projection = index["Projection"]
    keys = [(key["AttributeName"], key["KeyType"]) for key in index["KeySchema"]]
    return keys, projection["ProjectionType"], sorted(projection.get("NonKeyAttributes", ()))


def _creation(table: Mapping[str, Any], name: str) -> _Change:
    index = _wanted()[name]
    # DynamoDB refuses attributes that no key uses, such as those of the next index.
    keys = {key["AttributeName"] for key in index["KeySchema"]}
    new = [
        each for each in table_definition()["AttributeDefinitions"] if each["AttributeName"] in keys
    ]
    others = [each for each in table["AttributeDefinitions"] if each["AttributeName"] not in keys]
    return {
        "AttributeDefinitions": [*others, *new],
        "GlobalSecondaryIndexUpdates": [{"Create": index}],
    }


def _removal(_table: Mapping[str, Any], name: str) -> _Change:
    return {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": name}}]}
