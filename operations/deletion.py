"""Permanent deletion of a tenant, in steps that can each be repeated.

1. The tenant gets the state `deleting`; requests for it are refused from then on.
2. The deletion waits until every invocation that started before has ended.
3. Hosts, clients, tables, events and files are removed.
4. A tombstone replaces the tenant's item, so that the name is never assigned again. An import that
   was given up leaves none: nobody has used the tenant, and its name is free for another import.

A deletion that was interrupted is continued by running it again: the state `deleting` stays until
the end.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import batched
from typing import Any

from operations.control_table import list_objects, read_items_of_tenant
from operations.domains import list_domains, release_domain
from operations.draining import wait_for_running_invocations
from operations.progress import ReportProgress, no_progress
from operations.retries import run_batch
from operations.tenant_changes import IMPORT_PENDING
from operations.tenant_tables import describe_table, find_own, remove_tables, tables_of
from shared.identity.tenancy.directory import host_key, read_item, tenant_key
from shared.kernel.aws import client, read_pages
from shared.kernel.clock import instant, now_ms
from shared.kernel.config import config
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from shared.kernel.errors import Conflict, NotFound
from shared.kernel.events import outbox

_DELETABLE_STATES = ("cancelled", "moved", "deleting")
_DELETED_FROM = "deleted_from"
"""Attribute of the tenant's item: the state before `deleting`."""
_WRITES_PER_BATCH = 25
_OBJECTS_PER_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class DeletionPreview:
    """The data that a deletion would remove."""

    slug: str
    state: str
    tables: tuple[str, ...]
    """Its table, and those that restores have kept."""
    items: int
    """Number of items in the tables as DynamoDB reports it; updated about every six hours."""
    clients: int
    hosts: tuple[str, ...]


def preview_deletion(slug: str) -> DeletionPreview:
    """Return what a deletion of the tenant would remove.

    Raises:
        NotFound: There has never been a tenant of this name.
        Conflict: The tenant is neither cancelled nor moved, nor was its import not completed.
    """
    item = read_item(tenant_key(slug))
    _ensure_deletable(slug, item)
    others = list(read_items_of_tenant(slug))
    hosts = [each["pk"]["S"].removeprefix(host_key("")) for each in others if _is_host(each)]
    tables = tables_of(slug)
    return DeletionPreview(
        slug=slug,
        state=str(item["state"]["S"]) if item else "",
        tables=tuple(tables),
        items=sum(map(_count_items, tables)),
        clients=len(others) - len(hosts),
        hosts=tuple(sorted(hosts)),
    )


def delete_tenant(slug: str, *, progress: ReportProgress = no_progress) -> None:
    """Delete a tenant, or continue its deletion. Safe to repeat and to run concurrently.

    For a tenant that is already deleted, remove the files that have arrived since.

    Args:
        slug: The tenant; it must be cancelled or moved, or its import not completed.
        progress: Receives a description of each step.

    Raises:
        NotFound: There has never been a tenant of this name.
        Conflict: The tenant has another state, or another deployment created its table.
        ServiceUnavailable: DynamoDB did not delete the table in time; run it again.
    """
    item = read_item(tenant_key(slug))
    _ensure_deletable(slug, item)
    if item and item["state"]["S"] != "deleted":
        for table in tables_of(slug):
            find_own(table, is_completed=item["state"]["S"] != "creating")
    marked = _mark_as_deleting(slug)
    if marked is not None:
        since = int(marked["deleting_since"]["N"])
        wait_for_running_invocations(slug, since, progress)
        progress("removing its clients and hosts")
        for domain in list_domains(slug):
            release_domain(domain, progress)
        _remove_clients(slug)
        # Before the events: each event is written in one transaction with an item of the table.
        remove_tables(slug, progress)
        _remove_events(slug, progress)
    _remove_files(slug, progress)
    if marked is not None:
        _remove_tenant_item(slug, is_name_free=marked[_DELETED_FROM]["S"] == "creating")
    progress("deleted")


def _mark_as_deleting(slug: str) -> Mapping[str, Any] | None:
    """Set the state `deleting`, and since when; return the item, or None if already deleted."""
    dynamodb = client("dynamodb")
    try:
        answer = dynamodb.update_item(
            TableName=config().control_table,
            Key={"pk": {"S": tenant_key(slug)}},
            UpdateExpression=(
                "SET deleting_since = if_not_exists(deleting_since, :now), "
                "#from = if_not_exists(#from, #state), #state = :deleting"
            ),
            ConditionExpression=(
                "#state IN (:cancelled, :moved, :deleting) OR "
                "(#state = :creating AND attribute_exists(#import))"
            ),
            ExpressionAttributeNames={
                "#state": "state", "#from": _DELETED_FROM, "#import": IMPORT_PENDING,
            },
            ExpressionAttributeValues={
                ":now": {"N": str(now_ms())},
                **{f":{state}": {"S": state} for state in (*_DELETABLE_STATES, "creating")},
            },
            ReturnValues="ALL_NEW",
        )  # fmt: skip
    except dynamodb.exceptions.ConditionalCheckFailedException:
        _ensure_deletable(slug, read_item(tenant_key(slug)))
        return None
    marked: Mapping[str, Any] = answer["Attributes"]
    return marked


def _ensure_deletable(slug: str, item: Mapping[str, Any] | None) -> None:
    if item is None:
        raise NotFound(f"The tenant {slug}")
    match item["state"]["S"]:
        case "creating" if IMPORT_PENDING not in item:
            raise Conflict(
                f"The creation of the tenant {slug} was not completed. Complete it (stowage tenant "
                f"create {slug} …), then cancel the tenant (stowage tenant cancel {slug})."
            )
        case "active" | "suspended" as state:
            raise Conflict(
                f"The tenant {slug} is {state}; only a cancelled or moved tenant can be deleted. "
                f"Export its data (stowage tenant export {slug} --to …), then cancel it (stowage "
                f"tenant cancel {slug})."
            )


def _remove_clients(slug: str) -> None:
    dynamodb = client("dynamodb")
    for item in read_items_of_tenant(slug):
        if not _is_host(item):
            dynamodb.delete_item(TableName=config().control_table, Key={"pk": item["pk"]})


def _is_host(item: Mapping[str, Any]) -> bool:
    return str(item["pk"]["S"]).startswith(host_key(""))


def _remove_events(slug: str, progress: ReportProgress) -> None:
    """Remove the tenant's partitions of the outbox."""
    table = config().outbox_table
    keys = (
        dict(key)
        for partition in outbox.partitions(slug)
        for key in read_pages(
            client("dynamodb"),
            "query",
            "Items",
            TableName=table,
            KeyConditionExpression=f"{PARTITION_KEY} = :partition",
            ExpressionAttributeValues={":partition": {"S": partition}},
            ProjectionExpression=f"{PARTITION_KEY}, {SORT_KEY}",
        )
    )
    removed = 0
    for batch in batched(keys, _WRITES_PER_BATCH, strict=False):
        deletions = [{"DeleteRequest": {"Key": key}} for key in batch]
        run_batch(client("dynamodb").batch_write_item, {table: deletions})
        removed += len(batch)
        progress(f"removing its events: {removed}")


def _remove_files(slug: str, progress: ReportProgress) -> None:
    """Remove all objects under the tenant's prefix in both buckets."""
    removed = 0
    for bucket in (config().import_bucket, config().import_work_bucket):
        for objects in batched(list_objects(slug, bucket), _OBJECTS_PER_BATCH, strict=False):
            keys = [{"Key": each["Key"]} for each in objects]
            refused = client("s3").delete_objects(
                Bucket=bucket, Delete={"Objects": keys, "Quiet": True}
            )
            if errors := refused.get("Errors"):
                raise Conflict(
                    f"S3 did not delete {errors[0]['Key']} in {bucket}: {errors[0]['Message']}"
                )
            removed += len(keys)
            progress(f"removing its files: {removed}")


def _remove_tenant_item(slug: str, *, is_name_free: bool) -> None:
    """Remove the tenant's item, or replace it by its tombstone, which reserves the name."""
    dynamodb = client("dynamodb")
    key = {"pk": {"S": tenant_key(slug)}}
    condition = {
        "TableName": config().control_table,
        "ConditionExpression": "#state = :deleting",
        "ExpressionAttributeNames": {"#state": "state"},
        "ExpressionAttributeValues": {":deleting": {"S": "deleting"}},
    }
    try:
        if is_name_free:
            dynamodb.delete_item(Key=key, **condition)
        else:
            tombstone = {"state": {"S": "deleted"}, "deleted_at": {"S": instant(now_ms())}}
            dynamodb.put_item(Item=key | tombstone, **condition)
    except dynamodb.exceptions.ConditionalCheckFailedException:
        return  # A concurrent run has done it.


def _count_items(table: str) -> int:
    described = describe_table(table)
    return int(described["ItemCount"]) if described else 0
