"""A queue of the requests that compete for one item.

Requests that change the same item at the same time cancel each other's transactions. From its
second failed attempt on, a request takes a place in the queue of the item, and sends its next
transaction when all places before its own are gone. The transaction deletes the place, so that the
next request finds the commit and the changed item with one read. While more requests wait, each
commit marks the item (QUEUED), and a request that reads the mark takes a place before its first
attempt.

The queue only orders attempts. Every transaction keeps its conditions, so that nothing goes wrong
when a place is lost or two requests believe that it is their turn. The places of requests that
died are removed by those who wait behind them.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from botocore.exceptions import BotoCoreError, ClientError

from shared.kernel.clock import now_ms
from shared.kernel.db.items import Item, Key, item_at, key_of, to_attributes
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.store import Store, key_attributes
from shared.kernel.db.table import EXPIRY, PARTITION_KEY, SORT_KEY

QUEUED = "queued"
"""Attribute of an item: more requests waited for it when it was written."""

_PLACE = "QUEUE#"
_LIFETIME_MS = 30_000
"""Age from which a place is ignored; longer than any invocation."""
_PACE = 0.02
"""Seconds that one request is expected to take, until the queue has shown how long it takes."""
_LONGEST_PAUSE = 0.25
_NEXT_PAUSE = 0.004
"""Seconds between two reads of the request that is next."""
_STUCK = 1.0
"""Seconds without any progress, after which the requests ahead count as dead."""


class QueuePlace:
    """The place of one request in the queue of `item`.

    `has_turn` is whether no other place is before it, `is_followed` whether places were behind it
    when the queue was last read.
    """

    def __init__(self, store: Store, item: Key) -> None:
        self._store = store
        self.item = item
        self.key: Key = (item[0], f"{_PLACE}{now_ms():013d}#{uuid.uuid4().hex}")
        self.has_turn = False
        self.is_followed = False
        place = item_at(self.key, **{EXPIRY: (now_ms() + 2 * _LIFETIME_MS) // 1000})
        store.client.put_item(TableName=store.table, Item=to_attributes(place))

    def wait(self, read_again: Callable[[Sequence[Key]], Mapping[Key, Item]]) -> bool:
        """Wait for the turn; return whether it was necessary.

        `read_again` reads items of the same table, together with those that the request has read
        and that have changed after a wait.

        Raises:
            ServiceUnavailable: The deadline leaves no time for an attempt.
        """
        deadline, ahead = self._store.deadline, self._ahead()
        if not ahead:
            self.has_turn = True
            return False
        moved, pace = deadline.remaining, _PACE
        while ahead:
            # The request that is next finds out first.
            if moved - deadline.remaining > _STUCK + (len(ahead) - 1) / 10:
                map_concurrently(self._remove, ahead)
                break
            if len(ahead) == 1:
                self._store.pause(_NEXT_PAUSE)
                if ahead[0] not in read_again(ahead):
                    self.has_turn = True
                    return True
                continue
            self._store.pause(min(_LONGEST_PAUSE, 0.7 * pace * (len(ahead) - 1)))
            left = self._ahead()
            if left != ahead:
                now = deadline.remaining
                pace = (moved - now) / max(1, len(ahead) - len(left))
                ahead, moved = left, now
        self.has_turn = True
        read_again(())
        return True

    def leave(self) -> None:
        """Delete the place, because the request ended without a commit."""
        self._remove(self.key)

    def _ahead(self) -> list[Key]:
        """Return the keys of the places before this one."""
        page = self._store.query(
            KeyConditionExpression=f"{PARTITION_KEY} = :item AND {SORT_KEY} BETWEEN :low AND :high",
            values={
                ":item": self.item[0],
                ":low": f"{_PLACE}{now_ms() - _LIFETIME_MS:013d}",
                ":high": f"{_PLACE}~",
            },
            ConsistentRead=True,
        )
        places = [key_of(item) for item in page.items]
        self.is_followed = any(place > self.key for place in places)
        return [place for place in places if place < self.key]

    def _remove(self, place: Key) -> None:
        with suppress(BotoCoreError, ClientError):  # it is removed later by those who wait
            self._store.client.delete_item(TableName=self._store.table, Key=key_attributes(place))
