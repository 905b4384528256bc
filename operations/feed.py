"""The start of a feed of changes in a table with contents, and the check of its sums.

Both work while requests run. A pass over the table reads which version of each resource exists.
Then everything that was committed until now is appended, and the entries since the pass began say
which version each changed resource had before them. So the sums are those of one position.
"""

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from operations.api_clients import list_clients
from operations.progress import ReportProgress, no_progress
from operations.retries import retry_transient_errors
from operations.stored_collections import COLLECTIONS
from shared.identity.auth import clients
from shared.kernel.clock import now_ms
from shared.kernel.db.items import Item, from_attributes, to_attributes
from shared.kernel.db.outbox_item import ResourceId
from shared.kernel.db.records import HEAD, decode_entity, tail_keys_of
from shared.kernel.db.store import Store
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from shared.kernel.events.feed import (
    CLOCKS_MS,
    STREAM_MS,
    Checksums,
    FeedHead,
    added,
    checksums_of,
    complete_head,
    head_item,
    latest_head,
    read_entries,
    read_head,
)
from shared.kernel.events.feed_append import append, unappended
from shared.kernel.events.outbox import unrelayed_entries

_PAGE = 500
"""Items of the table between two reports of the progress."""


def has_feed(store: Store) -> bool:
    """Return whether a table has a feed that is complete."""
    head = read_head(store)
    return head is not None and head.is_complete


def begin_feed(store: Store, report: ReportProgress = no_progress) -> FeedHead:
    """Begin a feed with what exists in a table whose transactions note changes; return its head.

    It replaces one that exists, and takes a new epoch. Only one run at a time. Until the sums are
    known, entries are appended, and nobody can read them.
    """
    before = read_head(store)
    epoch = max(now_ms(), before.epoch + 1 if before else 0)
    head = FeedHead(epoch, position=0, checksums={}, is_complete=False)
    item = to_attributes(head_item(store.table, head))
    retry_transient_errors(partial(store.client.put_item, TableName=store.table, Item=item))
    return complete_head(store, head, sums_at(store, head, report, began_ms=epoch))


def sums_at(
    store: Store,
    head: FeedHead,
    report: ReportProgress = no_progress,
    *,
    began_ms: int | None = None,
) -> Checksums:
    """Return number and sum of the versions that existed at the position of a head just read.

    They include what was committed before `began_ms`, by default now, and waits for longer than the
    stream brings it to the relay. A feed that begins takes its epoch, as the relay does.

    Raises:
        Conflict: Another run has started a new feed meanwhile.
    """
    began_ms = now_ms() if began_ms is None else began_ms
    versions = _Versions.read(store, report)
    append_committed(store, since_ms=began_ms - STREAM_MS)
    latest = latest_head(store, head)
    before = dict[tuple[str, ResourceId], int]()
    for change in (
        change for entry in read_entries(store, latest, head.position) for change in entry.changes
    ):
        key = (change.object, change.id)
        before[key] = min(change.before or 0, before.get(key, change.before or 0))
    for (noun, number), version in before.items():
        versions.put(noun, number, version)
    return versions.sums()


def append_committed(store: Store, *, since_ms: int) -> None:
    """Append what was committed from `since_ms` until now and was not relayed.

    The ids of entries have the times of their writers, whose clocks may be ahead.
    """
    until_ms = now_ms() + CLOCKS_MS
    for page in unrelayed_entries(
        store.client, store.outbox, store.slug, until_ms, since_ms=since_ms
    ):
        append(store, [one for one in map(unappended, page) if one])


@dataclass(slots=True)
class _Versions:
    """The version of each resource that exists, 0 for one that does not."""

    _of_numbers: dict[str, "array[int]"] = field(default_factory=dict)
    """Object → version by id, which is a number of a sequence."""
    _of_texts: dict[str, dict[str, int]] = field(default_factory=dict)

    @classmethod
    def read(cls, store: Store, report: ReportProgress) -> "_Versions":
        """Read the versions of everything that lists show."""
        versions = cls()
        for client in list_clients(store.slug):
            if client.active:
                versions.put(clients.LISTED_AS, client.client_id, client.version)
        start: Mapping[str, Any] = {}
        count = 0
        while True:
            page = retry_transient_errors(partial(_scan, store, start))
            for item in map(from_attributes, page["Items"]):
                if found := _listed(store, item):
                    versions.put(*found)
            count += page["ScannedCount"]
            report(f"{store.slug}: reading versions for the feed of changes, {count} items")
            if "LastEvaluatedKey" not in page:
                return versions
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def put(self, noun: str, number: ResourceId, version: int) -> None:
        """Take this version instead of the one that is known."""
        if isinstance(number, str):
            self._of_texts.setdefault(noun, {})[number] = version
            return
        known = self._of_numbers.setdefault(noun, array("I"))
        if number >= len(known):
            known.extend([0] * (max(number + 1, 2 * len(known)) - len(known)))
        known[number] = version

    def sums(self) -> Checksums:
        """Return number and sum of the versions of each object."""
        known: list[tuple[str, Iterable[tuple[ResourceId, int]]]] = [
            *((noun, enumerate(numbers)) for noun, numbers in self._of_numbers.items()),
            *((noun, texts.items()) for noun, texts in self._of_texts.items()),
        ]
        found: Checksums = {}
        for noun, versions in known:
            existing = ((name, version) for name, version in versions if version)
            found = added(found, {noun: checksums_of(noun, existing)})
        return found


def _scan(store: Store, start: Mapping[str, Any]) -> Any:
    return store.client.scan(
        TableName=store.table,
        ConsistentRead=True,
        Limit=_PAGE,
        FilterExpression="#sk = :head AND attribute_not_exists(#deleted)",
        ExpressionAttributeNames={"#sk": SORT_KEY, "#deleted": "deleted"},
        ExpressionAttributeValues={":head": {"S": HEAD}},
        **start,
    )


def _listed(store: Store, head: Item) -> tuple[str, int, int] | None:
    """Return object, id and version of an entity that a list shows."""
    collection = COLLECTIONS.get(str(head[PARTITION_KEY]).partition("#")[0])
    if collection is None or collection.listed_as is None:
        return None
    number, version = int(head["id"]), int(head["version"])
    if collection.listed_id:
        tails = store.get_many(tail_keys_of(head))
        record = decode_entity(collection.model, head, tails) or collection.get(store, number)
        number, version = collection.listed_id(record.entity), record.version
    return collection.listed_as, number, version
