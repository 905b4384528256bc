"""All writes of a use case in one TransactWriteItems.

A crash at any point leaves either nothing or everything. Each action says which error its failed
condition stands for: a refusal for the caller, or `StaleRead`, after which the use case runs again
on fresh reads (`shared.kernel.db.unit_of_work`).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Unpack

from shared.kernel.clock import Instant, instant, now_ms
from shared.kernel.company import Company
from shared.kernel.db.actions import (
    MAX_ACTIONS,
    MAX_PLANNED_ACTIONS,
    Action,
    ActionOptions,
    Cost,
    ErrorFactory,
    GatheredChanges,
    StaleRead,
    Verb,
    action_of,
    addition_to_set,
)
from shared.kernel.db.attempts import Attempts
from shared.kernel.db.claim import claim_lost
from shared.kernel.db.counters import (
    CounterChange,
    fenced_shards,
    random_shard,
    shard_key,
)
from shared.kernel.db.fences import read_fence
from shared.kernel.db.items import (
    Item,
    Key,
    from_attributes,
    key_of,
    to_attributes,
    update_of,
    without_key,
)
from shared.kernel.db.outbox_item import Author, OutboxItems
from shared.kernel.db.sending import send
from shared.kernel.db.sequences import allocate_ids
from shared.kernel.db.store import Store, key_attributes
from shared.kernel.db.table import PARTITION_KEY
from shared.kernel.observability import bound_route

if TYPE_CHECKING:
    from shared.kernel.caller import Caller
    from shared.kernel.sent_request import SentRequest


class Transaction:
    """Collects the writes of one use case and commits them at once.

    `now` is the time of the change, `now_ms` the same in milliseconds; every timestamp of the
    change uses it. `caller` makes the change, or else the operator whose name `operator` returns.
    `request_name` names a request under an Idempotency-Key, or other work that may be repeated: the
    same for every retry and repeat, never that of another one; else None. When the store has a
    claim, the commit raises DuplicateInFlight once another request has taken it over. `request` is
    the request of an API caller that it carries out; None for other work, such as an import.
    `ids` are allocated already, by sequence. When the use case `is_retried`, whoever catches
    StaleRead calls `retry` and runs it again; it then waits in the queue of a contended item if it
    `may_queue`.
    """

    def __init__(  # noqa: PLR0913 - the facts of one change
        self,
        store: Store,
        *,
        caller: "Caller | None" = None,
        operator: Callable[[], str] | None = None,
        request_name: str | Callable[[], str] | None = None,
        ids: Mapping[str, list[int]] | None = None,
        is_retried: bool = False,
        may_queue: bool = True,
    ) -> None:
        self.store = store.repeatable()
        self.caller = caller
        self.operator = operator
        self._request_name = request_name
        self.request: SentRequest | None = None
        self._read_twice: set[str] = set()
        self._attempts = Attempts(
            self.store, ids=ids or {}, is_retried=is_retried, may_queue=may_queue
        )
        self._begin()

    def _begin(self) -> None:
        self._shard = random_shard()
        self.now_ms = now_ms()
        self.now: Instant = instant(self.now_ms)
        self.store.company = self.store.company.at(self.now_ms)
        self._taken: dict[str, int] = {}
        self._actions: list[Action] = []
        self._counters: dict[str, CounterChange] = {}
        self._additions: dict[tuple[Key, str], set[int]] = {}
        self._ends_claim = False
        self._seen_names: set[str] = set()
        self._after_step: list[Callable[[], object]] = []
        self._progress: bytes | None = None
        self.outbox = OutboxItems(self.store, self.now_ms, self._author)
        self.gathered: dict[str, GatheredChanges] = {}
        """Changes that the commit writes; until then, every part of a use case may add some."""

    @property
    def request_name(self) -> str | None:
        """The name of the request or other work, or None."""
        name = self._request_name
        return name() if callable(name) else name

    @property
    def _author(self) -> Author:
        """Who makes the change; `system` is the service itself."""
        if self.caller:
            return Author(self.caller.actor_type, self.caller.subject, bound_route())
        return Author("operator" if self.operator else "system", None)

    @property
    def company(self) -> Company:
        """The company at the time of the change: its settings, its time zone and its day."""
        return self.store.company

    def read_twice(self, doubt: str) -> None:
        """Raise StaleRead the first time, so that the next attempt reads everything again.

        `doubt` names two reads that contradict each other. One of them may be older than a change
        that the other one shows; in the second attempt, both are newer than that.
        """
        if doubt not in self._read_twice:
            self._read_twice.add(doubt)
            raise StaleRead

    def put(
        self, item: Item, *, table: str | None = None, **options: Unpack[ActionOptions]
    ) -> None:
        """Write an item; replaces an existing one unless the condition fails."""
        body = {"TableName": table or self.store.table, "Item": to_attributes(item)}
        self._add("Put", body, **options)

    def insert(
        self, item: Item, *, on_condition_failed: ErrorFactory = StaleRead, table: str | None = None
    ) -> None:
        """Write an item whose key must not exist."""
        self.put(
            item,
            condition=f"attribute_not_exists({PARTITION_KEY})",
            on_condition_failed=on_condition_failed,
            as_read=True,
            table=table,
        )

    def replace(self, item: Item, *, version: int) -> None:
        """Replace an item if it still has `version`; 0 if it must not exist.

        Attributes that are None are removed. Those that only another release knows stay.
        """
        if version:
            expression, names, values = update_of(without_key(item))
            self.update(
                key_of(item),
                expression,
                condition="version = :seen",
                names=names,
                values={**values, ":seen": version},
                as_read=True,
            )
        else:
            self.insert(item)

    def check(
        self, key: Key, *, version: int | None = None, **options: Unpack[ActionOptions]
    ) -> None:
        """Make the commit depend on an item that it does not write.

        It must have the `version` that was read, or else fulfil the condition.
        """
        if version is not None:
            values = {":seen": version}
            options |= {"condition": "version = :seen", "values": values, "as_read": True}
        self._add("ConditionCheck", self._place(key), **options)

    def end_claim(self, item: Item) -> None:
        """Replace the claim of the store by `item`; the commit depends on the claim as always."""
        claim = self.store.claim
        assert claim is not None  # noqa: S101 - the request has one, or nothing to end
        self._ends_claim = True
        body = {"TableName": claim.table, "Item": to_attributes(item), **claim.condition()}
        self.add_action("Put", body, claim_lost)

    def delete(self, key: Key, **options: Unpack[ActionOptions]) -> None:
        """Delete an item."""
        self._add("Delete", self._place(key), **options)

    def update(self, key: Key, expression: str, **options: Unpack[ActionOptions]) -> None:
        """Update an item in place."""
        self._add("Update", {**self._place(key), "UpdateExpression": expression}, **options)

    def add_action(
        self, verb: Verb, body: dict[str, Any], on_condition_failed: ErrorFactory = StaleRead
    ) -> None:
        """Add an action on any table; `body` is in the form of the DynamoDB API."""
        self._actions.append(Action({verb: body}, on_condition_failed))

    def add_to_set(self, key: Key, name: str, number: int) -> None:
        """Add a number to a number set of an item; all additions to one set are one action.

        The commit raises StaleRead when the item does not exist.
        """
        self._additions.setdefault((key, name), set()).add(number)

    def count(
        self,
        kind: str,
        changes: Mapping[str, int],
        *,
        shards: int | None = None,
        within: str | None = None,
    ) -> None:
        """Add `changes` (name → difference) to the totals of a kind.

        `shards` is the number of items that hold the totals, if not the usual one; `within` is the
        kind whose items hold them, if not its own. See `shared.kernel.db.counters`.
        """
        self._counter(within or kind, shards).add(kind, changes, within)

    def fence(self, kind: str, ahead: Iterable[Key] = ()) -> None:
        """Make the commit fail with StaleRead when master data is retired from now on.

        Call it before reading the master data that the change refers to, or with the keys of it
        (`ahead`), which are read into the cache in the same call. It costs one read: the
        condition is part of the counter update that creating a `kind` needs anyway. A change that
        creates or removes none, nor one that is counted within it, does not check it. See
        `shared.kernel.db.fences`.
        """
        self._shard %= len(fenced_shards())
        change = self._counter(kind)
        change.shard = self._shard
        change.fence = read_fence(self.store, shard_key(kind, change.shard), ahead)

    def read_first(self, keys: Iterable[Key]) -> None:
        """Let a retry read these items in the one call with which it begins.

        Only for items that need not be read after those that this change writes.
        """
        self._attempts.named.update(keys)

    def next_id(self, kind: str) -> int:
        """Return the next id of a sequence.

        Ids rise and are never used twice; a change that fails leaves a gap. A retry of the use
        case gets the same ids again.
        """
        self.reserve_ids(kind, 1)
        turn = self._taken.get(kind, 0)
        self._taken[kind] = turn + 1
        return self._attempts.ids[kind][turn]

    def ids_taken(self, kind: str) -> int:
        """Return how many ids of a sequence this change uses."""
        return self._taken.get(kind, 0)

    @property
    def unused_ids(self) -> Mapping[str, list[int]]:
        """The reserved ids that this change does not use, by sequence.

        Another transaction may use them if this one is never committed.
        """
        return {kind: ids[self.ids_taken(kind) :] for kind, ids in self._attempts.ids.items()}

    def reserve_ids(self, kind: str, count: int) -> None:
        """Allocate the ids of the next `count` calls of `next_id` in one call of the database."""
        reserved = self._attempts.ids.setdefault(kind, [])
        missing = self._taken.get(kind, 0) + count - len(reserved)
        if missing > 0:
            first = allocate_ids(self.store, kind, missing)
            reserved.extend(range(first, first + missing))

    def is_first(self, name: str) -> bool:
        """Return whether this is the first call with `name` in this change."""
        known = name in self._seen_names
        self._seen_names.add(name)
        return not known

    @property
    def cost(self) -> Cost:
        """What the transaction takes so far."""
        sizes = [one.size for one in self._all_actions()] + [one.size for one in self.outbox.items]
        return self._gathered_cost + Cost(len(sizes), sum(sizes))

    @property
    def _gathered_cost(self) -> Cost:
        return sum((one.cost() for one in self.gathered.values()), Cost())

    @property
    def free_actions(self) -> int:
        """Number of actions that may still be planned for the transaction."""
        count = len(self._all_actions()) + len(self.outbox.items)
        return MAX_PLANNED_ACTIONS - count - self._gathered_cost.actions - self.store.is_claimed

    @property
    def is_empty(self) -> bool:
        """Whether nothing is added, and the transaction is not bound to any fence."""
        added = self._actions or self._counters or self._additions or self.outbox.items
        return not (added or self._gathered_cost.actions)

    @property
    def has_steps(self) -> bool:
        """Whether the use case has committed a step, also a request that this one repeats."""
        claim = self.store.claim
        return self._attempts.has_steps or (claim is not None and claim.has_steps)

    @property
    def progress(self) -> bytes | None:
        """What the last committed step has recorded, also of a request that this one repeats."""
        claim = self.store.claim
        return self._attempts.progress or (claim.progress if claim else None)

    def record_progress(self, progress: bytes) -> None:
        """Record with this step what the next ones need; under an Idempotency-Key, in its claim."""
        self._progress = progress

    @property
    def written_items(self) -> Mapping[Key, Item | None]:
        """The items that the transaction puts, as they are after its commit, by key.

        None for one that it changes otherwise. Totals are left out.
        """
        found: dict[Key, Item | None] = {}
        for action in self._actions:
            key = action.key(self.store.table)
            if key and "ConditionCheck" not in action.request:
                put = action.request.get("Put")
                found[key] = from_attributes(put["Item"]) if put else None
        return found

    @property
    def may_read_late(self) -> bool:
        """Whether the use case may read items eventually consistent that it only writes as read.

        A write of an item in an older state is refused. The next attempt reads what there is now,
        as the first one does after a step, which has written a moment ago.
        """
        return self._attempts.is_first and not self._attempts.has_steps

    @property
    def elapsed_ms(self) -> int:
        """Milliseconds since the first attempt of the use case."""
        return now_ms() - self._attempts.started_ms

    @property
    def use_case_id(self) -> str:
        """Name of this use case, the same for all its attempts.

        It is random, except under an Idempotency-Key: a repeat of the request has the same name,
        so that it takes over what a killed attempt has marked as its own.
        """
        return self.request_name or self._attempts.name

    def commit(self) -> None:
        """Write everything or nothing.

        A call whose answer was lost is sent again with the same client request token, so it is
        applied once. When conflicts last long, the use case is retried: `shared.kernel.db.sending`.

        Raises:
            DuplicateInFlight: Another request has taken over the claim of this one.
            StaleRead: A condition failed whose action names no other error.
            ServiceUnavailable: Conflicts or throttling lasted until the deadline.
            Exception: The error of the first failed condition, from `on_condition_failed`.
        """
        gathered, self.gathered = list(self.gathered.values()), {}
        try:
            self._commit(gathered)
        except Exception:
            for changes in gathered:
                changes.refused()
            raise
        for changes in gathered:
            changes.committed()

    def _commit(self, gathered: Iterable[GatheredChanges]) -> None:
        for changes in gathered:
            changes.write()
        for added in self.outbox.items:
            self.insert(added.item(), table=self.store.outbox)
        self.outbox.items.clear()
        actions, attempts, claim = self._all_actions(), self._attempts, self.store.claim
        if not actions:
            attempts.leave_queue()
            return
        if self.store.slot:  # a refusal must mean that nothing is committed
            self.store.slot.waive()
        attempts.await_turn(actions)
        has_room = len(actions) + bool(claim) < MAX_ACTIONS
        leaving = attempts.leaving(actions) if has_room else None
        if leaving:
            actions.append(leaving)
        if claim is None or self._ends_claim:
            send(self.store, attempts, actions, self.now_ms)
        else:
            sent_ms = now_ms()
            # What the use case itself commits before its response is a step.
            with_step = self._request_name is not None
            renewal = claim.renewal_with_step(self._progress) if with_step else claim.renewal()
            renewed = [*actions, Action({"Update": renewal}, claim_lost)]
            send(self.store, attempts, renewed, self.now_ms)
            claim.renewed_ms = sent_ms
        if leaving:
            attempts.left_queue()
        attempts.leave_queue()

    def retry(self) -> None:
        """Wait for the next attempt of the use case after StaleRead, and begin it.

        Raises:
            ServiceUnavailable: The deadline leaves no time for another attempt.
        """
        self._attempts.prepare_next()
        self._begin()

    def leave_queue(self) -> None:
        """Give up the place in the queue of a contended item, if any: nothing will be committed."""
        self._attempts.leave_queue()

    def commit_step(self) -> None:
        """Commit what is added, and begin the next transaction of the same use case.

        See `shared.kernel.db.steps`.

        Raises:
            Exception: What `commit` raises; then everything is still there.
        """
        self.commit()
        self._attempts.step_committed(self._taken)
        self._attempts.progress = self._progress or self._attempts.progress
        for call in self._after_step:
            call()
        self.discard()

    def after_step(self, call: Callable[[], object]) -> None:
        """Call `call` once this step is committed; a step that is run again forgets it."""
        self._after_step.append(call)

    def discard(self) -> None:
        """Forget what is added and what was read, and begin again at the present time."""
        self._attempts.forget_reads()
        self._begin()

    def _counter(self, kind: str, shards: int | None = None) -> CounterChange:
        shard = self._shard % shards if shards else self._shard
        return self._counters.setdefault(kind, CounterChange(shard))

    def _all_actions(self) -> list[Action]:
        additions = [
            addition_to_set(self._place(key), name, numbers)
            for (key, name), numbers in self._additions.items()
        ]
        counts = [
            self._count_action(*entry) for entry in self._counters.items() if entry[1].prefixes
        ]
        return [*self._actions, *additions, *counts]

    def _count_action(self, kind: str, change: CounterChange) -> Action:
        body = {**self._place(shard_key(kind, change.shard)), **change.expressions(self.now_ms)}
        return Action({"Update": body}, StaleRead, is_counter=True)

    def _place(self, key: Key) -> dict[str, Any]:
        """Return the table and the key of an action on an item of this table."""
        return {"TableName": self.store.table, "Key": key_attributes(key)}

    def _add(self, verb: Verb, body: dict[str, Any], **options: Unpack[ActionOptions]) -> None:
        self._actions.append(action_of(verb, body, options))
