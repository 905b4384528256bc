"""The outbox: each change writes its event in the same transaction.

The stream of the outbox table passes every entry to the relay. An entry expires only after it
was relayed, and not before the log of its deliveries.
"""

import re
import secrets
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Any

from pydantic import BaseModel

from shared.kernel.clock import Instant, instant, now_ms
from shared.kernel.db.items import Item, encode, from_attributes, pack, unpack
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store, key_attributes
from shared.kernel.db.table import EXPIRY, PARTITION_KEY, SORT_KEY
from shared.kernel.db.transaction import Transaction
from shared.kernel.events.kinds import AnyEventKind, EventKind
from shared.kernel.json_text import dumps, loads

_RETENTION_SECONDS = 31 * 86_400
"""Time to live of a relayed entry: one day longer than the log of its deliveries."""

SHARDS = "0123456789abcdef"
"""Suffixes of the partitions of a tenant: the last digit of the id of an entry, which is random.

One partition takes 1 000 write units per second, also after DynamoDB has split it, because the ids
rise with the time. The relay handles the entries of one partition one batch after the other.
"""

_COMBINED_SINCE = 3
"""Version of the schema from which on transactions with many events combine them."""
_EVENT_PREFIX, _REQUEST_PREFIX = "evt_", "req_"
_EVENT_ID = re.compile(r"evt_[0-9a-f]{32}", re.ASCII)
_REQUEST_ID = re.compile(r"req_[0-9a-f]{32}", re.ASCII)
MAX_ATTRIBUTES = 18_000
"""Most bytes of the attributes of an event; a larger resource is sent without them."""
_MAX_BODY = 20_000
"""Most bytes of a delivery; a larger one is sent without its attributes."""


@dataclass(frozen=True, slots=True)
class Event:
    """A change of a resource.

    Attributes:
        type: Kind of the event.
        object: Kind of the resource.
        id: Id of the resource.
        version: Version of the resource after the change.
        href: Path of the resource, relative to the tenant's base URL.
        attributes: The resource as its list shows it.
        status: Status of the resource, if it has one.
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
class CombinedEvents:
    """The events of one transaction in one item: fewer actions and write units."""

    id: str
    events: Sequence[StoredEvent]


type OutboxEntry = StoredEvent | CombinedEvents | RedeliveryRequest
"""An entry of the outbox."""


def raise_event(
    tx: Transaction, event: Event, *, only_subscription: int | None = None
) -> StoredEvent:
    """Add an event. Its id is the same for all deliveries and attempts.

    Args:
        tx: The transaction of the change.
        event: The change. A version of a resource has at most one event, because receivers order
            events by version.
        only_subscription: Id of the only subscription that receives the event, whatever kinds
            it subscribes to.

    Raises:
        AssertionError: The transaction has another event of this version.
    """
    if not tx.is_first(f"event {event.object} {event.id} {event.version}"):
        message = f"version {event.version} of {event.object} {event.id} has two events"
        raise AssertionError(message)
    attributes = dumps(event.attributes)
    fits = len(attributes.encode()) <= MAX_ATTRIBUTES
    combined = tx.combined_events
    name = _combined_id(combined, tx) if combined is not None else _new_id(_EVENT_PREFIX, tx)
    item = {
        PARTITION_KEY: _partition_of(tx.store.slug, name),
        SORT_KEY: name,
        "type": event.type,
        "object": event.object,
        "id": event.id,
        "version": event.version,
        "status": event.status,
        "href": event.href,
        "attributes": pack(attributes)[0] if fits else None,
        "created_at": instant(tx.now_ms),
        "only": only_subscription,
    }
    if combined is None:
        tx.insert(item, table=tx.store.outbox)
    else:
        combined.append(item)
    return StoredEvent(name, event.type, item)


def combines_events(store: Store) -> bool:
    """Return whether events may be combined: the release before this one cannot read them."""
    return store.version.written >= _COMBINED_SINCE


def combine_events(tx: Transaction) -> None:
    """Combine the events that are raised from now on; `write_combined_events` adds them."""
    tx.combined_events = []


def write_combined_events(tx: Transaction) -> None:
    """Add one item with the events that were raised since `combine_events`, if there are any.

    Together they must fit into an item: 80 events of 4 KB do.
    """
    if not tx.combined_events:
        return
    name = _key_of_combined(tx.combined_events[0][SORT_KEY])
    own = (PARTITION_KEY, SORT_KEY, "attributes", "created_at")
    events = [
        {
            "event": event[SORT_KEY],
            "attributes": loads(unpack([event["attributes"]])) if event["attributes"] else None,
            **{key: value for key, value in event.items() if key not in own and value is not None},
        }
        for event in tx.combined_events
    ]
    [packed] = pack(dumps(events))
    item = {
        PARTITION_KEY: _partition_of(tx.store.slug, name),
        SORT_KEY: name,
        "events": packed,
        "created_at": instant(tx.now_ms),
    }
    tx.insert(item, table=tx.store.outbox)


def _combined_id(combined: Sequence[Item], tx: Transaction) -> str:
    """Return the id of the next combined event: that of the item, with its place in the item."""
    item = combined[0][SORT_KEY] if combined else _new_id(_EVENT_PREFIX, tx)
    return f"{item[:-4]}{len(combined):03x}{item[-1]}"


def _key_of_combined(event: str) -> str:
    """Return the sort key of the item that has a combined event, in the same partition."""
    return f"{event[:-4]}fff{event[-1]}"


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
) -> StoredEvent:
    """Add an event about a record, with the state that `record` has after the change.

    `more` are attributes besides those that its list shows. The status of the event is the
    record's, None when its entity has none.
    """
    event = Event(
        type=kind,
        object=resource.object,
        id=record.id,
        version=record.version,
        href=resource.href.format(record=record),
        attributes={**resource.attributes(record).model_dump(), **(more or {})},
        status=getattr(record.entity, "status", None),
    )
    return raise_event(tx, event)


def request_redelivery(tx: Transaction, webhook: int, event: str, round_number: int) -> None:
    """Add a request to deliver an event to a subscription again, as the given round."""
    name = _new_id(_REQUEST_PREFIX, tx)
    item = {
        PARTITION_KEY: _partition_of(tx.store.slug, name),
        SORT_KEY: name,
        "webhook": webhook,
        "event": event,
        "round": round_number,
    }
    tx.insert(item, table=tx.store.outbox)


def is_key_of(tenant: str, partition: str, name: str) -> bool:
    """Return whether a key has the form of the key of an entry of a tenant."""
    is_name = _EVENT_ID.fullmatch(name) or _REQUEST_ID.fullmatch(name)
    return bool(is_name) and partition == _partition_of(tenant, name)


def partitions(tenant: str) -> list[str]:
    """Return the partition keys of a tenant's entries."""
    return [f"{tenant}#{shard}" for shard in SHARDS]


def _partition_of(tenant: str, name: str) -> str:
    return f"{tenant}#{name[-1]}"


def _tenant_of(item: Item) -> str:
    tenant: str = item[PARTITION_KEY].partition("#")[0]
    return tenant


def is_event_id(text: str) -> bool:
    """Return whether a text has the format of an event id."""
    return bool(_EVENT_ID.fullmatch(text))


def _new_id(prefix: str, tx: Transaction) -> str:
    # The time comes first: sort keys are in the order of the changes.
    return f"{prefix}{tx.now_ms:012x}{secrets.token_hex(10)}"


def parse_entry(attributes: Mapping[str, Any]) -> tuple[str, OutboxEntry]:
    """Return the tenant and the entry of an item in DynamoDB's JSON format."""
    item = from_attributes(attributes)
    for name in ("attributes", "events"):
        if isinstance(item.get(name), str):
            # Lambda passes binary values of a stream as base64.
            item[name] = b64decode(item[name])
    return _tenant_of(item), _parse_item(item)


def _parse_item(item: Item) -> OutboxEntry:
    name: str = item[SORT_KEY]
    if name.startswith(_REQUEST_PREFIX):
        return RedeliveryRequest(name, item["webhook"], item["event"], item["round"])
    if "events" in item:
        return CombinedEvents(
            name, [_parse_combined(item, one) for one in loads(unpack([item["events"]]))]
        )
    return StoredEvent(name, item["type"], item)


def _parse_combined(item: Item, event: Mapping[str, Any]) -> StoredEvent:
    attributes = event["attributes"]
    packed = None if attributes is None else pack(dumps(attributes))[0]
    common = {PARTITION_KEY: item[PARTITION_KEY], "created_at": item["created_at"]}
    return StoredEvent(event["event"], event["type"], {**common, **event, "attributes": packed})


def find_event(store: Store, event: str) -> StoredEvent | None:
    """Read an event of the tenant; None if it has expired."""
    entry = _read_entry(store, event) or _read_entry(store, _key_of_combined(event))
    if isinstance(entry, CombinedEvents):
        return next((one for one in entry.events if one.id == event), None)
    return entry if isinstance(entry, StoredEvent) else None


def _read_entry(store: Store, name: str) -> OutboxEntry | None:
    key = key_attributes((_partition_of(store.slug, name), name))
    answer = store.client.get_item(TableName=store.outbox, Key=key, ConsistentRead=True)
    found = answer.get("Item")
    return _parse_item(from_attributes(found)) if found else None


def unrelayed_entries(
    client: Any, table: str, tenant: str, before_ms: int
) -> Iterator[list[OutboxEntry]]:
    """Yield pages of a tenant's entries that are older than `before_ms` and were not relayed.

    The query examines all stored entries of the tenant.
    """
    for partition, prefix in product(partitions(tenant), (_EVENT_PREFIX, _REQUEST_PREFIX)):
        arguments: dict[str, Any] = {
            "TableName": table,
            "KeyConditionExpression": (
                f"{PARTITION_KEY} = :partition AND {SORT_KEY} BETWEEN :first AND :last"
            ),
            "FilterExpression": "attribute_not_exists(#expiry)",
            "ExpressionAttributeNames": {"#expiry": EXPIRY},
            "ExpressionAttributeValues": {
                ":partition": encode(partition),
                ":first": encode(prefix),
                ":last": encode(f"{prefix}{before_ms:012x}"),
            },
            "ConsistentRead": True,
        }
        while True:
            answer = client.query(**arguments)
            yield [_parse_item(from_attributes(item)) for item in answer["Items"]]
            if "LastEvaluatedKey" not in answer:
                break
            arguments["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def mark_relayed(client: Any, table: str, tenant: str, entry: OutboxEntry) -> None:
    """Mark an entry as relayed by giving it an expiry."""
    with suppress(client.exceptions.ConditionalCheckFailedException):  # already expired
        client.update_item(
            TableName=table,
            Key=key_attributes((_partition_of(tenant, entry.id), entry.id)),
            UpdateExpression="SET #expiry = :expiry",
            ConditionExpression=f"attribute_exists({PARTITION_KEY})",
            ExpressionAttributeNames={"#expiry": EXPIRY},
            ExpressionAttributeValues={":expiry": encode(now_ms() // 1000 + _RETENTION_SECONDS)},
        )
