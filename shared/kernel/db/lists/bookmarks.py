"""Stored positions and snapshots of lists, so that the next page need not start over.

- A *position* says at which index entry a page of an ordered list begins.
- A *snapshot* holds the ids of a filtered list in order, for all its pages.

Both hold the state of the collection in which they were made, and are valid as long as the
collection is in it. Those made within LAG_MS of a change, when an index may not show it yet, are
valid for LAG_MS only. All of them can be lost at any time without harm.
"""

import json
import zlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from shared.kernel.clock import now_ms
from shared.kernel.db.items import Item, inflate, to_attributes
from shared.kernel.db.store import Store
from shared.kernel.db.table import EXPIRY, PARTITION_KEY, SORT_KEY

LAG_MS = 5_000
_LIFETIME_MS = 15 * 60_000
_SNAPSHOT_EXPIRY_MS = 24 * 3_600_000
"""How long a client that follows `links.next` may pause between two pages."""
_CHUNK = 30_000
"""Ids per snapshot item; compressed, they stay under 400 KB, also those of 24 digits."""
_CACHE_SIZE = 512


@dataclass(frozen=True, slots=True)
class State:
    """The state of a collection: a text that differs after every change, and the last change.

    `touched_ms` is the time of that change in milliseconds.
    """

    text: str
    touched_ms: int

    @property
    def valid_until(self) -> int:
        """Until when a result of an index, read now, is valid, in milliseconds."""
        now = now_ms()
        return now + (_LIFETIME_MS if now - self.touched_ms > LAG_MS else LAG_MS)


@dataclass(frozen=True, slots=True)
class _Bookmark:
    """What was read of a list in the state `state`; it is good until `valid_until`."""

    state: str
    valid_until: int

    def is_valid(self, state: State) -> bool:
        """Return whether the list has not changed since."""
        return self.state == state.text and now_ms() < self.valid_until


@dataclass(frozen=True, slots=True)
class ListPosition(_Bookmark):
    """The last entry before `offset` has the sort key `after`."""

    offset: int
    after: str


@dataclass(frozen=True, slots=True)
class Snapshot(_Bookmark):
    """One chunk of a filtered list: the ids from offset `first` on; the list has `total` ids."""

    first: int
    ids: Sequence[int]
    total: int
    taken_ms: int


# Positions are also cached in the execution environment, which saves the read. They hold only
# keys, no data, and the table's name is part of the cache key.
_cached_positions: OrderedDict[tuple[str, str, int], ListPosition] = OrderedDict()


def cached_position(store: Store, listing: str, offset: int) -> ListPosition | None:
    """Return the cached position of exactly this offset; None when there is none."""
    position = _cached_positions.get((store.table, listing, offset))
    return position if position and now_ms() < position.valid_until else None


def evict_position(store: Store, listing: str, offset: int) -> None:
    """Remove a stale position from the cache."""
    _cached_positions.pop((store.table, listing, offset), None)


def find_position(store: Store, listing: str, offset: int) -> ListPosition | None:
    """Return the nearest stored position at or before an offset: one Query of one item."""
    page = store.query(
        KeyConditionExpression=f"{PARTITION_KEY} = :listing AND {SORT_KEY} <= :offset",
        values={":listing": f"position#{listing}", ":offset": f"{offset:012d}"},
        ScanIndexForward=False,
        Limit=1,
    )
    if not page.items:
        return None
    item = page.items[0]
    return ListPosition(item["state"], int(item["good_until"]), int(item[SORT_KEY]), item["after"])


def cache_position(store: Store, listing: str, position: ListPosition) -> None:
    """Cache a position in this execution environment."""
    _cached_positions[store.table, listing, position.offset] = position
    while len(_cached_positions) > _CACHE_SIZE:
        _cached_positions.popitem(last=False)


def store_position(store: Store, listing: str, position: ListPosition) -> None:
    """Store a position for other execution environments."""
    _put(
        store,
        {
            PARTITION_KEY: f"position#{listing}",
            SORT_KEY: f"{position.offset:012d}",
            "after": position.after,
            "state": position.state,
            "good_until": position.valid_until,
            EXPIRY: (now_ms() + _LIFETIME_MS) // 1000,
        },
    )


def find_snapshot(store: Store, listing: str, offset: int, taken_ms: int | None) -> Snapshot | None:
    """Return the chunk with the id at `offset`, of the snapshot of a time or of the newest one."""
    chunk = f"{offset // _CHUNK:06d}#"
    page = store.query(
        KeyConditionExpression=f"{PARTITION_KEY} = :listing AND {SORT_KEY} BETWEEN :low AND :high",
        values={
            ":listing": f"snapshot#{listing}",
            ":low": chunk if taken_ms is None else f"{chunk}{taken_ms:015d}",
            ":high": f"{chunk}~" if taken_ms is None else f"{chunk}{taken_ms:015d}",
        },
        ScanIndexForward=False,
        Limit=1,
    )
    if not page.items or int(page.items[0][EXPIRY]) * 1000 < now_ms():
        return None
    item = page.items[0]
    return Snapshot(
        first=offset // _CHUNK * _CHUNK,
        ids=json.loads(inflate(item["ids"])),
        total=int(item["total"]),
        taken_ms=int(item[SORT_KEY][len(chunk) :]),
        state=item["state"],
        valid_until=int(item["good_until"]),
    )


def store_snapshot(
    store: Store, listing: str, ids: Sequence[int], state: State, taken_ms: int
) -> None:
    """Store the ids of a filtered list in order."""
    for first in range(0, len(ids), _CHUNK):
        text = json.dumps(ids[first : first + _CHUNK], separators=(",", ":"))
        _put(
            store,
            {
                PARTITION_KEY: f"snapshot#{listing}",
                SORT_KEY: f"{first // _CHUNK:06d}#{taken_ms:015d}",
                "ids": zlib.compress(text.encode(), 6),
                "total": len(ids),
                "state": state.text,
                "good_until": state.valid_until,
                EXPIRY: (now_ms() + _SNAPSHOT_EXPIRY_MS) // 1000,
            },
        )


def _put(store: Store, item: Item) -> None:
    store.client.put_item(TableName=store.table, Item=to_attributes(item))
