"""Which transactions the feed has before a position, without reading all of it.

A transaction that began before everything up to a position was surely appended before it, unless it
is late; the head knows how late entries are. So only the chunks of a short time must be read.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from shared.kernel.clock import now_ms
from shared.kernel.db.outbox_item import EVENT_PREFIX, milliseconds_of
from shared.kernel.db.store import Store
from shared.kernel.db.table import EXPIRY
from shared.kernel.events.feed import (
    STREAM_MS,
    FeedEntry,
    FeedHead,
    chunk_key,
    entries_of,
    latest_head,
    query_chunks,
)
from shared.kernel.events.feed_append import read_unmarked

_FIRST_CHUNKS = 4
"""Chunks that are read first; each further read has four times as many."""
_TRIES = 8
"""Reads after which a missing chunk has expired: a Query may show a chunk later than the head."""


@dataclass(frozen=True, slots=True)
class FeedPlace:
    """A position of the feed: no entry up to there began later than `newest_ms`."""

    position: int
    newest_ms: int


def place_at(store: Store, head: FeedHead, position: int) -> FeedPlace | None:
    """Return the place of a position up to the head; None if its entry has expired."""
    if position == 0:
        return FeedPlace(0, head.epoch)
    low, high = (chunk_key(head.epoch, number)[1] for number in (0, position))
    attempt = 0
    while True:
        found = query_chunks(store, low, high, Limit=1, ScanIndexForward=False).items
        if not found or int(found[0][EXPIRY]) <= now_ms() // 1000:
            return None
        if [*entries_of(found[0])][-1].position >= position:
            return FeedPlace(position, int(found[0]["newest_ms"]))
        attempt = store.back_off(attempt)  # a Query may show a chunk later than the head


def entries_since(
    store: Store, head: FeedHead, end: int, *, since_ms: int, after: int = 0
) -> Iterator[FeedEntry]:
    """Yield the entries up to the position `end` among which are all that began at `since_ms`.

    They come from the end on, up to the chunk before which nothing began then or later, and not
    those up to the position `after`. What has expired is left out.
    """
    attempt, limit = 0, _FIRST_CHUNKS
    while end > after and head.newest_ms >= since_ms and attempt < _TRIES:
        low, high = chunk_key(head.epoch, 0)[1], chunk_key(head.epoch, end)[1]
        page = query_chunks(store, low, high, Limit=limit, ScanIndexForward=False)
        is_next = False
        for item in page.items:
            if item["newest_ms"] < since_ms:
                return
            entries = [one for one in entries_of(item) if one.position <= end]
            is_next = bool(entries) and entries[-1].position == end
            if not is_next:
                break
            yield from (one for one in reversed(entries) if one.position > after)
            end, attempt = entries[0].position - 1, 0
        limit *= 4
        if not is_next:
            attempt = store.back_off(attempt)


def head_with(store: Store, head: FeedHead, written_by: Collection[bytes]) -> FeedHead:
    """Wait until the feed has transactions, given by their items of the outbox; return its head.

    Raises:
        Conflict: A new feed has begun meanwhile.
        ServiceUnavailable: The relay has not appended them until the deadline.
    """
    oldest = now_ms() - STREAM_MS
    waiting = {f"{EVENT_PREFIX}{one.hex()}" for one in written_by}
    waiting = {one for one in waiting if milliseconds_of(one) > max(oldest, head.epoch)}
    attempt = 0
    while True:
        waiting = {one.id for one in read_unmarked(store, waiting)}
        if not waiting:
            return latest_head(store, head)
        attempt = store.back_off(attempt)
