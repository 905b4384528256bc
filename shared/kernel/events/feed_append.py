"""Append the changes of transactions to the feed of a tenant, each once, in order of version."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import batched
from typing import Any

from shared.kernel.clock import now_ms
from shared.kernel.db.outbox_item import CHANGES, NotedChanges, milliseconds_of, partition_of
from shared.kernel.db.store import Store, key_attributes
from shared.kernel.db.table import EXPIRY
from shared.kernel.events.feed import (
    CLOCKS_MS,
    STREAM_MS,
    FeedHead,
    UnappendedEntry,
    moved_head,
    put_chunk,
    read_head,
    read_head_behind_chunk,
)
from shared.kernel.events.feed_ids import appended_ids, with_appended
from shared.kernel.events.feed_late import (
    LATE_MS,
    MOST_MARKS,
    appended_late,
    is_late,
    put_late_chunk,
)
from shared.kernel.events.outbox import OutboxEntry, RecoveryRequest, RedeliveryRequest, parse_entry

_OLDEST_MS = 90 * 86_400_000
"""Age up to which entries are appended: whether an older one is in the feed cannot be read."""
_MOST_ENTRIES = 500
_MOST_CHANGES = 4_000
"""Changes of a chunk, of 72 bytes each at most: with its entries, less than an item, uncompressed.
"""
_MOST_DOUBLINGS = 2
"""Of the wait after an attempt behind which another relay has moved the head, so that it takes 80
ms at most. The relays of a busy company do so all the time: who waited for longer would never come
between those that do not. While nobody can write, waits grow as everywhere."""
_KEYS = 100
"""Keys that one BatchGetItem takes."""


def unappended(entry: OutboxEntry) -> UnappendedEntry | None:
    """Return the changes of an entry of the outbox; None if it has none."""
    if isinstance(entry, RedeliveryRequest | RecoveryRequest) or CHANGES not in entry.item:
        return None
    noted = NotedChanges.unpacked(entry.item[CHANGES])
    return UnappendedEntry(entry.id, entry.item["created_at"], noted)


def append(store: Store, entries: Sequence[UnappendedEntry]) -> None:
    """Append entries to the feed of a tenant's table, unless they are in it.

    Entries about another table are left out, and all if the table has no feed. Entries that precede
    them and wait for the relay elsewhere are appended, too, so that the versions of a resource
    follow each other.

    Raises:
        ServiceUnavailable: Conflicts or throttling lasted until the deadline.
    """
    if not (head := read_head(store)):
        return
    waiting, attempt = _waiting(store, head, entries), 0
    while waiting:
        batch = _first_batch(head, waiting)
        append_batch = _append_late if is_late(head, batch[0]) else _append_batch
        after = append_batch(store, head, batch)
        if after is not None:
            waiting, head = waiting[len(batch) :], after
            continue
        attempt = store.back_off(attempt)
        latest = read_head_behind_chunk(store)
        if latest is None or latest.epoch != head.epoch:
            append(store, entries)
            return
        if latest.position > head.position:
            attempt = min(attempt, _MOST_DOUBLINGS)
        head = latest


def _append_batch(
    store: Store, head: FeedHead, batch: Sequence[UnappendedEntry]
) -> FeedHead | None:
    """Append those of a batch that the feed lacks; return its head then, None for another attempt.

    None of them is late.
    """
    known = appended_ids(store, head, min(one.began_ms for one in batch))
    if known is None:
        return None
    missing = [one for one in batch if not known.has(one.id)]
    if not missing:
        return head
    after = head.after(missing)
    if put_chunk(store, head, after, missing) and moved_head(store, head, after):
        with_appended(store, known, after, (one.id for one in missing))
        return after
    return None


def _append_late(store: Store, head: FeedHead, batch: Sequence[UnappendedEntry]) -> FeedHead | None:
    """Append those of a batch of late entries that the feed lacks, as `_append_batch` does."""
    appended = appended_late(store, head, batch)
    if appended is None:
        return None
    missing = [one for one in batch if one.id not in appended]
    if not missing:
        return head
    after = head.after(missing)
    if put_late_chunk(store, head, after, missing) and moved_head(store, head, after):
        return after
    return None


def _waiting(
    store: Store, head: FeedHead, entries: Sequence[UnappendedEntry]
) -> list[UnappendedEntry]:
    """Return the entries that the feed may lack, with those that precede them, in order.

    What was relayed before the feed began is in its first sums.
    """
    oldest = max(now_ms() - _OLDEST_MS, head.epoch - STREAM_MS)
    own = [one for one in entries if one.noted.table == store.table and one.began_ms > oldest]
    early = {one.id for one in own if one.began_ms < head.epoch + CLOCKS_MS}
    unmarked = {one.id for one in read_unmarked(store, early)}
    return _with_previous(store, [one for one in own if one.id not in early - unmarked])


def in_order(entries: Iterable[UnappendedEntry]) -> list[UnappendedEntry]:
    """Return entries in their order, but each behind those whose changes precede its own."""
    found = {one.id: one for one in entries}
    ordered: dict[str, UnappendedEntry] = {}
    for entry in found.values():
        waiting = [entry]
        while waiting:
            needed = (found.get(one) for one in waiting[-1].noted.previous)
            missing = next((one for one in needed if one and one.id not in ordered), None)
            if missing:
                waiting.append(missing)
            else:
                ordered.setdefault(waiting[-1].id, waiting.pop())
    return list(ordered.values())


def _with_previous(store: Store, entries: Sequence[UnappendedEntry]) -> list[UnappendedEntry]:
    """Return entries and those that precede them and are not in the feed yet, in order.

    They are of other partitions of the outbox, which the relay handles at the same time.
    """
    found = {one.id: one for one in entries}
    known = set(found)
    oldest = now_ms() - STREAM_MS
    latest = list(entries)
    while latest:
        wanted = {name for one in latest for name in one.noted.previous} - known
        known |= wanted
        recent = {name for name in wanted if milliseconds_of(name) > oldest}
        latest = list(read_unmarked(store, recent))
        found |= {one.id: one for one in latest}
    return in_order(found.values())


def read_unmarked(store: Store, names: Iterable[str]) -> Iterator[UnappendedEntry]:
    """Yield those of some entries of the outbox about the table that are not marked as relayed.

    The relay marks an entry after its changes are in the feed.
    """
    for part in batched(sorted(names), _KEYS, strict=False):
        keys = [key_attributes((partition_of(store.slug, name), name)) for name in part]
        wanted: Mapping[str, Any] = {store.outbox: {"Keys": keys, "ConsistentRead": True}}
        attempt = 0
        while wanted:
            answer = store.retry_transient_errors(partial(_read_batch, store, wanted))
            for item in answer["Responses"].get(store.outbox, []):
                one = None if EXPIRY in item else unappended(parse_entry(item)[1])
                if one and one.noted.table == store.table:
                    yield one
            if wanted := answer["UnprocessedKeys"]:
                attempt = store.back_off(attempt)


def _read_batch(store: Store, wanted: Mapping[str, Any]) -> Any:
    return store.client.batch_get_item(RequestItems=wanted)


def _first_batch(head: FeedHead, entries: Sequence[UnappendedEntry]) -> list[UnappendedEntry]:
    """Return the first entries, as many as one chunk takes; at least one.

    They began within little time, and all are late or none, also by the others.
    """
    first = entries[0]
    late = is_late(head, first)
    batch = [first]
    changes = len(first.noted.changes)
    oldest_ms = newest_ms = first.began_ms
    for one in entries[1 : MOST_MARKS if late else _MOST_ENTRIES]:
        changes += len(one.noted.changes)
        oldest_ms, newest_ms = min(oldest_ms, one.began_ms), max(newest_ms, one.began_ms)
        latest_ms = newest_ms if late else max(head.newest_ms, newest_ms)
        is_apart = latest_ms - oldest_ms >= LATE_MS or is_late(head, one) != late
        if is_apart or changes > _MOST_CHANGES:
            break
        batch.append(one)
    return batch
