"""Entries that are appended long after they began, after a stop of the relay for example.

The chunks since they began may be millions. So each late entry has a *mark*, an item that is put in
one transaction with its chunk. An entry that was not late when it was appended is in a chunk whose
latest transaction began little later. So a late one is looked for among the marks and in the chunks
of the time at which it began, found by halving the positions.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from botocore.exceptions import ClientError

from shared.kernel.clock import now_ms
from shared.kernel.db.aws_errors import cancellation_reasons, has_transient_reason, is_transient
from shared.kernel.db.items import Item, Key, item_at, to_attributes
from shared.kernel.db.store import Store
from shared.kernel.db.table import EXPIRY, PARTITION_KEY, SORT_KEY
from shared.kernel.events.feed import (
    CHUNK_SECONDS,
    PARTITION,
    FeedHead,
    UnappendedEntry,
    chunk_item,
    chunk_key,
    first_position,
    ids_of,
    query_chunks,
)

LATE_MS = 600_000
"""An entry is late if the newest one up to its chunk began so many milliseconds after it."""
MOST_MARKS = 90
"""Late entries of a chunk: a transaction has 100 actions."""
_FIRST_CHUNKS = 4
"""Chunks that are read first; each further read has four times as many."""


def is_late(head: FeedHead, entry: UnappendedEntry) -> bool:
    """Return whether an entry will be late behind a head."""
    return head.newest_ms - entry.began_ms >= LATE_MS


def put_late_chunk(
    store: Store, head: FeedHead, after: FeedHead, batch: Sequence[UnappendedEntry]
) -> bool:
    """Put the chunk of late entries with their marks, unless there is one of them.

    Return False if there is one, or for a temporary reason.
    """
    expiry = {EXPIRY: now_ms() // 1000 + CHUNK_SECONDS}
    marks = [item_at(_mark_key(head.epoch, one.id), **expiry) for one in batch]
    puts: list[Any] = [
        {
            "TableName": store.table,
            "Item": to_attributes(item),
            "ConditionExpression": f"attribute_not_exists({PARTITION_KEY})",
        }
        for item in (chunk_item(head, after, batch), *marks)
    ]
    try:
        store.client.transact_write_items(TransactItems=[{"Put": put} for put in puts])
    except Exception as error:
        if not is_transient(error) and not _is_refused(error):
            raise
        return False
    return True


def _is_refused(error: Exception) -> bool:
    """Return whether a condition of a transaction failed, or it met another one."""
    return isinstance(error, ClientError) and (
        has_transient_reason(error)
        or any(one.get("Code") == "ConditionalCheckFailed" for one in cancellation_reasons(error))
    )


def appended_late(
    store: Store, head: FeedHead, entries: Sequence[UnappendedEntry]
) -> Collection[str] | None:
    """Return the ids of those of some late entries that the feed has up to the head.

    They began within little time. None if a chunk cannot be read yet.
    """
    wanted = {one.id for one in entries}
    marked = wanted.intersection(_marked(store, head, min(wanted), max(wanted)))
    if marked == wanted:
        return marked
    oldest, newest = (pick(one.began_ms for one in entries) for pick in (min, max))
    first = _first_since(store, head, oldest)
    if first is None:
        return None
    for item in _chunks_from(store, head, first):
        if item is None:
            return None
        marked.update(wanted.intersection(ids_of(item)))
        if item["newest_ms"] >= newest + LATE_MS:
            break
    return marked


def _mark_key(epoch: int, name: str) -> Key:
    return (PARTITION, f"{chunk_key(epoch, 0)[1].partition('#')[0]}#late#{name}")


def _marked(store: Store, head: FeedHead, first: str, last: str) -> Iterator[str]:
    """Yield the ids of the late entries that have marks, from one id to another."""
    low, high = (_mark_key(head.epoch, name)[1] for name in (first, last))
    start: dict[str, Any] = {}
    while True:
        page = query_chunks(store, low, high, **start)
        yield from (item[SORT_KEY].rpartition("#")[2] for item in page.items)
        if page.last_key is None:
            return
        start = {"ExclusiveStartKey": page.last_key}


def _first_since(store: Store, head: FeedHead, began_ms: int) -> int | None:
    """Return the position of the first chunk up to which an entry began at a time or later.

    It is behind the end of the feed if there is none. None if a chunk cannot be read yet.
    """
    low, high = 1, head.position + 1
    begin = chunk_key(head.epoch, 0)[1]
    while low < high:
        middle = (low + high) // 2
        wanted = chunk_key(head.epoch, middle)[1]
        found: Iterable[Item] = query_chunks(
            store, begin, wanted, Limit=1, ScanIndexForward=False
        ).items
        chunk = next(iter(found), None)
        if chunk is None or int(chunk[EXPIRY]) <= now_ms() // 1000:
            low = middle + 1  # What has expired is older than all that is appended.
            continue
        last = first_position(chunk) + len(ids_of(chunk)) - 1
        if last < middle:
            return None
        if chunk["newest_ms"] < began_ms:
            low = last + 1
        else:
            high = first_position(chunk)
    return low


def _chunks_from(store: Store, head: FeedHead, position: int) -> Iterator[Item | None]:
    """Yield the chunks from that of a position to the end; None for one that cannot be read yet."""
    high = chunk_key(head.epoch, head.position)[1]
    limit = _FIRST_CHUNKS
    while position <= head.position:
        page = query_chunks(store, chunk_key(head.epoch, position)[1], high, Limit=limit)
        limit *= 4
        for item in page.items:
            if first_position(item) != position:
                yield None
                return
            yield item
            position += len(ids_of(item))
        if not page.items:
            yield None
            return
