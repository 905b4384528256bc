"""Reads of one tenant's table. A Store cannot reach any other tenant."""

import random
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.kernel.clock import Deadline
from shared.kernel.db.claim import Claim
from shared.kernel.db.items import AttributeMap, Item, Key, encode, from_attributes
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.schema import TableVersion, current_version
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from shared.kernel.errors import ServiceUnavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

_BATCH = 100
"""Keys that one BatchGetItem takes."""

_DEFAULT_DEADLINE_MS = 25_000
_ANSWER_SECONDS = 0.5
"""Time that one more call needs; a long read ends with 503 instead of a time-out."""


def key_attributes(key: Key) -> AttributeMap:
    """Return a key in the form of the DynamoDB API."""
    return {PARTITION_KEY: {"S": key[0]}, SORT_KEY: {"S": key[1]}}


@dataclass(frozen=True, slots=True)
class QueryPage:
    """The items of one Query, and the key where the next one starts (None at the end)."""

    items: list[Item]
    last_key: AttributeMap | None


class Store:
    """A tenant's table during one request.

    `version` is the version of its schema; by default that of a new table. `claim` is the claim of
    the request's Idempotency-Key; None when the request has none. Every transaction on this store
    and its copies depends on it.
    """

    __slots__ = ("_read", "claim", "client", "deadline", "outbox", "slug", "table", "version")

    def __init__(  # noqa: PLR0913  the facts of one table
        self,
        client: "DynamoDBClient",
        *,
        slug: str,
        table: str,
        outbox: str,
        deadline: Deadline | None = None,
        version: TableVersion | None = None,
    ) -> None:
        self.client = client
        self.slug = slug
        self.table = table
        self.outbox = outbox
        self.deadline = deadline or Deadline(_DEFAULT_DEADLINE_MS)
        self.version = version or current_version()
        self.claim: Claim | None = None
        self._read: dict[Key, Item | None] | None = None

    def repeatable(self) -> "Store":
        """Return the same table with a cache: every read of one key returns the same item.

        A change that reads an item more than once then decides on the same state that its
        transaction is conditioned on.
        """
        store = self.uncached()
        store._read = {}  # noqa: SLF001 - it is one of ours
        return store

    def claimed(self, claim: Claim | None) -> "Store":
        """Return the same table without a cache, whose transactions depend on `claim`."""
        store = Store(
            self.client,
            slug=self.slug,
            table=self.table,
            outbox=self.outbox,
            deadline=self.deadline,
            version=self.version,
        )
        store.claim = claim
        return store

    def uncached(self) -> "Store":
        """Return the same table without a cache, for steps with transactions of their own."""
        return self.claimed(self.claim)

    def clear_cache(self) -> None:
        """Drop cached items, because steps of the same change have been committed."""
        if self._read is not None:
            self._read = {}

    def add_to_cache(self, found: Mapping[Key, Item | None]) -> None:
        """Add items that were read for several changes together."""
        if self._read is not None:
            self._read.update(found)

    def get(self, key: Key) -> Item | None:
        """Read one item, strongly consistent."""
        return self.get_cached(key, lambda: self._get(key))

    def get_cached(self, key: Key, read: Callable[[], Item | None]) -> Item | None:
        """Return the cached result of `read`, for example an item of another table.

        `key` must differ from the key of every item of this table.
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
        """Read items by key, strongly consistent, 100 per call, with concurrent calls.

        Args:
            keys: The keys; the result leaves out keys that do not exist.
            uncached: Read all keys again, also cached ones.
        """
        wanted = list(dict.fromkeys(keys))
        if self._read is None:
            return self._get_many(wanted)
        if uncached:
            self._read.update(self._with_gaps(wanted))
        else:
            unknown = [key for key in wanted if key not in self._read]
            for key, item in self._with_gaps(unknown).items():
                # Another thread of the same change may have cached the item first.
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
        """Run one Query on the table; `values` are plain Python values."""
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
        """Wait before a retry, with exponential backoff and full jitter; keep the claim meanwhile.

        Returns:
            The number of the next attempt.

        Raises:
            ServiceUnavailable: The deadline leaves no time for another attempt.
        """
        wait = random.uniform(0, min(1.0, 0.02 * 2**attempt))  # noqa: S311 - jitter, no secret
        if self.deadline.remaining < wait + _ANSWER_SECONDS:
            raise ServiceUnavailable
        if self.claim:
            self.claim.keep(self.client)
        time.sleep(wait)
        return attempt + 1
