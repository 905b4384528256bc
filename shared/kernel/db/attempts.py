"""How a use case is retried: one protocol of transaction, attempts, cache and queue.

`run_transaction` runs a use case in attempts until one commits. An attempt is in one state:

- running: The use case reads through the cache of its store, and adds writes. Then waiting.
- waiting: If the use case has or needs a place in a queue, it waits for its turn. Then sent, or
  running again if it had to wait.
- sent: The transaction is sent again while throttling, or conflicts at items that were not read,
  cancel it. Then committed, or refused.
- refused: A condition failed, there was a conflict at an item that was read, or the attempt began
  three seconds ago. Then running again; failed when the deadline leaves no time.
- committed or failed: The use case has no place in a queue any more.

What the next attempt knows. Nothing is used as an earlier attempt has read it. When a transaction
was refused, the items that it says are as they were read (`Action.as_read`: entities by version,
new keys by absence) are read again in one call, with those that the use case has named with
`Transaction.read_first`. The use case reads all others again when it asks for them, and so after
those: a change of a picking also changes its wave, so whoever writes the wave relies on pickings
that were read after it. When nothing was refused (the use case raised StaleRead), when a fence was
invalidated, or an item of another table has changed, the use case reads everything when it asks for
it. Kept are ids, the random name, the start, and the place in a queue.

What a use case may rely on. Within an attempt each key has one value, however often it is read.
What is committed was decided on items that still are as they were read, or that are protected by a
condition on an item that was read before them, such as a fence. A use case must have no effect but
its writes, and must keep no result of one attempt for the next.

The queue. After its second refused attempt a use case takes a place in the queue of the contended
entity (`shared.kernel.db.item_queue`), and before its first one if the entity is marked. The queue
orders the attempts, and nothing else depends on it. Without it, twenty pickers of one position send
four times as many transactions. Without the one call, they pick half as much.
"""

import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from botocore.exceptions import BotoCoreError, ClientError

from shared.kernel.clock import now_ms
from shared.kernel.db.actions import Action, StaleRead
from shared.kernel.db.aws_errors import cancellation_reasons, has_transient_reason
from shared.kernel.db.claim import claim_lost
from shared.kernel.db.item_queue import QUEUED, QueuePlace
from shared.kernel.db.items import Key, encode
from shared.kernel.db.store import Store, key_attributes

_ENTITY = "HEAD"
"""Sort key of entities. Queues are in their partitions, which nothing reads as a whole."""
_QUEUE_FROM = 2
"""Number of the refused attempt after which a use case joins the queue of the contended item."""


@dataclass(frozen=True, slots=True)
class _Refusal:
    """A transaction that was not committed, and is retried.

    `first` are the keys of the items that the next attempt reads first, and `is_current` is whether
    they are read already. `contended` is the item to queue for, if any; `conflicts` is whether
    another transaction was under way at an item that was read.
    """

    first: Sequence[Key]
    is_current: bool = False
    contended: Key | None = None
    conflicts: bool = False


def raise_if_final(actions: Sequence[Action], error: ClientError) -> None:
    """Raise the error of a cancelled transaction, unless it is to be sent again."""
    codes = [reason.get("Code", "None") for reason in cancellation_reasons(error)]
    failed = [
        action.on_condition_failed
        for action, code in zip(actions, codes, strict=False)
        if code == "ConditionalCheckFailed"
    ]
    if failed:
        # Without the claim, what the other conditions say is the work of the request that has it.
        final = claim_lost if claim_lost in failed else failed[0]
        raise final() from error
    if not has_transient_reason(error):
        raise error


class Attempts:
    """What the attempts of one use case share.

    `started_ms` is its start, `ids` are its allocated ids by sequence, `name` is its random name.
    `named` are the keys of items that a use case has named to be read first by the next attempt,
    `has_steps` is whether a step is committed, `progress` what the last one has recorded.
    `is_first` is whether the use case runs for the first time.

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
        self.named: set[Key] = set()
        self.has_steps = False
        self.is_first = True
        self.progress: bytes | None = None
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
        self.named.clear()

    # Before a commit

    def await_turn(self, actions: Sequence[Action]) -> None:
        """Wait in the queue of a contended item, if requests wait for it or this one has a place.

        Raises:
            StaleRead: The items have changed meanwhile; the use case runs on what was read again.
            ServiceUnavailable: The deadline passed first.
        """
        if not self._may_queue or (self._place and self._place.has_turn):
            return
        if self._place is None:
            queued = [key for key in self._contended(actions) if self._is_queued(key)]
            if not queued:
                return
            self._take_place(min(queued))
        began, first = now_ms(), self._first(actions)
        if self._place and self._place.wait(partial(self._store.read_again, first)):
            self.started_ms += now_ms() - began  # the time in the queue does not count
            self._refusal = _Refusal(first, is_current=True)
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
        """Note what a cancellation tells; return whether it conflicts at an item that was read."""
        refused, is_read_busy, is_unknown = list[Action](), False, False
        for action, reason in zip(actions, cancellation_reasons(error), strict=False):
            code, key = reason.get("Code"), action.key(self._store.table)
            if code == "ConditionalCheckFailed":
                is_unknown |= action.is_counter or key is None
                refused.append(action)
            elif code == "TransactionConflict" and key and not action.is_counter:
                is_read_busy |= self._store.is_cached(key)
                refused.append(action)
        contended = self._contended(refused) if self._may_queue else []
        self._refusal = (
            None
            if is_unknown  # master data was retired, or an item of another table has changed
            else _Refusal(
                self._first(actions),
                contended=min(contended, default=None),
                conflicts=is_read_busy,
            )
        )
        return self._is_retried and is_read_busy

    def prepare_next(self) -> None:
        """Wait for the next attempt, and read what it needs first.

        Raises:
            ServiceUnavailable: The deadline leaves no time for another attempt.
        """
        self.is_first = False
        refusal, self._refusal = self._refusal, None
        if refusal is None:
            self._back_off()
            self.forget_reads()
            return
        self._store.keep_cached(refusal.first)
        if refusal.is_current:
            return
        self._refusals += 1
        if refusal.contended and self._place is None and self._refusals >= _QUEUE_FROM:
            self._take_place(refusal.contended)
        elif refusal.conflicts or self._refusals > 1:
            self._back_off()
        self._store.read_again(refusal.first)

    def _back_off(self) -> None:
        self._waits = self._store.back_off(self._waits)

    def _take_place(self, item: Key) -> None:
        # Without a place, the next attempt is only less likely to succeed.
        with suppress(BotoCoreError, ClientError):
            self._place = QueuePlace(self._store, item)

    # The items of actions

    def _first(self, actions: Sequence[Action]) -> list[Key]:
        """Return the keys of the read items that an attempt after these actions reads first."""
        named = (key for key in self.named if self._store.is_cached(key))
        return list(dict.fromkeys([*self._as_read(actions), *named]))

    def _as_read(self, actions: Sequence[Action]) -> list[Key]:
        """Return the keys of the read items that these actions say are as they were read."""
        keys = (action.key(self._store.table) for action in actions if action.as_read)
        return [key for key in keys if key and self._store.is_cached(key)]

    def _contended(self, actions: Sequence[Action]) -> list[Key]:
        """Return the keys of the entities among the actions, which have queues."""
        return [
            key
            for key in self._as_read([one for one in actions if "Put" in one.request])
            if key[1] == _ENTITY and "version" in (self._store.cached(key) or {})
        ]

    def _is_queued(self, key: Key) -> bool:
        return QUEUED in (self._store.cached(key) or {})
