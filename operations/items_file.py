"""The file of an export with all items of a tenant as they are stored, for a move.

From it `operations.tenant_import` makes the tenant in another deployment. It has secrets, so it is
encrypted with a passphrase. Nothing may change during the export.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from operations.control_table import read_items_of_tenant
from operations.encrypted_lines import MIN_PASSPHRASE, EncryptedWriter
from operations.moved_items import is_moved, opened, opened_client, to_json
from operations.progress import ReportProgress
from operations.tenant_changes import tenant_item
from shared.identity.auth.clients import client_key
from shared.identity.tenancy.access import operator_store
from shared.integration.exports import actions as exports
from shared.integration.exports.repository import EXPORTS
from shared.integration.imports import context as imports
from shared.integration.imports.repository import IMPORTS
from shared.kernel.aws import client, read_pages
from shared.kernel.clock import now_ms
from shared.kernel.config import config
from shared.kernel.db.collection import Collection
from shared.kernel.db.items import to_attributes
from shared.kernel.db.lists.entity_pages import id_pages
from shared.kernel.db.outbox_item import CHANGES
from shared.kernel.db.table import PARTITION_KEY
from shared.kernel.errors import Conflict
from shared.kernel.events import outbox

ITEMS_FILE = "items.encrypted"
"""The items as they are stored, with opened secrets, encrypted with a passphrase. Before them are
the manifest, and size and SHA-256 of all other files, by which an import finds changed ones."""
AUTHENTICATED = ("tenant", "format", "schema_version", "state", "started_at", "counts")
"""Fields of the manifest that are in ITEMS_FILE, too."""
QUIET_STATES = ("suspended", "cancelled", "moved")
"""States in which the data of a tenant does not change."""
_REPORT_EVERY = 1_000


def ensure_movable(slug: str, passphrase: str) -> None:
    """Raise Conflict unless the data of the tenant is that of one moment."""
    item = tenant_item(slug)
    if len(passphrase) < MIN_PASSPHRASE:
        raise Conflict(
            f"The passphrase has {len(passphrase)} characters; it needs at least {MIN_PASSPHRASE}."
        )
    if item["state"]["S"] not in QUIET_STATES:
        raise Conflict(
            f"The tenant {slug} is {item['state']['S']}, so its data changes during the export. "
            f"Suspend it first (stowage tenant suspend {slug})."
        )
    if "upgrade" in item:
        raise Conflict(
            f"The upgrade of {slug} is not completed. Complete it first (stowage tenant upgrade "
            f"{slug})."
        )


_QUEUED: Sequence[tuple[Collection[Any], frozenset[str]]] = (
    (IMPORTS, imports.IN_PROGRESS),
    (EXPORTS, exports.IN_PROGRESS),
)
"""What the worker processes, and in which statuses."""


def ensure_no_queued_work(slug: str) -> None:
    """Raise Conflict for what the worker processes, also of a tenant that is not active.

    It changes the data during the export, and its messages cannot be moved. Nothing begins
    meanwhile.
    """
    store = operator_store(slug)
    for collection, statuses in _QUEUED:
        for numbers in chain.from_iterable(
            id_pages(store, collection, "status", status) for status in sorted(statuses)
        ):
            for record in collection.get_many(store, numbers):
                if record.entity.status in statuses:
                    name = collection.noun.lower()
                    raise Conflict(
                        f"The {name} {record.id} of {slug} is {record.entity.status}. Resume the "
                        f"tenant (stowage tenant resume {slug}), wait until the {name} has ended, "
                        "then suspend the tenant again."
                    )


def write_items(
    manifest: Mapping[str, Any],
    copies: Iterable[Mapping[str, Any]],
    path: Path,
    passphrase: str,
    progress: ReportProgress,
) -> None:
    """Write what authenticates all other files, then the tenant's item and all of its items.

    The first line has what the manifest says of the tenant, the next ones name all other files.
    `copies` are the lines of the list of copied files.
    """
    slug = manifest["tenant"]
    with EncryptedWriter(path, passphrase) as file:

        def write(where: str, item: Mapping[str, Any]) -> None:
            file.write(f'{{"where":"{where}","item":{to_json(dict(item))}}}')

        write("manifest", to_attributes({name: manifest[name] for name in AUTHENTICATED}))
        copied = {line["file"]: line for line in copies}
        for name, described in manifest["files"].items():
            copy = (
                {each: copied[name][each] for each in ("bucket", "key")} if name in copied else {}
            )
            write("file", to_attributes({"file": name, **described, **copy}))
        write("tenant", tenant_item(slug))
        for count, item in enumerate(_scan_items(slug), 1):
            write("table", opened(item, slug))
            if count % _REPORT_EVERY == 0:
                progress(f"{count} items of the table")
        for client_item in read_items_of_tenant(slug, client_key("")):
            write("client", opened_client(dict(client_item), slug))
        for event in outbox_entries(slug):
            write("event", event)


def _scan_items(slug: str) -> Iterator[dict[str, Any]]:
    store, moment = operator_store(slug), now_ms() // 1000
    found = read_pages(store.client, "scan", "Items", TableName=store.table, ConsistentRead=True)
    return (item for item in found if is_moved(item, moment))


def outbox_entries(slug: str) -> Iterator[dict[str, Any]]:
    """Yield the entries of a tenant in the outbox that have not expired, in DynamoDB's JSON.

    They lack the changes that transactions have noted, because the feed of changes is not moved;
    entries with nothing else are left out.
    """
    for partition in outbox.partitions(slug):
        found = read_pages(
            client("dynamodb"),
            "query",
            "Items",
            TableName=config().outbox_table,
            KeyConditionExpression=f"{PARTITION_KEY} = :partition",
            ExpressionAttributeValues={":partition": {"S": partition}},
            ConsistentRead=True,
        )
        for item in found:
            only_changes = CHANGES in item and not item.keys() & {"type", "events"}
            if is_moved(item, now_ms() // 1000) and not only_changes:
                yield {name: value for name, value in item.items() if name != CHANGES}
