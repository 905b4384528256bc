"""Reads of one tenant's table. Whoever holds a Store can reach no other tenant."""

import random
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.kernel.clock import Deadline
from shared.kernel.db.items import AttributeMap, Item, Key, encode, from_attributes
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from shared.kernel.errors import ServiceUnavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

_BATCH = 100
"""Keys that one BatchGetItem takes."""

_DEFAULT_DEADLINE_MS = 25_000
_ANSWER_SECONDS = 0.5
"""Time that must be left for one more call; long reads end with 503 rather than cut off."""


def key_attributes(key: Key) -> AttributeMap:
    """A key as the DynamoDB interface has it."""
    return {PARTITION_KEY: {"S": key[0]}, SORT_KEY: {"S": key[1]}}


@dataclass(frozen=True, slots=True)
class QueryPage:
    """One answer of Query: its items, and where it stopped (None at the end)."""

    items: list[Item]
    last_key: AttributeMap | None


class Store:
    """A tenant's table for the length of one request."""

    __slots__ = ("_read", "client", "deadline", "outbox", "slug", "table")

    def __init__(
        self,
        client: "DynamoDBClient",
        *,
        slug: str,
        table: str,
        outbox: str,
        deadline: Deadline | None = None,
    ) -> None:
        self.client = client
        self.slug = slug
        self.table = table
        self.outbox = outbox
        self.deadline = deadline or Deadline(_DEFAULT_DEADLINE_MS)
        self._read: dict[Key, Item | None] | None = None

    def repeatable(self) -> "Store":
        """The same table, read so that one key gives one answer, however it is read.

        For a change that looks at an item more than once: what it decides on and what
        its transaction is conditioned on is then the same state.
        """
        store = Store(
            self.client,
            slug=self.slug,
            table=self.table,
            outbox=self.outbox,
            deadline=self.deadline,
        )
        store._read = {}
        return store

    def uncached(self) -> "Store":
        """The same table, every read made anew: for steps that are transactions of their own."""
        store = self.repeatable()
        store._read = None  # noqa: SLF001 - it is one of ours
        return store

    def clear_cache(self) -> None:
        """Read everything anew from now on: steps of the same change have been committed."""
        if self._read is not None:
            self._read = {}

    def add_to_cache(self, found: Mapping[Key, Item | None]) -> None:
        """Take what was read a moment ago as read: for changes that were prepared together."""
        if self._read is not None:
            self._read.update(found)

    def get(self, key: Key) -> Item | None:
        """Read one item, strongly consistent."""
        return self.get_cached(key, lambda: self._get(key))

    def get_cached(self, key: Key, read: Callable[[], Item | None]) -> Item | None:
        """Read something else, such as an item of another table, as `get` reads an item.

        `key` names it as no item of this table is named.
        """
        if self._read is None:
            return read()
        if key not in self._read:
            self._read.setdefault(key, read())
        return self._read[key]

    def _get(self, key: Key) -> Item | None:
        answer = self.client.get_item(
            TableName=self.table, Key=key_attributes(key), ConsistentRead=True
        )
        found = answer.get("Item")
        return from_attributes(found) if found else None

    def get_many(self, keys: Iterable[Key], *, uncached: bool = False) -> dict[Key, Item]:
        """Read items by key, strongly consistent, 100 a call, the calls at once.

        `anew`: also what was read already.
        """
        wanted = list(dict.fromkeys(keys))
        if self._read is None:
            return self._get_many(wanted)
        if uncached:
            self._read.update(self._with_gaps(wanted))
        else:
            unknown = [key for key in wanted if key not in self._read]
            for key, item in self._with_gaps(unknown).items():
                # Another thread of the same change may have been first.
                self._read.setdefault(key, item)
        return {key: item for key in wanted if (item := self._read[key]) is not None}

    def _with_gaps(self, keys: list[Key]) -> dict[Key, Item | None]:
        found = self._get_many(keys)
        return {key: found.get(key) for key in keys}

    def _get_many(self, keys: list[Key]) -> dict[Key, Item]:
        batches = [keys[at : at + _BATCH] for at in range(0, len(keys), _BATCH)]
        found: dict[Key, Item] = {}
        for items in map_concurrently(self._get_batch, batches):
            for item in items:
                found[item[PARTITION_KEY], item[SORT_KEY]] = item
        return found

    def _get_batch(self, keys: list[Key]) -> list[Item]:
        pending: Mapping[str, Any] = {
            self.table: {"Keys": [key_attributes(key) for key in keys], "ConsistentRead": True}
        }
        items: list[Item] = []
        attempt = 0
        while pending:
            answer = self.client.batch_get_item(RequestItems=pending)
            items += [from_attributes(item) for item in answer["Responses"].get(self.table, [])]
            pending = answer.get("UnprocessedKeys") or {}
            if pending and not answer["Responses"].get(self.table):
                attempt = self.back_off(attempt)
        return items

    def query(self, **arguments: Any) -> QueryPage:
        """Make one Query on the table; `values` are plain and are encoded here."""
        if self.deadline.remaining < _ANSWER_SECONDS:
            raise ServiceUnavailable
        values = {name: encode(value) for name, value in arguments.pop("values").items()}
        answer = self.client.query(
            TableName=self.table, ExpressionAttributeValues=values, **arguments
        )
        return QueryPage(
            items=[from_attributes(item) for item in answer["Items"]],
            last_key=answer.get("LastEvaluatedKey"),
        )

    def back_off(self, attempt: int) -> int:
        """Wait before a retry, with full jitter, inside the deadline; the next attempt's number.

        Raises ServiceUnavailable when the deadline leaves no time for another try.
        """
        wait = random.uniform(0, min(1.0, 0.02 * 2**attempt))  # noqa: S311 - jitter, no secret
        if self.deadline.remaining < wait + _ANSWER_SECONDS:
            raise ServiceUnavailable
        time.sleep(wait)
        return attempt + 1
