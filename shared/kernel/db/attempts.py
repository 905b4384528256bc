"""The attempts of one use case: when the next one runs, and what it need not read again.

When a commit was refused, the next attempt uses what this one has read of the items that it writes
and of aliases, except what has changed or was read some time ago. It reads other items again, and
after those: a change of a picking, for example, also changes its wave, so whoever writes the wave
relies on pickings that were read after it. When nothing was refused, everything is read again.
Under contention this halves the time of a turn: twenty pickers at one position pick twice as much.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from botocore.exceptions import BotoCoreError, ClientError

from shared.kernel.clock import now_ms
from shared.kernel.db.actions import Action, StaleRead
from shared.kernel.db.aws_errors import cancellation_reasons
from shared.kernel.db.item_queue import QUEUED, QueuePlace
from shared.kernel.db.items import Item, Key, encode, from_attributes
from shared.kernel.db.store import Store, key_attributes

_ENTITY = "HEAD"
"""Sort key of entities. Queues are in their partitions, which nothing reads as a whole."""
_ALIAS = "ALIAS"
"""Sort key of aliases of master data, which fences protect."""
_QUEUE_FROM = 2
"""Number of the refused attempt after which a use case joins the queue of the contended item."""


@dataclass(slots=True)
class _Refusal:
    """What is known from the cancellation of a transaction.

    `written` are the keys of the items that it would have written, `changed` those of items that
    have or may have changed since they were read, `found` those of them that DynamoDB has returned.
    `contended` is the item to queue for, if any.
    """

    written: set[Key]
    changed: set[Key] = field(default_factory=set)
    found: dict[Key, Item] = field(default_factory=dict)
    contended: Key | None = None


class Attempts:
    """What the attempts of one use case share.

    `started_ms` is its start, `ids` are its allocated ids by sequence, `name` is its random name.
    `fences` are the keys of the fences that were read, `kept` those of items that a retry may use
    as they were read although this use case does not write them. `keeps_reads` is whether this
    attempt uses what an earlier one has read, `has_steps` whether a step is committed.

    The store has the cache of what the use case reads. `is_retried` is whether the use case runs
    again after StaleRead, `may_queue` whether it may wait in the queue of a contended item.
    """

    def __init__(
        self, store: Store, *, ids: Mapping[str, list[int]], is_retried: bool, may_queue: bool
    ) -> None:
        self._store = store
        self._is_retried = is_retried
        self._may_queue = is_retried and may_queue
        self.started_ms = now_ms()
        self.ids = dict(ids)
        self.name = uuid.uuid4().hex
        self.fences: set[Key] = set()
        self.kept: set[Key] = set()
        self.keeps_reads = False
        self.has_steps = False
        self._waits = 0
        self._refusals = 0
        self._refusal: _Refusal | None = None
        self._place: QueuePlace | None = None

    def step_committed(self, taken: Mapping[str, int]) -> None:
        """Forget the ids that a committed step has used; the next step begins now."""
        self.started_ms = now_ms()
        self.has_steps = True
        self._waits = self._refusals = 0
        for kind, count in taken.items():
            del self.ids[kind][:count]

    def forget_reads(self) -> None:
        """Forget what was read: the next attempt reads everything."""
        self._store.clear_cache()
        self._refusal = None
        self.fences.clear()
        self.kept.clear()
        self.keeps_reads = False

    # Before a commit

    def await_turn(self, actions: Sequence[Action]) -> None:
        """Wait in the queue of a contended item, if requests wait for it or this one has a place.

        Raises:
            StaleRead: The items have changed meanwhile; the use case runs on what was read again.
            ServiceUnavailable: The deadline passed first.
        """
        if not self._may_queue or (self._place and self._place.has_turn):
            return
        if self._protect_reads(actions):
            return
        if self._place is None:
            queued = [key for key in self._contended(actions) if self._is_queued(key)]
            if not queued:
                return
            self._take_place(min(queued))
        began = now_ms()
        if self._place and self._place.wait(partial(self._read_again, self._read_keys(actions))):
            self.started_ms += now_ms() - began  # the time in the queue does not count
            self._refusal = _Refusal(self._written(actions))
            raise StaleRead

    def leaving(self, actions: Sequence[Action]) -> Action | None:
        """Return the action that gives up the place in a queue; None without a place.

        Marks the contended item among `actions` while requests wait behind the place.
        """
        place = self._place
        if place is None:
            return None
        if place.is_followed:
            for action in actions:
                if "Put" in action.request and action.key(self._store.table) == place.item:
                    action.body["Item"][QUEUED] = encode(True)
        body = {"TableName": self._store.table, "Key": key_attributes(place.key)}
        return Action({"Delete": body}, StaleRead)

    def left_queue(self) -> None:
        """Note that a commit has deleted the place in the queue."""
        self._place = None

    def leave_queue(self) -> None:
        """Give up the place in the queue of a contended item, if any."""
        place, self._place = self._place, None
        if place:
            place.leave()

    # After a refused commit

    def refused(self, actions: Sequence[Action], error: ClientError) -> bool:
        """Note what a cancellation tells; return whether an item has changed since it was read."""
        self._refusal = self._read_reasons(actions, error)
        return bool(self._is_retried and self._refusal and self._refusal.changed)

    def prepare_next(self) -> None:
        """Wait for the next attempt, and read again what may have changed.

        Raises:
            ServiceUnavailable: The deadline leaves no time for another attempt.
        """
        refusal = self._refusal
        if refusal is None or self._store.is_prefetched:
            self._back_off()
            self.forget_reads()
            return
        unknown = refusal.changed - refusal.found.keys()
        if refusal.changed:
            self._refusals += 1
            if refusal.contended and self._place is None and self._refusals >= _QUEUE_FROM:
                self._take_place(refusal.contended)
            elif unknown or self._refusals > 1:
                self._back_off()
        kept = refusal.written | self.fences | self.kept
        self._store.keep_cached(lambda key: key in kept or key[1] == _ALIAS)
        self._store.replace_cached(refusal.found)
        self._read_again(unknown, ())
        self.keeps_reads = True
        self._refusal = None

    def _read_reasons(self, actions: Sequence[Action], error: ClientError) -> _Refusal | None:
        """Return what a cancellation tells about the items; None when nothing can be kept."""
        if self._protect_reads(actions):
            return None
        refusal, table = _Refusal(self._written(actions)), self._store.table
        refused = []
        for action, reason in zip(actions, cancellation_reasons(error), strict=False):
            code, key = reason.get("Code"), action.key(table)
            if code == "ConditionalCheckFailed":
                if action.is_counter or key is None:
                    return None  # master data was retired, or the item is of another table
                refusal.changed.add(key)
                if reason.get("Item"):
                    refusal.found[key] = from_attributes(reason["Item"])
                refused.append(action)
            elif code == "TransactionConflict" and key and not action.is_counter:
                if self._store.is_cached(key):
                    # The other transaction probably writes more of these items.
                    refusal.changed.update(self._read_keys(actions))
                refused.append(action)
        if self._may_queue:
            refusal.contended = min(self._contended(refused), default=None)
        return refusal

    def _back_off(self) -> None:
        self._waits = self._store.back_off(self._waits)

    def _take_place(self, item: Key) -> None:
        # Without a place, the next attempt is only less likely to succeed.
        with suppress(BotoCoreError, ClientError):
            self._place = QueuePlace(self._store, item)

    def _read_again(self, changed: Iterable[Key], also: Sequence[Key]) -> dict[Key, Item]:
        return self._store.read_again(changed, keep=self.fences, also=also)

    # The items of actions

    def _written(self, actions: Sequence[Action]) -> set[Key]:
        keys = (action.key(self._store.table) for action in actions if not action.is_counter)
        return {key for key in keys if key}

    def _read_keys(self, actions: Sequence[Action]) -> list[Key]:
        """Return the keys of the items that these actions write and the use case has read."""
        return [key for key in self._written(actions) if self._store.is_cached(key)]

    def _protect_reads(self, actions: Sequence[Action]) -> bool:
        """Return whether an item that was read may protect others, which must be read after it."""
        return bool(self._read_keys([one for one in actions if one.protects_reads]))

    def _contended(self, actions: Sequence[Action]) -> list[Key]:
        """Return the keys of the entities among the actions, which have queues."""
        return [
            key
            for key in self._read_keys([one for one in actions if "Put" in one.request])
            if key[1] == _ENTITY and "version" in (self._store.cached(key) or {})
        ]

    def _is_queued(self, key: Key) -> bool:
        return QUEUED in (self._store.cached(key) or {})
