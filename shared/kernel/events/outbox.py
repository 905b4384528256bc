"""The outbox: each change writes its event in the same transaction.

The stream of the outbox table passes every entry to the relay. An entry expires only after it
was relayed, and not before the log of its deliveries.
"""

import re
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from operator import itemgetter
from typing import Any

from pydantic import BaseModel

from shared.kernel.clock import Instant, now_ms
from shared.kernel.db.items import Item, Key, encode, from_attributes, item_at, pack, unpack
from shared.kernel.db.outbox_item import (
    CHANGES,
    EVENT_PREFIX,
    SHARDS,
    id_at,
    is_place,
    new_id,
    partition_of,
)
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store, key_attributes
from shared.kernel.db.table import EXPIRY, PARTITION_KEY, SORT_KEY
from shared.kernel.db.transaction import Transaction
from shared.kernel.events.kinds import AnyEventKind, EventKind
from shared.kernel.json_text import dumps, loads
from shared.kernel.observability import traceparent

_RETENTION_SECONDS = 32 * 86_400
"""Time to live of a relayed entry: one day longer than the log of its deliveries."""

_REQUEST_PREFIX = "req_"
_EVENT_ID = re.compile(r"evt_[0-9a-f]{32}", re.ASCII)
_REQUEST_ID = re.compile(r"req_[0-9a-f]{32}", re.ASCII)
MAX_ATTRIBUTES = 18_000
"""Most bytes of the attributes of an event; a larger resource is sent without them."""
_OTHER_BYTES = 1_000
"""Most bytes of the other facts of an event."""
_PAGE = 20
"""Entries of each partition that are read at once to recover events."""
_MAX_BODY = 20_000
"""Most bytes of a delivery; a larger one is sent without its attributes."""


@dataclass(frozen=True, slots=True)
class Event:
    """A change of a resource, of the kind `object`, to `version`.

    `href` is the path of the resource, relative to the tenant's base URL; `attributes` are as its
    list shows them.
    """

    type: AnyEventKind
    object: str
    id: int
    version: int
    href: str
    attributes: Mapping[str, Any]
    status: str | None = None


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event in the outbox."""

    id: str
    type: AnyEventKind
    item: Item

    @property
    def only_subscription(self) -> int | None:
        """Id of the only subscription that receives it; None for all that include its kind."""
        return self.item.get("only")

    @property
    def created_at(self) -> Instant:
        """Time of the change."""
        created_at: Instant = self.item["created_at"]
        return created_at

    @property
    def traceparent(self) -> str | None:
        """Trace of the request that made the change; None if it had none."""
        return self.item.get("traceparent")

    @property
    def attributes(self) -> Any:
        """The resource as its list shows it; None if it is too large for an event."""
        packed = self.item.get("attributes")
        return loads(unpack([packed])) if packed else None

    def body(self, base_url: str) -> bytes:
        """Return the body of its deliveries, the same for all subscriptions and attempts.

        `sequence` is the version of the resource; receivers order the events of a resource by it.
        """
        item = self.item
        data = {
            "object": item["object"],
            "id": item["id"],
            "status": item.get("status"),
            "resource_version": item["version"],
            "href": base_url + item["href"],
        }
        whole = self._body({**data, "attributes": self.attributes})
        return whole if len(whole) <= _MAX_BODY else self._body({**data, "attributes": None})

    def _body(self, data: Mapping[str, Any]) -> bytes:
        body = {
            "id": self.id,
            "type": self.type,
            "version": 1,
            "created_at": self.created_at,
            "tenant": _tenant_of(self.item),
            "sequence": self.item["version"],
            "data": data,
        }
        return dumps(body).encode()


@dataclass(frozen=True, slots=True)
class RedeliveryRequest:
    """A request to deliver an event to a subscription again."""

    id: str
    webhook: int
    event: str
    round: int


@dataclass(frozen=True, slots=True)
class RecoveryRequest:
    """A request to deliver to a subscription what it has not received of a time.

    `since_ms` and `until_ms` are in milliseconds.
    """

    id: str
    webhook: int
    since_ms: int
    until_ms: int


@dataclass(frozen=True, slots=True)
class CombinedEvents:
    """The events of one transaction in one item: fewer actions and write units.

    The ids of the events are that of the item, with the place of the event in three of its digits.
    A transaction that raises no event may have an item, too: with the changes that it has noted.
    """

    id: str
    events: Sequence[StoredEvent]
    item: Item


type OutboxRequest = RedeliveryRequest | RecoveryRequest
"""A request to deliver again, which has no event of its own."""
type OutboxEntry = StoredEvent | CombinedEvents | OutboxRequest
"""An entry of the outbox."""


def raise_event(tx: Transaction, event: Event, *, only_subscription: int | None = None) -> str:
    """Add an event; return its id, which is the same for all deliveries and attempts.

    A version of a resource has at most one event, because receivers order events by version.
    `only_subscription` is the id of the only subscription that receives the event, whatever kinds
    it subscribes to.

    Raises:
        AssertionError: The transaction has another event of this version.
    """
    if not tx.is_first(f"event {event.object} {event.id} {event.version}"):
        raise AssertionError(f"version {event.version} of {event.object} {event.id} has two events")
    attributes = dumps(event.attributes)
    attributes_size = len(attributes.encode())
    fits = attributes_size <= MAX_ATTRIBUTES
    size = _OTHER_BYTES + (attributes_size if fits else 0)
    item = {
        "type": event.type,
        "object": event.object,
        "id": event.id,
        "version": event.version,
        "status": event.status,
        "href": event.href,
        "only": only_subscription,
        "traceparent": traceparent(),
        "attributes": attributes if fits else None,
    }
    entry = tx.outbox.with_room(size) or tx.outbox.add()
    return entry.add(item, size)


def event_actions(tx: Transaction) -> int:
    """Return how many actions one more event adds to a transaction at most."""
    return 0 if tx.outbox.with_room(MAX_ATTRIBUTES + _OTHER_BYTES) else 1


@dataclass(frozen=True, slots=True)
class EventResource[E]:
    """A kind of resource that events are about, and how they describe it.

    `href` is a format string for the path of the resource, such as `/pickings/{record.id}`;
    `attributes` returns what its list shows of a record.
    """

    object: str
    href: str
    attributes: Callable[[Record[E]], BaseModel]


def raise_record_event[E](
    tx: Transaction,
    kind: EventKind,
    resource: EventResource[E],
    record: Record[E],
    more: Mapping[str, object] | None = None,
) -> None:
    """Add an event about a record, with the state that `record` has after the change.

    `more` are attributes that its list does not show. The status of the event is the one
    that its list shows, None when it shows none.
    """
    attributes = resource.attributes(record).model_dump()
    event = Event(
        type=kind,
        object=resource.object,
        id=record.id,
        version=record.version,
        href=resource.href.format(record=record),
        attributes={**attributes, **(more or {})},
        status=attributes.get("status"),
    )
    raise_event(tx, event)


def request_redelivery(tx: Transaction, webhook: int, event: str, round_number: int) -> None:
    """Add a request to deliver an event to a subscription again, as the given round."""
    key = _key_of(tx.store, new_id(_REQUEST_PREFIX, tx.now_ms))
    item = item_at(key, webhook=webhook, event=event, round=round_number)
    tx.insert(item, table=tx.store.outbox)


def request_recovery(tx: Transaction, webhook: int, since_ms: int) -> None:
    """Add a request to deliver to a subscription what it has not received since a time."""
    key = _key_of(tx.store, new_id(_REQUEST_PREFIX, tx.now_ms))
    item = item_at(key, webhook=webhook, since=since_ms, until=tx.now_ms)
    tx.insert(item, table=tx.store.outbox)


def is_key_of(tenant: str, partition: str, name: str) -> bool:
    """Return whether a key has the form of the key of an entry of a tenant."""
    is_name = _EVENT_ID.fullmatch(name) or _REQUEST_ID.fullmatch(name)
    return bool(is_name) and partition == partition_of(tenant, name)


def partitions(tenant: str) -> list[str]:
    """Return the partition keys of a tenant's entries."""
    return [f"{tenant}#{shard}" for shard in SHARDS]


def _key_of(store: Store, name: str) -> Key:
    return (partition_of(store.slug, name), name)


def _tenant_of(item: Item) -> str:
    tenant: str = item[PARTITION_KEY].partition("#")[0]
    return tenant


def is_event_id(text: str) -> bool:
    """Return whether a text has the format of an event id."""
    return bool(_EVENT_ID.fullmatch(text))


def parse_entry(attributes: Mapping[str, Any]) -> tuple[str, OutboxEntry]:
    """Return the tenant and the entry of an item in DynamoDB's JSON format."""
    item = from_attributes(attributes)
    for name in ("attributes", "events", CHANGES):
        if isinstance(item.get(name), str):
            # Lambda passes binary values of a stream as base64.
            item[name] = b64decode(item[name])
    return _tenant_of(item), _parse_item(item)


def _parse_item(item: Item) -> OutboxEntry:
    name: str = item[SORT_KEY]
    if name.startswith(_REQUEST_PREFIX):
        if "since" in item:
            return RecoveryRequest(name, item["webhook"], int(item["since"]), int(item["until"]))
        return RedeliveryRequest(name, item["webhook"], item["event"], item["round"])
    if "events" in item:
        found = loads(unpack([item["events"]]))
        events = [_parse_combined(item, at, one) for at, one in enumerate(found)]
        return CombinedEvents(name, events, item)
    if "type" not in item:
        return CombinedEvents(name, [], item)
    return StoredEvent(name, item["type"], item)


def _parse_combined(item: Item, place: int, event: Item) -> StoredEvent:
    text = event.get("attributes")
    common = {PARTITION_KEY: item[PARTITION_KEY], "created_at": item["created_at"]}
    own = {**event, "attributes": None if text is None else pack(text)[0]}
    return StoredEvent(id_at(item[SORT_KEY], place), event["type"], {**common, **own})


def find_event(store: Store, event: str, *, consistent: bool = True) -> StoredEvent | None:
    """Read an event of the tenant; None if it has expired, or if the text is no id of an event.

    It is in the item of the first event of its transaction, or in an item of its own. An eventually
    consistent read, for half the units, may miss an event of a moment ago; events never change.
    """
    if not is_event_id(event):
        return None
    names = [id_at(event, 0), event]
    if not is_place(event):
        names.reverse()  # no place: the random digits of an event that has an item of its own
    for name in dict.fromkeys(names):
        entry = _read_entry(store, name, consistent=consistent)
        for found in events_of(entry):
            if found.id == event:
                return found
    return None


def events_of(entry: OutboxEntry | None) -> Sequence[StoredEvent]:
    """Return the events of an entry; none if it is missing or a request to deliver one again."""
    if isinstance(entry, CombinedEvents):
        return entry.events
    return [entry] if isinstance(entry, StoredEvent) else []


def next_events(
    store: Store, after: str, until_ms: int
) -> tuple[list[tuple[str, StoredEvent]], str | None]:
    """Return events that were raised until a time, in their order, from the place `after` on.

    Each has the place of its entry. The other value is the place behind them, None at the end;
    `first_place` is that of a time.
    """
    last = f"{EVENT_PREFIX}{until_ms + 1:012x}"

    def read(partition: str) -> tuple[list[Item], str | None]:
        answer = store.client.query(
            TableName=store.outbox,
            KeyConditionExpression=(
                f"{PARTITION_KEY} = :partition AND {SORT_KEY} BETWEEN :first AND :last"
            ),
            ExpressionAttributeValues={
                ":partition": encode(partition), ":first": encode(after), ":last": encode(last),
            },
            ConsistentRead=True,
            Limit=_PAGE,
        )  # fmt: skip
        items = [from_attributes(item) for item in answer["Items"]]
        return items, items[-1][SORT_KEY] if "LastEvaluatedKey" in answer else None

    pages = map_concurrently(read, partitions(store.slug))
    # Another partition may have entries behind the last one of a page.
    ends = [end for _, end in pages if end is not None]
    limit = min(ends, default=last)
    found = sorted(
        (item for items, _ in pages for item in items if item[SORT_KEY] <= limit),
        key=itemgetter(SORT_KEY),
    )
    events = [(item[SORT_KEY], event) for item in found for event in events_of(_parse_item(item))]
    return events, f"{limit}~" if ends else None


def first_place(since_ms: int) -> str:
    """Return the place before the events that were raised at a time or later."""
    return f"{EVENT_PREFIX}{since_ms:012x}"


def _read_entry(store: Store, name: str, *, consistent: bool) -> OutboxEntry | None:
    key = key_attributes(_key_of(store, name))
    answer = store.client.get_item(TableName=store.outbox, Key=key, ConsistentRead=consistent)
    found = answer.get("Item")
    return _parse_item(from_attributes(found)) if found else None


def unrelayed_entries(
    client: Any, table: str, tenant: str, before_ms: int, *, since_ms: int = 0
) -> Iterator[list[OutboxEntry]]:
    """Yield pages of a tenant's entries that are older than `before_ms` and were not relayed.

    The query examines all stored entries of the tenant from `since_ms` on.
    """
    for partition, prefix in product(partitions(tenant), (EVENT_PREFIX, _REQUEST_PREFIX)):
        arguments = {
            "TableName": table,
            "KeyConditionExpression": (
                f"{PARTITION_KEY} = :partition AND {SORT_KEY} BETWEEN :first AND :last"
            ),
            "FilterExpression": "attribute_not_exists(#expiry)",
            "ExpressionAttributeNames": {"#expiry": EXPIRY},
            "ExpressionAttributeValues": {
                ":partition": encode(partition),
                ":first": encode(f"{prefix}{since_ms:012x}"),
                ":last": encode(f"{prefix}{before_ms:012x}"),
            },
            "ConsistentRead": True,
        }
        for page in client.get_paginator("query").paginate(**arguments):
            yield [_parse_item(from_attributes(item)) for item in page["Items"]]


def mark_relayed(client: Any, table: str, tenant: str, entry: OutboxEntry) -> None:
    """Mark an entry as relayed by giving it an expiry."""
    with suppress(client.exceptions.ConditionalCheckFailedException):  # already expired
        client.update_item(
            TableName=table,
            Key=key_attributes((partition_of(tenant, entry.id), entry.id)),
            UpdateExpression="SET #expiry = :expiry",
            ConditionExpression=f"attribute_exists({PARTITION_KEY})",
            ExpressionAttributeNames={"#expiry": EXPIRY},
            ExpressionAttributeValues={":expiry": encode(now_ms() // 1000 + _RETENTION_SECONDS)},
        )
