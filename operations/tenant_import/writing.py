"""Writing what an export has, with credentials that reach only what belongs to its tenant."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import batched
from typing import Any

from operations.moved_items import sealed, sealed_client
from operations.progress import ReportProgress
from operations.retries import run_batch
from operations.tenant_import.reading import TenantExport
from shared.identity.tenancy.access import TenantAccess
from shared.identity.tenancy.directory import host_key, revoked_partition
from shared.kernel.aws import client
from shared.kernel.config import config
from shared.kernel.db.items import AttributeMap
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.table import EXPIRY, PARTITION_KEY
from shared.kernel.errors import Conflict

_WRITES_PER_BATCH = 25
_BATCHES = 8
"""Batches that are written at the same time."""


class NarrowedClients:
    """AWS clients for the writes of one import.

    Their role may write what an import writes. Their session policy leaves of it the tenant's
    table, its item and clients in the control table, its partitions of the outbox, its files, and
    the reservation of its own host name.
    """

    def __init__(self, slug: str, host: str | None) -> None:
        if not config().tenant_import_role:
            raise Conflict(
                "This deployment has no role for imports (output TenantImportRoleArn). Deploy this "
                "release first."
            )
        keys = [host_key(host)] if host else []
        self._slug, self._table = slug, config().tenant_table(slug)
        self._access = TenantAccess(
            role=lambda: config().tenant_import_role,
            control_keys=keys,
            access=lambda: "everything",
        )

    def dynamodb(self) -> Any:
        """Return the client of DynamoDB, with credentials that last for minutes at least."""
        return self._access.client("dynamodb", self._slug, self._table)

    def repairing(self) -> Any:
        """Return a client that reads as the operator, and otherwise has these credentials."""
        return _RepairingClient(self.dynamodb)

    def s3(self) -> Any:
        """Return the client of S3."""
        return self._access.client("s3", self._slug, self._table)


class _RepairingClient:
    def __init__(self, narrowed: Callable[[], Any]) -> None:
        self._narrowed = narrowed

    def __getattr__(self, name: str) -> Any:
        is_read = name in {"batch_get_item", "get_item", "query", "scan"}
        return getattr(client("dynamodb") if is_read else self._narrowed(), name)


def write(export: TenantExport, clients: NarrowedClients, progress: ReportProgress) -> None:
    """Put items, clients, relayed events and files, as often as it takes."""
    slug, dynamodb = export.slug, clients.dynamodb
    items = (sealed(item, slug) for item in export.items("table"))
    _put_all(partial(_put_batch, dynamodb, config().tenant_table(slug)), items, progress, "items")
    for item in export.items("client"):
        _put_client(dynamodb(), sealed_client(item, slug), slug)
    put_events = partial(_put_batch, dynamodb, config().outbox_table)
    _put_all(put_events, relayed_events(export), progress, "events")
    for count, (key, path, _) in enumerate(export.files(), 1):
        with path.open("rb") as body:
            clients.s3().put_object(
                Bucket=config().import_work_bucket, Key=f"{slug}/{key}", Body=body
            )
        progress(f"{count} files written")


def relayed_events(export: TenantExport) -> Iterator[AttributeMap]:
    """Yield the events that the source has relayed."""
    return (item for item in export.items("event") if EXPIRY in item)


def _put_all(
    put_batch: Callable[[list[AttributeMap]], None],
    items: Iterable[AttributeMap],
    progress: ReportProgress,
    noun: str,
) -> None:
    written = 0
    for group in batched(items, _WRITES_PER_BATCH * _BATCHES, strict=False):
        batches = [list(batch) for batch in batched(group, _WRITES_PER_BATCH, strict=False)]
        map_concurrently(put_batch, batches)
        written += len(group)
        progress(f"{written} {noun} written")


def _put_batch(dynamodb: Callable[[], Any], table: str, items: list[AttributeMap]) -> None:
    puts = [{"PutRequest": {"Item": item}} for item in items]
    run_batch(dynamodb().batch_write_item, {table: puts})


def _put_client(dynamodb: Any, item: AttributeMap, slug: str) -> None:
    try:
        dynamodb.put_item(
            TableName=config().control_table,
            Item=item,
            ConditionExpression="attribute_not_exists(pk) OR tenant IN (:own, :revoked)",
            ExpressionAttributeValues={
                ":own": {"S": slug},
                ":revoked": {"S": revoked_partition(slug)},
            },
        )
    except dynamodb.exceptions.ConditionalCheckFailedException:
        raise Conflict(f"{item['pk']['S']} belongs to another tenant here.") from None


def write_unrelayed_events(export: TenantExport, clients: NarrowedClients) -> None:
    """Put the events that were not relayed, unless an earlier run has: the relay marks them."""
    for item in export.items("event"):
        if EXPIRY in item:
            continue
        dynamodb = clients.dynamodb()
        try:
            dynamodb.put_item(
                TableName=config().outbox_table,
                Item=item,
                ConditionExpression=f"attribute_not_exists({PARTITION_KEY})",
            )
        except dynamodb.exceptions.ConditionalCheckFailedException:
            continue
