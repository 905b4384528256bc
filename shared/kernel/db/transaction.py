"""All writes of a use case in one TransactWriteItems.

A crash at any point leaves either nothing or everything. Each action says which error its failed
condition stands for: a refusal for the caller, or `StaleRead`, after which the use case runs again
on fresh reads (`shared.kernel.db.unit_of_work`).
"""

import uuid
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as BotocoreConnectionError

from shared.kernel.clock import Instant, instant, now_ms
from shared.kernel.db.counters import (
    CounterChange,
    FenceValue,
    fenced_shards,
    random_shard,
    shard_key,
)
from shared.kernel.db.item_queue import QUEUED, Place
from shared.kernel.db.items import Item, Key, encode, from_attributes, size_of, to_attributes
from shared.kernel.db.store import Store, key_attributes
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from shared.kernel.errors import Conflict, DuplicateInFlight
from shared.kernel.fields import MAX_ID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.kernel.caller import Caller

MAX_ACTIONS = 100
"""Actions that DynamoDB allows in one transaction."""
MAX_PLANNED_ACTIONS = 80
"""Actions that an operation may plan, so that a new counter, event or mark needs no new design.

`tests/integration/test_transaction_margins.py` plays every operation at its largest size.
"""
_STALE_MS = 3_000
_ENTITY = "HEAD"
"""Sort key of entities. Queues are in their partitions, which nothing reads as a whole."""
_ALIAS = "ALIAS"
"""Sort key of aliases of master data, which fences protect."""
_OWN_CONDITIONS = ("version = ", f"attribute_not_exists({PARTITION_KEY})")
_QUEUE_FROM = 2
"""Number of the failed attempt after which a use case joins the queue of the contended item."""

_TRANSIENT_REASONS = frozenset(
    {"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"}
)
_TRANSIENT_ERRORS = frozenset(
    {
        "InternalServerError",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestTimeout",
        "ServiceUnavailable",
        "ThrottlingException",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)


def is_transient(error: Exception) -> bool:
    """Return whether an error of AWS is temporary: throttling, conflict, lost connection."""
    if isinstance(error, ClientError):
        return error.response["Error"]["Code"] in _TRANSIENT_ERRORS
    return isinstance(error, BotocoreConnectionError | HTTPClientError)


def is_missing_table(error: Exception) -> bool:
    """Return whether the table does not exist: the tenant was deleted during the request."""
    return (
        isinstance(error, ClientError)
        and error.response["Error"]["Code"] == "ResourceNotFoundException"
    )


class StaleRead(Exception):
    """A condition failed because another request changed the item; read it again and retry."""


type ErrorFactory = Callable[[], Exception]
"""Returns the error to raise when the condition of an action fails."""

type Verb = Literal["Put", "Update", "Delete", "ConditionCheck"]


@dataclass(frozen=True, slots=True)
class Cost:
    """What something takes of a transaction: actions, and bytes of items."""

    actions: int = 0
    size: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        """Return what both take together."""
        return Cost(self.actions + other.actions, self.size + other.size)


@dataclass(slots=True)
class _Action:
    request: dict[str, Any]
    on_condition_failed: ErrorFactory
    is_counter: bool = False

    @property
    def body(self) -> dict[str, Any]:
        """The action without its verb."""
        body: dict[str, Any]
        ((_, body),) = self.request.items()
        return body

    def key(self, table: str) -> Key | None:
        """Return the key of the item in this table; None for an item of another table."""
        body = self.body
        if body["TableName"] != table:
            return None
        key = body["Item"] if "Item" in body else body["Key"]
        return (key[PARTITION_KEY]["S"], key[SORT_KEY]["S"])

    @property
    def protects_others(self) -> bool:
        """Whether its condition may stand for more than the item that it writes.

        The version of an item that is put, or its absence, says that this item is as it was read.
        Another condition, such as the epoch of a fence, may protect everything that was read after
        it.
        """
        condition: str = self.body.get("ConditionExpression", "")
        if self.is_counter or not condition:
            return False
        return "Put" not in self.request or not condition.startswith(_OWN_CONDITIONS)

    @property
    def size(self) -> int:
        """Bytes of the item that is put, or of the key and the values of another action."""
        ((verb, body),) = self.request.items()
        if verb == "Put":
            return size_of(body["Item"])
        return size_of(body["Key"]) + size_of(body.get("ExpressionAttributeValues", {}))


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


@dataclass(slots=True)
class RetryState:
    """What the attempts of one use case share.

    Its start, its allocated ids and its name; the number of waits and of refused commits; whether
    it may queue for a contended item, and its place in the queue.
    """

    started_ms: int = field(default_factory=now_ms)
    ids: dict[str, list[int]] = field(default_factory=dict)
    use_case_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    attempt: int = 0
    refusals: int = 0
    may_queue: bool = True
    place: Place | None = None

    def step_committed(self, taken: Mapping[str, int]) -> None:
        """Forget the ids that a committed step has used, and restart the clock of `elapsed_ms`."""
        self.started_ms = now_ms()
        self.attempt = self.refusals = 0
        for kind, count in taken.items():
            del self.ids[kind][:count]


class Transaction:
    """Collects the writes of one use case and commits them at once.

    `now` is the time of the change, `now_ms` the same in milliseconds; every timestamp of the
    change uses it. `caller` makes the change, or else the operator whose name `operator` returns.
    `request_name` names a request under an Idempotency-Key, or other work that may be repeated: the
    same for every retry and repeat, never that of another one; else None. When the store has a
    claim, the commit raises DuplicateInFlight once another request has taken it over.
    With a `retry_state`, whoever catches StaleRead calls `retry` and runs the use case again.
    """

    def __init__(
        self,
        store: Store,
        *,
        caller: "Caller | None" = None,
        operator: Callable[[], str] | None = None,
        request_name: str | None = None,
        retry_state: RetryState | None = None,
    ) -> None:
        self.store = store.repeatable()
        self.caller = caller
        self.operator = operator
        self.request_name = request_name
        self._retry_state = retry_state or RetryState()
        self._is_retried = retry_state is not None
        self._fences: set[Key] = set()
        self._kept: set[Key] = set()
        self._keeps_reads = False
        self._shard = random_shard()
        self._begin()

    def _begin(self) -> None:
        self.now_ms = now_ms()
        self.now: Instant = instant(self.now_ms)
        self._taken: dict[str, int] = {}
        self._actions: list[_Action] = []
        self._counters: dict[str, CounterChange] = {}
        self._additions: dict[tuple[Key, str], set[int]] = {}
        self._ends_claim = False
        self._named: set[str] = set()
        self._after_step: list[Callable[[], object]] = []
        self._refusal: _Refusal | None = None

    def put(  # noqa: PLR0913 - the parts of one action
        self,
        item: Item,
        *,
        condition: str | None = None,
        names: Mapping[str, str] | None = None,
        values: Mapping[str, Any] | None = None,
        on_condition_failed: ErrorFactory = StaleRead,
        table: str | None = None,
    ) -> None:
        """Write an item; replaces an existing one unless the condition fails."""
        body = {"TableName": table or self.store.table, "Item": to_attributes(item)}
        self._add("Put", body, condition, names, values, on_condition_failed)

    def insert(
        self, item: Item, *, on_condition_failed: ErrorFactory = StaleRead, table: str | None = None
    ) -> None:
        """Write an item whose key must not exist."""
        condition = f"attribute_not_exists({PARTITION_KEY})"
        self.put(item, condition=condition, on_condition_failed=on_condition_failed, table=table)

    def end_claim(self, item: Item) -> None:
        """Replace the claim of the store by `item`; the commit depends on the claim as always."""
        claim = self.store.claim
        assert claim is not None  # noqa: S101 - the request has one, or nothing to end
        self._ends_claim = True
        body = {"TableName": claim.table, "Item": to_attributes(item), **claim.condition()}
        self.add_action("Put", body, _claim_lost)

    def delete(
        self,
        key: Key,
        *,
        condition: str | None = None,
        values: Mapping[str, Any] | None = None,
        on_condition_failed: ErrorFactory = StaleRead,
    ) -> None:
        """Delete an item."""
        body = {"TableName": self.store.table, "Key": key_attributes(key)}
        self._add("Delete", body, condition, None, values, on_condition_failed)

    def update(  # noqa: PLR0913 - the parts of one UpdateItem
        self,
        key: Key,
        expression: str,
        *,
        condition: str | None = None,
        names: Mapping[str, str] | None = None,
        values: Mapping[str, Any] | None = None,
        on_condition_failed: ErrorFactory = StaleRead,
    ) -> None:
        """Update an item in place."""
        body = {
            "TableName": self.store.table,
            "Key": key_attributes(key),
            "UpdateExpression": expression,
        }
        self._add("Update", body, condition, names, values, on_condition_failed)

    def add_action(
        self, verb: Verb, body: dict[str, Any], on_condition_failed: ErrorFactory = StaleRead
    ) -> None:
        """Add an action on any table; `body` is in the form of the DynamoDB API."""
        self._actions.append(_Action({verb: body}, on_condition_failed))

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
        """Add `changes` to the totals of a kind; see `shared.kernel.db.counters`.

        Args:
            kind: The kind.
            changes: Name of a total → difference.
            shards: Number of items that hold the totals, if not the usual one.
            within: The kind whose items hold the totals, if not its own.
        """
        self._counter(within or kind, shards).add(kind, changes, within)

    def fence(self, kind: str) -> None:
        """Make the commit fail with StaleRead when master data is retired from now on.

        Call it before reading the master data that the change refers to. It costs one read: the
        condition is part of the counter update that creating a `kind` needs anyway. A retry keeps
        the shard and its fence value, which thus protects what earlier attempts have read. See
        `shared.kernel.db.fences`.
        """
        self._shard %= len(fenced_shards())
        change = self._counter(kind)
        change.shard = self._shard
        key = shard_key(kind, change.shard)
        if self._keeps_reads and key not in self._fences:
            raise StaleRead  # an earlier attempt may have read the master data before the fence
        self._fences.add(key)
        item = self.store.get(key)
        change.fence = FenceValue((item or {}).get("epoch"))

    def keep_on_retry(self, keys: Iterable[Key]) -> None:
        """Let a retry use these items as they were read, even if this change does not write them.

        Only for items on which nothing depends that is not also conditioned.
        """
        self._kept.update(keys)

    def next_id(self, kind: str) -> int:
        """Return the next id of a sequence.

        Ids rise and are never used twice; a change that fails leaves a gap. A retry of the use
        case gets the same ids again.
        """
        self.reserve_ids(kind, 1)
        turn = self._taken.get(kind, 0)
        self._taken[kind] = turn + 1
        return self._retry_state.ids[kind][turn]

    def ids_taken(self, kind: str) -> int:
        """Return how many ids of a sequence this change uses."""
        return self._taken.get(kind, 0)

    def reserve_ids(self, kind: str, count: int) -> None:
        """Allocate the ids of the next `count` calls of `next_id` in one call of the database."""
        drawn = self._retry_state.ids.setdefault(kind, [])
        missing = self._taken.get(kind, 0) + count - len(drawn)
        if missing > 0:
            first = allocate_ids(self.store, kind, missing)
            drawn.extend(range(first, first + missing))

    def mark_once(self, name: str) -> bool:
        """Return whether this is the first call with `name` in this change."""
        known = name in self._named
        self._named.add(name)
        return not known

    @property
    def action_count(self) -> int:
        """How many actions are added."""
        return len(self._all_actions())

    @property
    def cost(self) -> Cost:
        """What the transaction takes so far."""
        actions = self._all_actions()
        return Cost(len(actions), sum(action.size for action in actions))

    @property
    def free_actions(self) -> int:
        """Number of actions that may still be planned for the transaction."""
        return MAX_PLANNED_ACTIONS - self.action_count - bool(self.store.claim)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is added, and the transaction is not bound to any fence."""
        return not (self._actions or self._counters or self._additions)

    @property
    def elapsed_ms(self) -> int:
        """Milliseconds since the first attempt of the use case."""
        return now_ms() - self._retry_state.started_ms

    @property
    def use_case_id(self) -> str:
        """Name of this use case, the same for all its attempts.

        It is random, except under an Idempotency-Key: a repeat of the request has the same name,
        so that it takes over what a killed attempt has marked as its own.
        """
        return self.request_name or self._retry_state.use_case_id

    def commit(self) -> None:
        """Write everything or nothing.

        A call whose answer was lost is sent again with the same client request token, so it is
        applied once. When conflicts last longer than _STALE_MS, the use case is retried, so that
        the change does not become visible with an old timestamp: a client that polls by
        `updated_since` would miss it.

        Raises:
            DuplicateInFlight: Another request has taken over the claim of this one.
            StaleRead: A condition failed whose action names no other error.
            ServiceUnavailable: Conflicts or throttling lasted until the deadline.
            Exception: The error of the first failed condition, from `on_condition_failed`.
        """
        actions = self._all_actions()
        if not actions:
            self.leave_queue()
            return
        self._await_turn(actions)
        claim, place = self.store.claim, self._retry_state.place
        leaves = place is not None and len(actions) + bool(claim) < MAX_ACTIONS
        if place and leaves:
            actions.append(self._leaving(place, actions))
        if claim is None or self._ends_claim:
            self._send(actions)
        else:
            sent_ms = now_ms()
            self._send([*actions, _Action({"Update": claim.renewal()}, _claim_lost)])
            claim.renewed_ms = sent_ms
        if leaves:
            self._retry_state.place = None
        self.leave_queue()

    def _await_turn(self, actions: "Sequence[_Action]") -> None:
        """Wait in the queue of a contended item, if requests wait for it or this one has a place.

        Raises:
            StaleRead: The items have changed meanwhile; the use case runs on what was read again.
            ServiceUnavailable: The deadline passed first.
        """
        state = self._retry_state
        if not self._is_retried or not state.may_queue or (state.place and state.place.has_turn):
            return
        if self._protects_reads(actions):
            return
        if state.place is None:
            queued = [key for key in self._contended(actions) if _is_queued(self.store.cached(key))]
            if not queued:
                return
            self._take_place(min(queued))
        began = now_ms()
        if state.place and state.place.wait(partial(self._read_again, self._read_keys(actions))):
            state.started_ms += now_ms() - began  # `elapsed_ms` does not count the queue
            self._refusal = _Refusal(self._written(actions))
            raise StaleRead

    def _leaving(self, place: Place, actions: "Sequence[_Action]") -> _Action:
        """Return the action that gives up a place; mark its item while requests wait behind it."""
        if place.is_followed:
            for action in actions:
                if "Put" in action.request and action.key(self.store.table) == place.item:
                    action.body["Item"][QUEUED] = encode(True)
        body = {"TableName": self.store.table, "Key": key_attributes(place.key)}
        return _Action({"Delete": body}, StaleRead)

    def _written(self, actions: "Sequence[_Action]") -> set[Key]:
        keys = (action.key(self.store.table) for action in actions if not action.is_counter)
        return {key for key in keys if key}

    def _read_keys(self, actions: "Sequence[_Action]") -> list[Key]:
        """Return the keys of the items that these actions write and the use case has read."""
        return [key for key in self._written(actions) if self.store.is_cached(key)]

    def _protects_reads(self, actions: "Sequence[_Action]") -> bool:
        """Return whether an item that was read may protect others, which must be read after it."""
        return bool(self._read_keys([one for one in actions if one.protects_others]))

    def _contended(self, actions: "Sequence[_Action]") -> list[Key]:
        """Return the keys of the entities among the actions, which have queues."""
        return [
            key
            for key in self._read_keys([one for one in actions if "Put" in one.request])
            if key[1] == _ENTITY and "version" in (self.store.cached(key) or {})
        ]

    def _send(self, actions: "Sequence[_Action]") -> None:
        """Send the transaction until it is committed, or refused for what it has read."""
        requests = [action.request for action in actions]
        if len(requests) > MAX_ACTIONS:
            message = f"{len(requests)} actions in one transaction; split the use case into steps"
            raise AssertionError(message)
        token = uuid.uuid4().hex
        attempt = 0
        while True:
            try:
                self.store.client.transact_write_items(
                    TransactItems=requests,  # type: ignore[arg-type]
                    ClientRequestToken=token,
                )
            except self.store.client.exceptions.TransactionCanceledException as error:
                self._refusal = self._refused(actions, error)
                _raise_if_final(actions, error)
                is_changed = self._is_retried and self._refusal and self._refusal.changed
                if is_changed or now_ms() - self.now_ms > _STALE_MS:
                    raise StaleRead from error
            except (ClientError, BotocoreConnectionError, HTTPClientError) as error:
                if not is_transient(error):
                    raise
            else:
                return
            attempt = self.store.back_off(attempt)

    def _refused(self, actions: "Sequence[_Action]", error: ClientError) -> _Refusal | None:
        """Return what a cancellation tells about the items; None when nothing can be kept."""
        if self._protects_reads(actions):
            return None
        refusal, table = _Refusal(self._written(actions)), self.store.table
        refused = []
        for action, reason in zip(actions, _reasons(error), strict=False):
            code, key = reason.get("Code"), action.key(table)
            if code == "ConditionalCheckFailed":
                if action.is_counter or key is None:
                    return None  # master data was retired, or the item is of another table
                refusal.changed.add(key)
                if reason.get("Item"):
                    refusal.found[key] = from_attributes(reason["Item"])
                refused.append(action)
            elif code == "TransactionConflict" and key and not action.is_counter:
                if self.store.is_cached(key):
                    # The other transaction probably writes more of these items.
                    refusal.changed.update(self._read_keys(actions))
                refused.append(action)
        if self._retry_state.may_queue:
            refusal.contended = min(self._contended(refused), default=None)
        return refusal

    def retry(self) -> None:
        """Wait for the next attempt of the use case after StaleRead, and begin it.

        When a commit was refused, the next attempt uses what this one has read of the items that it
        writes and of aliases, except what has changed or was read some time ago. It reads other
        items again, and after those: a change of a picking, for example, also changes its wave, so
        whoever writes the wave relies on pickings that were read after it. When nothing was
        refused, it reads everything again.

        Raises:
            ServiceUnavailable: The deadline leaves no time for another attempt.
        """
        refusal, state = self._refusal, self._retry_state
        if refusal is None or self.store.is_prefetched:
            state.attempt = self.store.back_off(state.attempt)
            self.discard()
            return
        unknown = refusal.changed - refusal.found.keys()
        if refusal.changed:
            state.refusals += 1
            if refusal.contended and state.place is None and state.refusals >= _QUEUE_FROM:
                self._take_place(refusal.contended)
            elif unknown or state.refusals > 1:
                state.attempt = self.store.back_off(state.attempt)
        kept = refusal.written | self._fences | self._kept
        self.store.keep_cached(lambda key: key in kept or key[1] == _ALIAS)
        self.store.replace_cached(refusal.found)
        self._read_again(unknown, ())
        self._keeps_reads = True
        self._begin()

    def _take_place(self, item: Key) -> None:
        # Without a place, the next attempt is only less likely to succeed.
        with suppress(BotoCoreError, ClientError):
            self._retry_state.place = Place(self.store, item)

    def _read_again(self, changed: Iterable[Key], also: "Sequence[Key]") -> dict[Key, Item]:
        return self.store.read_again(changed, keep=self._fences, also=also)

    def leave_queue(self) -> None:
        """Give up the place in the queue of a contended item, if any: nothing will be committed."""
        place, self._retry_state.place = self._retry_state.place, None
        if place:
            place.leave()

    def commit_step(self) -> None:
        """Commit what is added, and begin the next transaction of the same use case.

        See `shared.kernel.db.steps`. Raises what `commit` raises; then everything is still there.
        """
        self.commit()
        self._retry_state.step_committed(self._taken)
        for call in self._after_step:
            call()
        self.discard()

    def after_step(self, call: Callable[[], object]) -> None:
        """Call `call` once this step is committed; a step that is run again forgets it."""
        self._after_step.append(call)

    def discard(self) -> None:
        """Forget what is added and what was read, and begin again at the present time."""
        self.store.clear_cache()
        self._fences.clear()
        self._kept.clear()
        self._keeps_reads = False
        self._shard = random_shard()
        self._begin()

    def _counter(self, kind: str, shards: int | None = None) -> CounterChange:
        shard = self._shard % shards if shards else self._shard
        return self._counters.setdefault(kind, CounterChange(shard))

    def _all_actions(self) -> list[_Action]:
        counts = [
            self._count_action(*entry) for entry in self._counters.items() if entry[1].prefixes
        ]
        additions = [self._addition(*entry) for entry in self._additions.items()]
        return [*self._actions, *additions, *counts]

    def _addition(self, where: tuple[Key, str], numbers: set[int]) -> _Action:
        key, name = where
        body = {
            "TableName": self.store.table,
            "Key": key_attributes(key),
            "UpdateExpression": "ADD #set :numbers",
            "ConditionExpression": f"attribute_exists({PARTITION_KEY})",
            "ExpressionAttributeNames": {"#set": name},
            "ExpressionAttributeValues": {":numbers": encode(numbers)},
        }
        return _Action({"Update": body}, StaleRead)

    def _count_action(self, kind: str, change: CounterChange) -> _Action:
        body = {
            "TableName": self.store.table,
            "Key": key_attributes(shard_key(kind, change.shard)),
            **change.expressions(self.now_ms),
        }
        return _Action({"Update": body}, StaleRead, is_counter=True)

    def _add(  # noqa: PLR0913, PLR0917 - the parts of one action
        self,
        verb: str,
        body: dict[str, Any],
        condition: str | None,
        names: Mapping[str, str] | None,
        values: Mapping[str, Any] | None,
        on_condition_failed: ErrorFactory,
    ) -> None:
        if condition:
            body["ConditionExpression"] = condition
            if on_condition_failed is StaleRead and body["TableName"] == self.store.table:
                body["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        if names:
            body["ExpressionAttributeNames"] = dict(names)
        if values:
            body["ExpressionAttributeValues"] = {
                name: encode(value) for name, value in values.items()
            }
        self._actions.append(_Action({verb: body}, on_condition_failed))


def _is_queued(item: Item | None) -> bool:
    return item is not None and QUEUED in item


def _claim_lost() -> Exception:
    return DuplicateInFlight(1)


def _reasons(error: ClientError) -> "Sequence[Mapping[str, Any]]":
    reasons: Sequence[Mapping[str, Any]] = error.response.get("CancellationReasons", [])
    return reasons


def _raise_if_final(actions: "Sequence[_Action]", error: ClientError) -> None:
    """Raise the error of a cancelled transaction, unless it is to be sent again."""
    codes = [reason.get("Code", "None") for reason in _reasons(error)]
    failed = [
        action.on_condition_failed
        for action, code in zip(actions, codes, strict=False)
        if code == "ConditionalCheckFailed"
    ]
    if failed:
        # Without the claim, what the other conditions say is the work of the request that has it.
        final = _claim_lost if _claim_lost in failed else failed[0]
        raise final() from error
    if not any(code in _TRANSIENT_REASONS for code in codes):
        raise error


def last_id(store: Store, kind: str) -> int:
    """Return the last allocated id of a sequence; 0 before the first."""
    item = store.get(("sequence", kind))
    return int(item["last"]) if item else 0


def allocate_ids(store: Store, kind: str, count: int) -> int:
    """Allocate `count` ids of a sequence in one call; return the first.

    Raises:
        Conflict: The ids of the kind are used up.
    """
    answer = store.client.update_item(
        TableName=store.table,
        Key=key_attributes(("sequence", kind)),
        UpdateExpression="ADD #last :count",
        ExpressionAttributeNames={"#last": "last"},
        ExpressionAttributeValues={":count": {"N": str(count)}},
        ReturnValues="UPDATED_NEW",
    )
    last = int(answer["Attributes"]["last"]["N"])
    if last > MAX_ID:
        message = f"No more can be created: the ids of this kind end at {MAX_ID}."
        raise Conflict(message)
    return last - count + 1
