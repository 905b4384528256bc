"""Reading of everything that was written, and comparison with the export, item by item."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import batched
from typing import NamedTuple

from operations.items_file import outbox_entries
from operations.moved_items import Digest, is_moved, opened, opened_client, to_json
from operations.progress import ReportProgress
from operations.retries import run_batch
from operations.tenant_import.reading import TenantExport
from operations.tenant_import.writing import relayed_events
from shared.kernel.aws import client, read_pages
from shared.kernel.clock import now_ms
from shared.kernel.config import config
from shared.kernel.db.items import AttributeMap
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.table import EXPIRY, PARTITION_KEY, SORT_KEY
from shared.kernel.errors import Conflict

_READS_PER_BATCH = 50
_BATCHES = 8
"""Batches that are read at the same time."""


class Compared(NamedTuple):
    """Numbers and digests of what was compared; both ends have the same."""

    what: str
    exported: int
    imported: int
    digest: str


class _Stored(NamedTuple):
    """Where the items of one kind are, how they are opened, and how many there are."""

    what: str
    table: str
    opened: Callable[[AttributeMap], AttributeMap]
    number: Callable[[], int] | None = None


def compare(export: TenantExport, progress: ReportProgress) -> Iterator[Compared]:
    """Compare everything that was written with the export.

    Raises:
        Conflict: Something differs; the first difference is named.
    """
    slug, control, events = export.slug, config().control_table, config().outbox_table
    table = config().tenant_table(slug)
    in_table = _Stored(
        "items", table, partial(opened, slug=slug), lambda: _count_moved(_scan_keys(table))
    )
    clients = _Stored("clients", control, partial(opened_client, slug=slug))
    relayed = _Stored("relayed events", events, dict, lambda: _count_moved(outbox_entries(slug)))
    yield _compare_items(in_table, export.items("table"), progress)
    yield _compare_items(clients, export.items("client"), progress)
    yield _compare_items(relayed, relayed_events(export), progress)
    yield _compare_files(export, progress)


def _compare_items(
    stored: _Stored, exported: Iterable[AttributeMap], progress: ReportProgress
) -> Compared:
    wanted, found, what = Digest(), Digest(), stored.what
    for group in batched(exported, _READS_PER_BATCH * _BATCHES, strict=False):
        batches = [list(batch) for batch in batched(group, _READS_PER_BATCH, strict=False)]
        items: dict[tuple[str, ...], AttributeMap] = {}
        for batch in map_concurrently(partial(_read_batch, stored.table), batches):
            items |= batch
        for item in group:
            text, key = to_json(item), _key(item)
            wanted.add(text)
            if key not in items:
                raise _different(what, f"{' '.join(key)} is missing")
            stored_text = to_json(stored.opened(items[key]))
            if stored_text != text:
                raise _different(what, f"{' '.join(key)} differs")
            found.add(stored_text)
        progress(f"{wanted.items} {what} compared")
    number = stored.number() if stored.number else found.items
    if number != wanted.items:
        raise _different(what, f"the export has {wanted.items}, this deployment {number}")
    return Compared(what, wanted.items, number, str(found))


def _key(item: AttributeMap) -> tuple[str, ...]:
    return tuple(item[name]["S"] for name in (PARTITION_KEY, SORT_KEY, "pk") if name in item)


def _read_batch(table: str, items: list[AttributeMap]) -> dict[tuple[str, ...], AttributeMap]:
    names = ("pk",) if "pk" in items[0] else (PARTITION_KEY, SORT_KEY)
    keys = [{name: item[name] for name in names} for item in items]
    wanted = {table: {"Keys": keys, "ConsistentRead": True}}
    answers = run_batch(client("dynamodb").batch_get_item, wanted)
    return {_key(item): item for answer in answers for item in answer["Responses"].get(table, ())}


def _count_moved(items: Iterable[AttributeMap]) -> int:
    moment = now_ms() // 1000
    return sum(is_moved(item, moment) for item in items)


def _scan_keys(table: str) -> Iterator[AttributeMap]:
    return read_pages(
        client("dynamodb"),
        "scan",
        "Items",
        TableName=table,
        ConsistentRead=True,
        ProjectionExpression="#pk, #expiry",
        ExpressionAttributeNames={"#pk": PARTITION_KEY, "#expiry": EXPIRY},
    )


def _compare_files(export: TenantExport, progress: ReportProgress) -> Compared:
    wanted, found = Digest(), Digest()
    for key, _, digest in export.files():
        body = client("s3").get_object(
            Bucket=config().import_work_bucket, Key=f"{export.slug}/{key}"
        )["Body"]
        stored = hashlib.sha256()
        for chunk in body.iter_chunks(1 << 20):
            stored.update(chunk)
        if stored.hexdigest() != digest:
            raise _different("files", f"{key} differs")
        wanted.add(f"{key} {digest}")
        found.add(f"{key} {stored.hexdigest()}")
        progress(f"{wanted.items} files compared")
    return Compared("files", wanted.items, found.items, str(found))


def _different(what: str, difference: str) -> Conflict:
    return Conflict(
        f"The {what} that were written are not those of the export: {difference}. The tenant stays "
        "closed. Run the command again; if it says the same, something else writes to this tenant."
    )
