"""The feed of changes: the transactions of a tenant in one order without gaps.

Each transaction notes its changes in its item of the outbox (`shared.kernel.db.outbox_item`). The
relay appends them after the commit (`feed_append`), so that no position is early, late or missing.
It writes two items:

- a *chunk*: the new entries, one for each transaction, under the position of the first, with the
  ids of their items of the outbox and the latest times at which an entry before them, and up to the
  last of them, began. It is put unless there is one at this position;
- the *head* of the feed, on the condition that it is as it was read: the position of the last
  entry, and for each kind of object the number of those that exist and the sum of their versions.

A chunk behind the head does not show yet. Whoever finds one there moves the head over it, because
the relay that put it may have died. Before that, the relay reads the chunks up to one before which
all entries began before its own, and after another relay has put one, it reads again. So an entry
is appended once, whoever appends it and however often.

A feed is of one table, and begins with an *epoch*, the time of its beginning in milliseconds. A
head of another table, which a restore has copied, is not continued, and neither are entries about
another table.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from shared.kernel.clock import Instant, now_ms
from shared.kernel.db.aws_errors import is_transient
from shared.kernel.db.items import Item, Key, encode, item_at, pack, to_attributes, unpack
from shared.kernel.db.outbox_item import (
    EVENT_PREFIX,
    Author,
    NotedChanges,
    ResourceId,
    VersionChange,
    bytes_of,
    changes_of,
    milliseconds_of,
)
from shared.kernel.db.store import Store, key_attributes
from shared.kernel.db.table import EXPIRY, PARTITION_KEY, SORT_KEY
from shared.kernel.errors import Conflict
from shared.kernel.json_text import dumps, loads

PARTITION = "feed"
HEAD_KEY = (PARTITION, "HEAD")
_POSITION_DIGITS, _EPOCH_DIGITS = 15, 15
_BEGINNING = "beginning"
"""Name of the attribute of the head of a feed that is not complete."""
CHUNK_SECONDS = 92 * 86_400
"""Seconds for which entries are kept."""
CLOCKS_MS = 10_000
"""Longest difference between the clocks of two functions."""
STREAM_MS = 12 * 3_600_000
"""Age up to which the stream brings an entry to the relay, as the template says. Older ones that
are not in the feed were discarded; `stowage events relay` appends them, behind later versions."""
_MOST_LATE = 7
"""The power of 16 milliseconds that an entry of the stream is late by less than."""
_ID_BYTES = 16
_MODULUS = 1 << 64

type Checksums = Mapping[str, tuple[int, int]]
"""Object → number of the resources that exist, and the sum of `checksum` of their versions, modulo
2^64."""


@dataclass(frozen=True, slots=True)
class UnappendedEntry:
    """The changes of a transaction as its item of the outbox has them."""

    id: str
    committed_at: Instant
    noted: NotedChanges

    @property
    def began_ms(self) -> int:
        """A time before the commit, in milliseconds."""
        return milliseconds_of(self.id)


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """One committed transaction in the feed."""

    position: int
    committed_at: Instant
    request_id: str | None
    author: Author
    changes: Sequence[VersionChange]


@dataclass(frozen=True, slots=True)
class FeedHead:
    """The end of a feed: the position of its last entry, and what exists there.

    `epoch` is when the feed began, in milliseconds. No entry began later than `newest_ms`.
    While the feed of a table with contents begins, it is not complete: the checksums are only the
    differences that its entries have made.

    An entry is late by the time from when it began to when the newest one up to its chunk began.
    `delays` has the position of the last entry that was late by less than 16^n milliseconds, by the
    least n.
    """

    epoch: int
    position: int
    checksums: Checksums
    newest_ms: int = field(default=0, compare=False)
    is_complete: bool = True
    delays: Mapping[int, int] = field(default_factory=dict, compare=False)

    def after(self, entries: Sequence[UnappendedEntry]) -> "FeedHead":
        """Return the head after further entries."""
        sums = dict(self.checksums)
        for change in (change for one in entries for change in one.noted.changes):
            count, total = sums.get(change.object, (0, 0))
            for version, sign in ((change.before, -1), (change.after, 1)):
                if version is not None:
                    count += sign
                    total += sign * checksum(change.object, change.id, version)
            sums[change.object] = (count, total % _MODULUS)
        newest_ms = max([self.newest_ms, *(one.began_ms for one in entries)])
        delays = dict(self.delays)
        for position, one in enumerate(entries, self.position + 1):
            delays[-(-(newest_ms - one.began_ms).bit_length() // 4)] = position
        return replace(
            self,
            position=self.position + len(entries),
            checksums=sums,
            newest_ms=newest_ms,
            delays=delays,
        )

    def delay_behind(self, position: int) -> int:
        """Return more milliseconds than any entry behind a position is late."""
        return max((16**power for power, last in self.delays.items() if last > position), default=0)


def checksum(noun: str, name: ResourceId, version: int) -> int:
    """Return the checksum of one version of a resource."""
    digest = hashlib.sha256(f"{noun}:{name}:{version}".encode()).digest()
    return int.from_bytes(digest[:8])


def checksums_of(noun: str, versions: Iterable[tuple[ResourceId, int]]) -> tuple[int, int]:
    """Return the number and the sum of versions, given with the ids of the resources."""
    count, total = 0, 0
    for name, version in versions:
        count, total = count + 1, total + checksum(noun, name, version)
    return count, total % _MODULUS


def first_head(table: str) -> Item:
    """Return the item with which the feed of a new table begins."""
    return head_item(table, FeedHead(epoch=now_ms(), position=0, checksums={}))


def head_item(table: str, head: FeedHead) -> Item:
    """Return the item of the head of a table's feed."""
    return item_at(
        HEAD_KEY,
        table=table,
        epoch=head.epoch,
        position=head.position,
        checksums=_packed(head),
        newest_ms=head.newest_ms,
        delays=_packed_delays(head),
        **({} if head.is_complete else {_BEGINNING: True}),
    )


def _packed(head: FeedHead) -> bytes:
    return b"".join(pack(dumps(head.checksums)))  # some 30 bytes for each kind of object


def _packed_delays(head: FeedHead) -> str:
    return dumps([*head.delays.items()])


def read_head(store: Store) -> FeedHead | None:
    """Read the head of the feed; None if the table has no feed."""
    item = store.uncached().get(HEAD_KEY)
    if item is None or item["table"] != store.table:
        return None
    found: Mapping[str, Sequence[int]] = loads(unpack([item["checksums"]]))
    sums = {noun: (count, total) for noun, (count, total) in found.items()}
    position = int(item["position"])
    return FeedHead(
        int(item["epoch"]),
        position,
        sums,
        int(item["newest_ms"]),
        is_complete=_BEGINNING not in item,
        # How late the entries of an older head are, it does not say.
        delays=dict(loads(item["delays"])) if "delays" in item else {_MOST_LATE: position},
    )


def latest_head(store: Store, head: FeedHead) -> FeedHead:
    """Read the head of the same feed again.

    Raises:
        Conflict: Another run has started a new feed meanwhile.
    """
    latest = read_head(store)
    if latest is None or latest.epoch != head.epoch:
        raise Conflict(f"Another run has started the feed of changes of {store.slug} again.")
    return latest


def complete_head(store: Store, head: FeedHead, existing: Checksums) -> FeedHead:
    """Add the sums of what existed when the feed began; return its head, which is complete.

    Raises:
        Conflict: Another run has started a new feed meanwhile.
        ServiceUnavailable: Conflicts or throttling lasted until the deadline.
    """
    attempt = 0
    while True:
        latest = latest_head(store, head)
        if latest.is_complete:  # by an attempt whose answer was lost
            return latest
        complete = replace(latest, checksums=added(latest.checksums, existing), is_complete=True)
        if moved_head(store, latest, complete):
            return complete
        attempt = store.back_off(attempt)


def added(one: Checksums, other: Checksums, sign: int = 1) -> Checksums:
    """Return the sums of two; their difference if `sign` is -1."""
    found = dict(one)
    for noun, (count, total) in other.items():
        before = found.get(noun, (0, 0))
        found[noun] = (before[0] + sign * count, (before[1] + sign * total) % _MODULUS)
    return found


def moved_head(store: Store, head: FeedHead, after: FeedHead) -> bool:
    """Replace the head; return False if it is not as it was read, or for a temporary reason."""
    removed = f" REMOVE {_BEGINNING}" if after.is_complete and not head.is_complete else ""
    # Completing it changes the sums, and not the position.
    as_read = "attribute_not_exists" if head.is_complete else "attribute_exists"
    return _is_written(
        store,
        lambda: store.client.update_item(
            TableName=store.table,
            Key=key_attributes(HEAD_KEY),
            UpdateExpression=(
                "SET #position = :after, #sums = :sums, #newest = :newest, #delays = :delays"
                + removed
            ),
            ConditionExpression=(
                f"#position = :before AND #epoch = :epoch AND {as_read}({_BEGINNING})"
            ),
            ExpressionAttributeNames={
                "#position": "position", "#sums": "checksums", "#newest": "newest_ms",
                "#epoch": "epoch", "#delays": "delays",
            },
            ExpressionAttributeValues={
                ":before": encode(head.position),
                ":after": encode(after.position),
                ":epoch": encode(head.epoch),
                ":sums": encode(_packed(after)),
                ":newest": encode(after.newest_ms),
                ":delays": encode(_packed_delays(after)),
            },
        ),
    )  # fmt: skip


def _is_written(store: Store, write: Callable[[], object]) -> bool:
    """Write an item on a condition; return False if it fails, or for a temporary reason."""
    try:
        write()
    except Exception as error:
        changed = isinstance(error, store.client.exceptions.ConditionalCheckFailedException)
        if not changed and not is_transient(error):
            raise
        return False
    return True


# Chunks


def chunk_key(epoch: int, position: int) -> Key:
    """Return the key of the chunk whose first entry has this position."""
    return (PARTITION, f"{epoch:0{_EPOCH_DIGITS}d}#{position:0{_POSITION_DIGITS}d}")


def chunk_item(head: FeedHead, after: FeedHead, batch: Sequence[UnappendedEntry]) -> Item:
    """Return the item of entries; the feed has the head `head` before them, then `after`."""
    content = [
        [one.committed_at, one.noted.request_id, one.noted.author, one.noted.by_object()]
        for one in batch
    ]
    return item_at(
        chunk_key(head.epoch, head.position + 1),
        entries=b"".join(pack(dumps(content))),
        ids=b"".join(bytes_of(one.id) for one in batch),
        newest_before_ms=head.newest_ms,
        newest_ms=after.newest_ms,
        **{EXPIRY: now_ms() // 1000 + CHUNK_SECONDS},
    )


def put_chunk(
    store: Store, head: FeedHead, after: FeedHead, batch: Sequence[UnappendedEntry]
) -> bool:
    """Put the item of `chunk_item`; return False if there is one, or for a temporary reason."""
    return _is_written(
        store,
        lambda: store.client.put_item(
            TableName=store.table,
            Item=to_attributes(chunk_item(head, after, batch)),
            ConditionExpression=f"attribute_not_exists({PARTITION_KEY})",
        ),
    )


def read_head_behind_chunk(store: Store) -> FeedHead | None:
    """Read the head; move it over a chunk behind it, which the relay that put it has not done yet.

    None if the table has no feed.
    """
    head = read_head(store)
    if head is None:
        return None
    item = store.uncached().get(chunk_key(head.epoch, head.position + 1))
    if item is None:
        return head
    batch = [
        UnappendedEntry(
            name,
            entry.committed_at,
            NotedChanges(store.table, entry.request_id, entry.author, entry.changes),
        )
        for name, entry in zip(ids_of(item), entries_of(item), strict=True)
    ]
    after = head.after(batch)
    return after if moved_head(store, head, after) else head


def read_entries(store: Store, head: FeedHead, after: int) -> Iterator[FeedEntry]:
    """Yield the entries behind the position `after`, up to the end of the feed.

    None of them has expired. A chunk that is missing is waited for: a Query may show a chunk later
    than the head, and than the next one.

    Raises:
        ServiceUnavailable: A chunk could not be read until the deadline.
    """
    low, high = (chunk_key(head.epoch, position)[1] for position in (0, head.position))
    attempt = 0
    while after < head.position:
        wanted, before = chunk_key(head.epoch, after + 1)[1], after
        holding = query_chunks(store, low, wanted, Limit=1, ScanIndexForward=False).items
        first = holding[0][SORT_KEY] if holding else wanted
        for item in query_chunks(store, first, high).items:
            if first_position(item) > after + 1:
                break
            for entry in entries_of(item):
                if entry.position > after:
                    yield entry
                    after = entry.position
        if after == before:
            attempt = store.back_off(attempt)


def read_page(store: Store, head: FeedHead, after: int, most: int) -> list[FeedEntry] | None:
    """Return entries behind the position `after`, at least one and at most `most`.

    They may be fewer than there are, so that two reads are enough: the chunk of the first one says
    how many chunks are read after it. `after` is before the end of the feed. None if the first one
    has expired.

    Raises:
        ServiceUnavailable: The last chunk could not be read until the deadline.
    """
    low, high = (chunk_key(head.epoch, position)[1] for position in (0, head.position))
    wanted = chunk_key(head.epoch, after + 1)[1]
    attempt = 0
    while True:
        holding = query_chunks(store, low, wanted, Limit=1, ScanIndexForward=False).items
        if holding and int(holding[0][EXPIRY]) <= now_ms() // 1000:
            return None
        found = list(entries_of(holding[0])) if holding else []
        if found and found[-1].position > after:
            break
        # A Query may show a chunk later than the head, and than the next one. What follows a chunk
        # that is kept has not expired.
        is_kept = head.newest_ms > now_ms() - CHUNK_SECONDS * 1000
        if not found and (not is_kept or query_chunks(store, wanted, high, Limit=1).items):
            return None
        attempt = store.back_off(attempt)
    entries = [one for one in found if one.position > after]
    if len(entries) < most and (end := found[-1].position) < head.position:
        chunks = -(-(most - len(entries)) // len(found))
        following = query_chunks(store, chunk_key(head.epoch, end + 1)[1], high, Limit=chunks)
        for item in following.items:
            if first_position(item) != end + 1:
                break
            entries += entries_of(item)
            end = entries[-1].position
    return entries[:most]


def query_chunks(store: Store, low: str, high: str, **options: Any) -> Any:
    """Read a page of the chunks with sort keys from `low` to `high`; both are of `chunk_key`."""
    return store.query(
        KeyConditionExpression=f"{PARTITION_KEY} = :feed AND {SORT_KEY} BETWEEN :low AND :high",
        values={":feed": PARTITION, ":low": low, ":high": high},
        ConsistentRead=True,
        **options,
    )


def entries_of(item: Item) -> Iterator[FeedEntry]:
    """Yield the entries of a chunk."""
    content = loads(unpack([item["entries"]]))
    for position, entry in enumerate(content, first_position(item)):
        committed_at, request_id, author, by_object = entry
        changes = changes_of(by_object)
        yield FeedEntry(position, committed_at, request_id, Author(*author), changes)


def ids_of(item: Item) -> list[str]:
    """Return the ids of the items of the outbox of the entries of a chunk."""
    names = item["ids"]
    starts = range(0, len(names), _ID_BYTES)
    return [f"{EVENT_PREFIX}{names[at : at + _ID_BYTES].hex()}" for at in starts]


def first_position(item: Item) -> int:
    """Return the position of the first entry of a chunk."""
    return int(item[SORT_KEY].partition("#")[2])
