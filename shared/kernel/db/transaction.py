"""The one way to write: every change of a request in one TransactWriteItems.

A crash at any point leaves nothing or everything. Each action names what its failed
condition means: a refusal for the caller, or `StaleRead`, after which the use case is
decided again on what is there now (`shared.kernel.db.unit_of_work`).
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from botocore.exceptions import ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as BotocoreConnectionError

from shared.kernel.clock import Instant, instant, now_ms
from shared.kernel.db.counters import SHARDS, CounterChange, FenceValue, random_shard, shard_key
from shared.kernel.db.items import Item, Key, encode, to_attributes
from shared.kernel.db.store import Store, key_attributes
from shared.kernel.db.table import PARTITION_KEY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.kernel.caller import Caller

MAX_ACTIONS = 100
_STALE_MS = 3_000

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
    """Tell errors of AWS that pass by themselves: throttling, conflicts, lost connections."""
    if isinstance(error, ClientError):
        return error.response["Error"]["Code"] in _TRANSIENT_ERRORS
    return isinstance(error, BotocoreConnectionError | HTTPClientError)


def is_missing_table(error: Exception) -> bool:
    """Tell that a table is not there: its tenant was deleted since the request was let in."""
    return (
        isinstance(error, ClientError)
        and error.response["Error"]["Code"] == "ResourceNotFoundException"
    )


class StaleRead(Exception):
    """A condition failed because someone else was faster: decide again."""


type ErrorFactory = Callable[[], Exception]
"""Makes the error that a failed condition stands for."""

type Verb = Literal["Put", "Update", "Delete", "ConditionCheck"]


@dataclass(slots=True)
class _Action:
    request: dict[str, Any]
    on_condition_failed: ErrorFactory


@dataclass(slots=True)
class RetryState:
    """What survives when a use case is decided again: its start, its ids, its own name."""

    started_ms: int = field(default_factory=now_ms)
    ids: dict[str, list[int]] = field(default_factory=dict)
    attempt_id: str = field(default_factory=lambda: uuid.uuid4().hex)

    def step_committed(self, taken: Mapping[str, int]) -> None:
        """Forget the ids that a committed step has used, and restart the clock of `elapsed_ms`."""
        self.started_ms = now_ms()
        for kind, count in taken.items():
            del self.ids[kind][:count]


class Transaction:
    """Collects the writes of one use case and commits them at once.

    `now` is the time of the change, `now_ms` the same in milliseconds; every
    timestamp of the change uses it. `request` names the caller's request, the same each
    time it is sent under its Idempotency-Key; None when it has none.
    """

    def __init__(
        self,
        store: Store,
        *,
        caller: "Caller | None" = None,
        idempotency_record: str | None = None,
        retry_state: RetryState | None = None,
    ) -> None:
        self.store = store.repeatable()
        self.caller = caller
        self.idempotency_record = idempotency_record
        self._retry_state = retry_state or RetryState()
        self._begin()

    def _begin(self) -> None:
        self.now_ms = now_ms()
        self.now: Instant = instant(self.now_ms)
        self._taken: dict[str, int] = {}
        self._actions: list[_Action] = []
        self._counters: dict[str, CounterChange] = {}
        self._additions: dict[tuple[Key, str], set[int]] = {}
        self._named: set[str] = set()
        self._shard = random_shard()

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
        """Write an item, replacing what is there unless the condition forbids it."""
        body = {"TableName": table or self.store.table, "Item": to_attributes(item)}
        self._add("Put", body, condition, names, values, on_condition_failed)

    def insert(
        self, item: Item, *, on_condition_failed: ErrorFactory = StaleRead, table: str | None = None
    ) -> None:
        """Write an item whose key must be free."""
        condition = f"attribute_not_exists({PARTITION_KEY})"
        self.put(item, condition=condition, on_condition_failed=on_condition_failed, table=table)

    def delete(
        self,
        key: Key,
        *,
        condition: str | None = None,
        values: Mapping[str, Any] | None = None,
        on_condition_failed: ErrorFactory = StaleRead,
    ) -> None:
        """Remove an item."""
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
        """Change an item in place."""
        body = {
            "TableName": self.store.table,
            "Key": key_attributes(key),
            "UpdateExpression": expression,
        }
        self._add("Update", body, condition, names, values, on_condition_failed)

    def add_action(
        self, verb: Verb, body: dict[str, Any], on_condition_failed: ErrorFactory = StaleRead
    ) -> None:
        """Add an action on another table, as the DynamoDB interface has it."""
        self._actions.append(_Action({verb: body}, on_condition_failed))

    def add_to_set(self, key: Key, name: str, number: int) -> None:
        """Add a number to a set of an item; several of one set are one action.

        StaleRead when the item is gone.
        """
        self._additions.setdefault((key, name), set()).add(number)

    def count(self, kind: str, changes: Mapping[str, int]) -> None:
        """Add differences to the totals of a collection; see `shared.kernel.db.counters`."""
        self._counter(kind).add(changes)

    def fence(self, kind: str) -> None:
        """Bind this change to the master data as it is now.

        Call it before reading the master data that the change will name; if any of it
        is retired before the commit, the change is decided again. Costs one read: the
        condition rides on the counter that creating a `kind` writes anyway.
        """
        change = self._counter(kind)
        item = self.store.get(shard_key(kind, change.shard))
        change.fence = FenceValue((item or {}).get("epoch"))

    def invalidate_fences(self, kind: str) -> None:
        """Overtake every change that has read master data for a `kind` and not committed yet."""
        for shard in range(SHARDS):
            self.update(
                shard_key(kind, shard),
                "ADD #epoch :one",
                names={"#epoch": "epoch"},
                values={":one": 1},
            )

    def next_id(self, kind: str) -> int:
        """Take the next id of a sequence.

        Ids rise and are never given twice; a change that fails leaves a gap. A use case
        that is decided again gets the ids it drew the first time.
        """
        self.reserve_ids(kind, 1)
        turn = self._taken.get(kind, 0)
        self._taken[kind] = turn + 1
        return self._retry_state.ids[kind][turn]

    def ids_taken(self, kind: str) -> int:
        """How many ids of a sequence this change uses."""
        return self._taken.get(kind, 0)

    def reserve_ids(self, kind: str, count: int) -> None:
        """Draw the ids that `count` calls of `next_id` will take, in one call of the database."""
        drawn = self._retry_state.ids.setdefault(kind, [])
        missing = self._taken.get(kind, 0) + count - len(drawn)
        if missing > 0:
            first = allocate_ids(self.store, kind, missing)
            drawn.extend(range(first, first + missing))

    def is_first_use(self, name: str) -> bool:
        """Tell whether it is the first time in this change that this is asked of a name."""
        known = name in self._named
        self._named.add(name)
        return not known

    @property
    def staged_actions(self) -> int:
        """How many actions are staged."""
        return len(self._all_actions())

    @property
    def free_actions(self) -> int:
        """How many actions still fit."""
        return MAX_ACTIONS - self.staged_actions

    @property
    def is_empty(self) -> bool:
        """Whether nothing is staged, and the transaction is not bound to any fence."""
        return not (self._actions or self._counters or self._additions)

    @property
    def elapsed_ms(self) -> int:
        """How long this use case has been running, over all times it was decided."""
        return now_ms() - self._retry_state.started_ms

    @property
    def attempt_id(self) -> str:
        """Name of this run of a use case, the same each time it is decided again."""
        return self._retry_state.attempt_id

    def commit(self) -> None:
        """Write everything, or nothing.

        Raises what the first failed condition stands for, ServiceUnavailable when
        conflicts or throttling outlast the deadline. A call whose answer was lost is
        sent again under the same token, so it is applied once. When conflicts last, the
        use case is decided again, so that what appears does not bear an old time: those
        who follow `updated_at` would miss it.
        """
        requests = [action.request for action in self._all_actions()]
        if not requests:
            return
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
                self._raise_if_final(error.response.get("CancellationReasons", []), error)
                if now_ms() - self.now_ms > _STALE_MS:
                    raise StaleRead from error
            except (ClientError, BotocoreConnectionError, HTTPClientError) as error:
                if not is_transient(error):
                    raise
            else:
                return
            attempt = self.store.back_off(attempt)

    def commit_step(self) -> None:
        """Commit what is staged, and begin the next transaction of the same use case.

        See `shared.kernel.db.steps`. Raises what `commit` raises; then everything is still staged.
        """
        self.commit()
        self._retry_state.step_committed(self._taken)
        self.discard()

    def discard(self) -> None:
        """Forget what is staged and what was read, and begin again at the present time."""
        self.store.clear_cache()
        self._begin()

    def _raise_if_final(self, reasons: "Sequence[Mapping[str, Any]]", error: ClientError) -> None:
        codes = [reason.get("Code", "None") for reason in reasons]
        for action, code in zip(self._all_actions(), codes, strict=False):
            if code == "ConditionalCheckFailed":
                raise action.on_condition_failed() from error
        if not any(code in _TRANSIENT_REASONS for code in codes):
            raise error

    def _counter(self, kind: str) -> CounterChange:
        return self._counters.setdefault(kind, CounterChange(self._shard))

    def _all_actions(self) -> list[_Action]:
        counts = [
            self._count_action(*entry) for entry in self._counters.items() if entry[1].has_changes
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
        return _Action({"Update": body}, StaleRead)

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
        if names:
            body["ExpressionAttributeNames"] = dict(names)
        if values:
            body["ExpressionAttributeValues"] = {
                name: encode(value) for name, value in values.items()
            }
        self._actions.append(_Action({verb: body}, on_condition_failed))


def allocate_ids(store: Store, kind: str, count: int) -> int:
    """Reserve `count` ids of a sequence in one call; the first of them."""
    answer = store.client.update_item(
        TableName=store.table,
        Key=key_attributes(("sequence", kind)),
        UpdateExpression="ADD #last :count",
        ExpressionAttributeNames={"#last": "last"},
        ExpressionAttributeValues={":count": {"N": str(count)}},
        ReturnValues="UPDATED_NEW",
    )
    return int(answer["Attributes"]["last"]["N"]) - count + 1
