"""Reads of one tenant's table. A Store cannot reach any other tenant."""

import random
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from itertools import batched, chain
from typing import TYPE_CHECKING, Any, Protocol

from shared.kernel.clock import Deadline
from shared.kernel.company import Company
from shared.kernel.db.aws_errors import is_transient
from shared.kernel.db.claim import ANSWER_SECONDS, Claim, ClaimUnderWay
from shared.kernel.db.items import AttributeMap, Item, Key, encode, from_attributes, key_of
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.schema import TableVersion, current_version
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from shared.kernel.errors import ServiceUnavailable, UnservedTable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

_BATCH = 100
"""Keys that one BatchGetItem takes."""

_DEFAULT_DEADLINE_MS = 25_000


def key_attributes(key: Key) -> AttributeMap:
    """Return a key in the form of the DynamoDB API."""
    return {PARTITION_KEY: {"S": key[0]}, SORT_KEY: {"S": key[1]}}


@dataclass(frozen=True, slots=True)
class QueryPage:
    """The items of one Query, and the key where the next one starts (None at the end)."""

    items: list[Item]
    last_key: AttributeMap | None


@dataclass(slots=True)
class _Cache:
    """What a use case has read: items of the table, and what is read elsewhere, by key."""

    items: dict[Key, Item | None] = field(default_factory=dict)
    elsewhere: dict[Key, Item | None] = field(default_factory=dict)


class Slot(Protocol):
    """What a request needs to go on when it is slow: `shared.http.slow_requests`."""

    def take_if_slow(self) -> None:
        """Take the slot if the request is slow; raise a ServiceError if none is free."""

    def take(self) -> None:
        """Take the slot; raise a ServiceError if none is free."""

    def waive(self) -> None:
        """Let the request go on without a slot, because it changes something from now on."""


class Store:
    """A tenant's table during one request.

    `company` is the tenant. `version` is the version of its schema; by default that of a new table.
    Every transaction on this store and its copies depends on `claim`. `kept_claim` is one that
    waits renew while no transaction depends on it. `client_before_claim` is for what may be in
    vain: reads, and ids. `slot` is asked for before each read, for the copies, too; None for work
    that needs no slot.
    """

    __slots__ = (
        "_cache",
        "_claim",
        "client_before_claim",
        "company",
        "deadline",
        "kept_claim",
        "outbox",
        "slot",
        "table",
        "version",
    )

    def __init__(  # noqa: PLR0913  the facts of one table
        self,
        client: "DynamoDBClient",
        *,
        company: Company,
        table: str,
        outbox: str,
        deadline: Deadline | None = None,
        version: TableVersion | None = None,
    ) -> None:
        self.client_before_claim = client
        self.company = company
        self.table = table
        self.outbox = outbox
        self.deadline = deadline or Deadline(_DEFAULT_DEADLINE_MS)
        self.version = version or current_version()
        self._claim: ClaimUnderWay | None = None
        self.kept_claim: Claim | None = None
        self.slot: Slot | None = None
        self._cache: _Cache | None = None

    @property
    def claim(self) -> Claim | None:
        """The claim of the request's Idempotency-Key, once it is written.

        Raises what `ClaimUnderWay.held` raises.
        """
        return self._claim.held if self._claim else None

    @property
    def is_claimed(self) -> bool:
        """Whether the request has a claim, or waits for one."""
        return self._claim is not None

    @property
    def client(self) -> "DynamoDBClient":
        """The client of DynamoDB for writes; it waits for the claim."""
        if self._claim:
            self._claim.held  # noqa: B018 - raises unless the request holds it
        return self.client_before_claim

    @client.setter
    def client(self, client: "DynamoDBClient") -> None:
        self.client_before_claim = client

    @property
    def slug(self) -> str:
        """The slug of the tenant."""
        return self.company.slug

    def ensure_version(self, needed: int, what: str) -> None:
        """Raise UnservedTable if not every item has what `what` needs, before an upgrade."""
        version = self.version.complete
        if needed > version:
            raise UnservedTable(
                f"{what} needs version {needed} of the table of {self.slug}, which has version "
                f"{version} until its upgrade is completed."
            )

    def repeatable(self) -> "Store":
        """Return the same table with a cache: every read of one key returns the same item.

        A change that reads an item more than once then decides on the same state that its
        transaction is conditioned on.
        """
        store = self.uncached()
        store._cache = _Cache()  # noqa: SLF001 - a copy of this object
        return store

    def claimed(self, claim: ClaimUnderWay | None) -> "Store":
        """Return the same table without a cache, whose transactions depend on `claim`."""
        store = copy(self)
        store._claim, store._cache = claim, None  # noqa: SLF001 - a copy of this object
        return store

    def beside_claim(self) -> "Store":
        """Return the same table without a cache, for transactions that only keep the claim.

        There may be several at once, which would conflict at the claim if they depended on it.
        """
        store = self.claimed(None)
        store.kept_claim = self.claim or self.kept_claim
        return store

    def uncached(self) -> "Store":
        """Return the same table without a cache, for steps with transactions of their own."""
        return self.claimed(self._claim)

    def clear_cache(self) -> None:
        """Drop cached items, because steps of the same change have been committed."""
        if self._cache is not None:
            self._cache = _Cache()

    def add_to_cache(self, found: Mapping[Key, Item | None]) -> None:
        """Add items that were read some time ago, for several changes together."""
        if self._cache is not None:
            self._cache.items.update(found)

    def cached(self, key: Key) -> Item | None:
        """Return an item as it was read; None when it was not read or does not exist."""
        return self._cache.items.get(key) if self._cache else None

    def is_cached(self, key: Key) -> bool:
        """Return whether the item with this key was read, even if it does not exist."""
        return self._cache is not None and key in self._cache.items

    def keep_cached(self, keys: Collection[Key]) -> None:
        """Forget what was read, except the items with these keys."""
        if self._cache is not None:
            known = self._cache.items
            self._cache = _Cache({key: known[key] for key in keys if key in known})

    def read_again(self, keys: Sequence[Key], also: Iterable[Key] = ()) -> dict[Key, Item]:
        """Read cached items again in one call, together with `also`, which is not cached."""
        found = self._get_many(list(dict.fromkeys([*also, *keys])))
        if self._cache is not None:
            self._cache.items.update({key: found.get(key) for key in keys})
        return found

    def get(self, key: Key) -> Item | None:
        """Read one item, strongly consistent."""
        if self._cache is None:
            return self._get(key)
        return _cached(self._cache.items, key, lambda: self._get(key))

    def get_cached(self, key: Key, read: Callable[[], Item | None]) -> Item | None:
        """Return the cached result of `read`, for example an item of another table."""
        if self._cache is None:
            return read()
        return _cached(self._cache.elsewhere, key, read)

    def _take_slot_if_slow(self) -> None:
        if self.slot:
            self.slot.take_if_slow()

    def take_slot(self) -> None:
        """Take a slot before work that takes long without reading."""
        if self.slot:
            self.slot.take()

    def _get(self, key: Key) -> Item | None:
        self._take_slot_if_slow()
        answer = self.client_before_claim.get_item(
            TableName=self.table, Key=key_attributes(key), ConsistentRead=True
        )
        found = answer.get("Item")
        return from_attributes(found) if found else None

    def get_eventually(
        self, keys: Iterable[Key], attributes: Sequence[str] = ()
    ) -> dict[Key, Item]:
        """Read items by key, eventually consistent, for half the units of `get_many`.

        An item that was written a moment ago may be missing, or in an older state. What is read
        replaces what is cached, so a transaction must not use it. With `attributes`, only these are
        read, for the same units, and nothing is cached.
        """
        wanted = list(dict.fromkeys(keys))
        found = self._get_many(wanted, consistent=False, attributes=attributes)
        if self._cache is not None and not attributes:
            self._cache.items.update({key: found.get(key) for key in wanted})
        return found

    def get_many(
        self, keys: Iterable[Key], *, uncached: bool = False, consistent: bool = True
    ) -> dict[Key, Item]:
        """Read items by key, strongly consistent, 100 per call, with concurrent calls.

        The result leaves out keys that do not exist. With `uncached`, cached items are read again.
        Without `consistent`, it costs half the units, and an item that was written a moment ago may
        be missing, or in an older state: see `Transaction.may_read_late`.
        """
        wanted = list(dict.fromkeys(keys))
        if self._cache is None:
            return self._get_many(wanted, consistent=consistent)
        known = self._cache.items
        if uncached:
            known.update(self._with_gaps(wanted, consistent=consistent))
        else:
            unknown = [key for key in wanted if key not in known]
            for key, item in self._with_gaps(unknown, consistent=consistent).items():
                # Another thread of the same change may have cached the item first.
                known.setdefault(key, item)
        return {key: item for key in wanted if (item := known[key]) is not None}

    def _with_gaps(self, keys: list[Key], *, consistent: bool) -> dict[Key, Item | None]:
        found = self._get_many(keys, consistent=consistent)
        return {key: found.get(key) for key in keys}

    def _get_many(
        self, keys: list[Key], *, consistent: bool = True, attributes: Sequence[str] = ()
    ) -> dict[Key, Item]:
        batches = list(batched(keys, _BATCH, strict=False))
        options: dict[str, Any] = {"ConsistentRead": consistent}
        if attributes:
            # Names of attributes may be reserved words.
            names = {f"#{name}": name for name in attributes}
            options["ProjectionExpression"] = ", ".join(names)
            options["ExpressionAttributeNames"] = names
        read = partial(self._get_batch, options=options)
        items = chain.from_iterable(map_concurrently(read, batches))
        return {key_of(item): item for item in items}

    def _get_batch(self, keys: Iterable[Key], *, options: Mapping[str, Any]) -> list[Item]:
        self._take_slot_if_slow()
        pending: Mapping[str, Any] = {
            self.table: {"Keys": [key_attributes(key) for key in keys], **options}
        }
        items: list[Item] = []
        attempt = 0
        while pending:
            answer = self.client_before_claim.batch_get_item(RequestItems=pending)
            items += [from_attributes(item) for item in answer["Responses"].get(self.table, [])]
            pending = answer.get("UnprocessedKeys") or {}
            if pending and not answer["Responses"].get(self.table):
                attempt = self.back_off(attempt)
        return items

    def query(self, **arguments: Any) -> QueryPage:
        """Run one Query on the table; `values` are plain Python values."""
        if self.deadline.remaining < ANSWER_SECONDS:
            raise ServiceUnavailable
        self._take_slot_if_slow()
        values = {name: encode(value) for name, value in arguments.pop("values").items()}
        answer = self.client_before_claim.query(
            TableName=self.table, ExpressionAttributeValues=values, **arguments
        )
        return QueryPage(
            items=[from_attributes(item) for item in answer["Items"]],
            last_key=answer.get("LastEvaluatedKey"),
        )

    def query_pages(self, **arguments: Any) -> Iterator[list[Item]]:
        """Yield the items of a Query, page by page to its end."""
        more: dict[str, Any] = {}
        while True:
            page = self.query(**arguments, **more)
            yield page.items
            if page.last_key is None:
                return
            more = {"ExclusiveStartKey": page.last_key}

    def query_all(self, **arguments: Any) -> Iterator[Item]:
        """Yield all items of a Query."""
        for items in self.query_pages(**arguments):
            yield from items

    def retry_transient_errors[R](self, call: Callable[[], R]) -> R:
        """Repeat a call on throttling, conflicts and lost connections, within the deadline."""
        attempt = 0
        while True:
            try:
                return call()
            except Exception as error:
                if not is_transient(error):
                    raise
            attempt = self.back_off(attempt)

    def back_off(self, attempt: int) -> int:
        """Wait before a retry, with exponential backoff and full jitter; keep the claim meanwhile.

        Returns:
            The number of the next attempt.

        Raises:
            ServiceUnavailable: The deadline leaves no time for another attempt.
        """
        self.pause(random.uniform(0, min(1.0, 0.02 * 2**attempt)))  # noqa: S311 - jitter
        return attempt + 1

    def keep_claim(self) -> None:
        """Renew the claim of the request when half of its lease is over."""
        if claim := self.claim or self.kept_claim:
            claim.keep(self.client)

    def pause(self, seconds: float) -> None:
        """Wait before a retry; keep the claim meanwhile.

        Raises:
            ServiceUnavailable: The deadline leaves no time for another attempt.
        """
        if self.deadline.remaining < seconds + ANSWER_SECONDS:
            raise ServiceUnavailable
        self.keep_claim()
        time.sleep(seconds)
        self.deadline.add_pause(seconds)


def _cached(
    known: dict[Key, Item | None], key: Key, read: Callable[[], Item | None]
) -> Item | None:
    if key not in known:
        known.setdefault(key, read())
    return known[key]
