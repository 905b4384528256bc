"""Deleting a tenant for good, in steps that can each be repeated.

First it is marked, and from then on it is there for nobody; then everything that still runs
for it gets the time to end; then its things go, and a gravestone stays under its name. Until
the gravestone stands, the mark leads every further run to what is left.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import batched
from typing import Any

from operations.domains import list_domains, release_domain
from operations.tenant_tables import describe_table, remove_table
from shared.identity.tenancy.directory import FRESH, host_key, read, read_all_of, tenant_key
from shared.kernel.aws import client
from shared.kernel.clock import instant, now_ms
from shared.kernel.config import config
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from shared.kernel.errors import Conflict, NotFound

_LONGEST_INVOCATION_SECONDS = 120
"""Seconds, of the import worker; doors end after 29."""

DRAIN_SECONDS = FRESH + _LONGEST_INVOCATION_SECONDS + 20
"""Seconds after the mark from which nothing writes for the tenant any more: those that knew it a
moment before have ended, whatever their clocks say."""

_DELETABLE_STATES = ("cancelled", "moved", "deleting")
_WRITES_PER_BATCH = 25
_OBJECTS_PER_BATCH = 1_000

type Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class DeletionPreview:
    """What a deletion takes away."""

    slug: str
    state: str
    table: str
    items: int
    """Items of the table, as DynamoDB last counted them, some hours ago."""
    clients: int
    hosts: tuple[str, ...]


def preview_deletion(slug: str) -> DeletionPreview:
    """Tell what a deletion would take away.

    Raises:
        NotFound: There never was such a tenant.
        Conflict: It is neither cancelled nor moved.
    """
    item = read(tenant_key(slug))
    _ensure_deletable(slug, item)
    others = list(read_all_of(slug))
    hosts = [each["pk"]["S"].removeprefix(host_key("")) for each in others if _is_host(each)]
    table = config().tenant_table(slug)
    return DeletionPreview(
        slug=slug,
        state=str(item["state"]["S"]) if item else "",
        table=table,
        items=_count_items(table),
        clients=len(others) - len(hosts),
        hosts=tuple(sorted(hosts)),
    )


def delete_tenant(slug: str, *, progress: Progress = lambda _: None) -> None:
    """Delete a tenant, or go on with its deletion. Safe to repeat and to run twice at once.

    Once more on a deleted one, it removes files that have arrived since.

    Args:
        slug: The tenant; it must be cancelled or moved.
        progress: Is told each step, in a few words.

    Raises:
        NotFound: There never was such a tenant.
        Conflict: It is neither cancelled nor moved.
        ServiceUnavailable: Its table did not go in time; run it again.
    """
    since = _mark_as_deleting(slug)
    if since is not None:
        _wait_for_running_invocations(slug, since, progress)
        progress("removing its clients and hosts")
        for domain in list_domains(slug):
            release_domain(domain, progress)
        _remove_clients(slug)
        # before its events: whoever writes one also writes to the table
        remove_table(slug, progress)
        _remove_events(slug, progress)
    _remove_files(slug, progress)
    if since is not None:
        _write_tombstone(slug)
    progress("deleted")


def _mark_as_deleting(slug: str) -> int | None:
    """Have the tenant be there for nobody; return since when, None when it is deleted already."""
    dynamodb = client("dynamodb")
    try:
        answer = dynamodb.update_item(
            TableName=config().control_table,
            Key={"pk": {"S": tenant_key(slug)}},
            UpdateExpression=(
                "SET #state = :deleting, deleting_since = if_not_exists(deleting_since, :now)"
            ),
            ConditionExpression="#state IN (:cancelled, :moved, :deleting)",
            ExpressionAttributeNames={"#state": "state"},
            ExpressionAttributeValues={
                ":now": {"N": str(now_ms())},
                **{f":{state}": {"S": state} for state in _DELETABLE_STATES},
            },
            ReturnValues="ALL_NEW",
        )
    except dynamodb.exceptions.ConditionalCheckFailedException:
        _ensure_deletable(slug, read(tenant_key(slug)))
        return None
    return int(answer["Attributes"]["deleting_since"]["N"])


def _ensure_deletable(slug: str, item: Mapping[str, Any] | None) -> None:
    if item is None:
        raise NotFound(f"The tenant {slug}")
    match item["state"]["S"]:
        case "creating":
            raise Conflict(
                f"The creation of {slug} was not finished; finish it (stowage tenant create "
                f"{slug} …), then cancel it."
            )
        case "active" | "suspended" as state:
            raise Conflict(
                f"The tenant {slug} is {state}. Export what the company needs (stowage tenant "
                f"export {slug} --to …), then cancel it first (stowage tenant cancel {slug})."
            )


def _wait_for_running_invocations(slug: str, marked_at_ms: int, progress: Progress) -> None:
    """Wait until nothing runs any more that knew the tenant before it was marked."""
    while (left := DRAIN_SECONDS - (now_ms() - marked_at_ms) / 1000) > 0:
        progress(f"waiting until nothing runs for {slug} any more: {left:.0f} s")
        time.sleep(min(left, 5))


def _remove_clients(slug: str) -> None:
    dynamodb = client("dynamodb")
    for item in read_all_of(slug):
        if not _is_host(item):
            dynamodb.delete_item(TableName=config().control_table, Key={"pk": item["pk"]})


def _is_host(item: Mapping[str, Any]) -> bool:
    return str(item["pk"]["S"]).startswith(host_key(""))


def _remove_events(slug: str, progress: Progress) -> None:
    """Empty the tenant's partition of the outbox."""
    table = config().outbox_table
    pages = (
        client("dynamodb")
        .get_paginator("query")
        .paginate(
            TableName=table,
            KeyConditionExpression=f"{PARTITION_KEY} = :tenant",
            ExpressionAttributeValues={":tenant": {"S": slug}},
            ProjectionExpression=f"{PARTITION_KEY}, {SORT_KEY}",
        )
    )
    removed = 0
    for page in pages:
        for keys in batched(page["Items"], _WRITES_PER_BATCH, strict=False):
            _delete_batch(table, [dict(key) for key in keys])
            removed += len(keys)
        progress(f"removing its events: {removed}")


def _delete_batch(table: str, keys: list[dict[str, Any]]) -> None:
    wanted: dict[str, Any] = {table: [{"DeleteRequest": {"Key": key}} for key in keys]}
    while wanted:
        answer = client("dynamodb").batch_write_item(RequestItems=wanted)
        wanted = answer.get("UnprocessedItems") or {}
        if wanted:
            time.sleep(1)


def _remove_files(slug: str, progress: Progress) -> None:
    """Remove what is under the tenant's prefix of both buckets."""
    removed = 0
    for bucket in (config().import_bucket, config().import_work_bucket):
        for names in _list_object_keys(bucket, slug):
            refused = client("s3").delete_objects(
                Bucket=bucket, Delete={"Objects": [{"Key": name} for name in names], "Quiet": True}
            )
            if errors := refused.get("Errors"):
                raise Conflict(f"S3 keeps {errors[0]['Key']} of {bucket}: {errors[0]['Message']}")
            removed += len(names)
            progress(f"removing its files: {removed}")


def _list_object_keys(bucket: str, slug: str) -> Iterator[list[str]]:
    pages = (
        client("s3")
        .get_paginator("list_objects_v2")
        .paginate(Bucket=bucket, Prefix=f"{slug}/", PaginationConfig={"PageSize": _OBJECTS_PER_BATCH})
    )
    for page in pages:
        if names := [each["Key"] for each in page.get("Contents", ())]:
            yield names


def _write_tombstone(slug: str) -> None:
    """Leave the name, so that nobody gets it again, and nothing else."""
    dynamodb = client("dynamodb")
    try:
        dynamodb.put_item(
            TableName=config().control_table,
            Item={
                "pk": {"S": tenant_key(slug)},
                "state": {"S": "deleted"},
                "deleted_at": {"S": instant(now_ms())},
            },
            ConditionExpression="#state = :deleting",
            ExpressionAttributeNames={"#state": "state"},
            ExpressionAttributeValues={":deleting": {"S": "deleting"}},
        )
    except dynamodb.exceptions.ConditionalCheckFailedException:
        return  # another run was faster


def _count_items(table: str) -> int:
    described = describe_table(table)
    return int(described["ItemCount"]) if described else 0
