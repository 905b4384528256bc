"""The outbox: a change puts its event beside itself, in the same transaction.

The table's stream hands every entry to the relay. An entry stays until it was relayed, and
then for as long as deliveries of it may be asked for.
"""

import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from shared.kernel.clock import Instant, instant, now_ms
from shared.kernel.db.collection import Record
from shared.kernel.db.items import Item, encode, from_attributes
from shared.kernel.db.store import Store, key_attributes
from shared.kernel.db.table import EXPIRY, PARTITION_KEY, SORT_KEY
from shared.kernel.db.transaction import Transaction
from shared.kernel.events.kinds import AnyKind, EventKind
from shared.kernel.json_text import dumps, loads

_KEPT_SECONDS = 31 * 86_400
"""How long an entry is kept once it was relayed: a day longer than the log of its deliveries."""

_EVENT, _REQUEST = "evt_", "req_"
_EVENT_ID = re.compile(r"evt_[0-9a-f]{32}", re.ASCII)
_MAX_ATTRIBUTES = 18_000
_MAX_BODY = 20_000
"""Bytes of a delivery; one that would be larger goes without its attributes."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a resource.

    `href` is its path relative to the base address, `version` its version after the
    change, `attributes` what its list shows of it.
    """

    type: AnyKind
    object: str
    id: int
    version: int
    href: str
    attributes: Mapping[str, Any]
    status: str | None = None


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event as it was committed."""

    id: str
    type: AnyKind
    item: Item

    @property
    def only_subscription(self) -> int | None:
        """Id of the one subscription that it is for; None when it is for whoever asked."""
        return self.item.get("only")

    @property
    def created_at(self) -> Instant:
        """When it happened."""
        created_at: Instant = self.item["created_at"]
        return created_at

    def body(self, base_url: str) -> bytes:
        """Write the body of its deliveries: the same for all of them, and for every retry.

        `sequence` is the version of the resource: of two events of one resource the later
        one has the higher number, whatever order they arrive in.
        """
        item = self.item
        data = {
            "object": item["object"],
            "id": item["id"],
            "status": item.get("status"),
            "resource_version": item["version"],
            "href": base_url + item["href"],
        }
        attributes = loads(item["attributes"]) if "attributes" in item else None
        whole = self._body({**data, "attributes": attributes})
        return whole if len(whole) <= _MAX_BODY else self._body({**data, "attributes": None})

    def _body(self, data: Mapping[str, Any]) -> bytes:
        body = {
            "id": self.id,
            "type": self.type,
            "version": 1,
            "created_at": self.created_at,
            "tenant": self.item[PARTITION_KEY],
            "sequence": self.item["version"],
            "data": data,
        }
        return dumps(body).encode()


@dataclass(frozen=True, slots=True)
class RedeliveryRequest:
    """The wish that an event goes to a subscription once more."""

    id: str
    webhook: int
    event: str
    round: int


type OutboxEntry = StoredEvent | RedeliveryRequest
"""What the outbox holds."""


def raise_event(
    tx: Transaction, event: Event, *, only_subscription: int | None = None
) -> StoredEvent:
    """Stage the event; its id is the same for every delivery and every retry.

    A version of a resource has one event, so that versions are the order of its events.
    `only`: the one subscription that it goes to, whatever it has asked for.
    """
    if not tx.is_first_use(f"event {event.object} {event.id} {event.version}"):
        message = f"two events tell of version {event.version} of {event.object} {event.id}"
        raise AssertionError(message)
    attributes = dumps(event.attributes)
    fits = len(attributes.encode()) <= _MAX_ATTRIBUTES
    name = _new_id(_EVENT, tx)
    item = {
        PARTITION_KEY: tx.store.slug,
        SORT_KEY: name,
        "type": event.type,
        "object": event.object,
        "id": event.id,
        "version": event.version,
        "status": event.status,
        "href": event.href,
        "attributes": attributes if fits else None,
        "created_at": instant(tx.now_ms),
        "only": only_subscription,
    }
    tx.insert(item, table=tx.store.outbox)
    return StoredEvent(name, event.type, item)


@dataclass(frozen=True, slots=True)
class EventSubject[E]:
    """A kind of resource that events are about, and how they describe it.

    `href` is a format string for the path of the resource, such as `/pickings/{record.id}`;
    `attributes` returns what its list shows of a record.
    """

    object: str
    href: str
    attributes: Callable[[Record[E]], BaseModel]


def raise_record_event[E](
    tx: Transaction, kind: EventKind, subject: EventSubject[E], record: Record[E]
) -> StoredEvent:
    """Stage an event about a record, with the state that `record` has after the change.

    The status of the event is the record's, None when its entity has none.
    """
    event = Event(
        type=kind,
        object=subject.object,
        id=record.id,
        version=record.version,
        href=subject.href.format(record=record),
        attributes=subject.attributes(record).model_dump(),
        status=getattr(record.entity, "status", None),
    )
    return raise_event(tx, event)


def request_redelivery(tx: Transaction, webhook: int, event: str, turn: int) -> None:
    """Stage the wish that an event goes to a subscription once more.

    `turn` tells this round of attempts from those before.
    """
    item = {
        PARTITION_KEY: tx.store.slug,
        SORT_KEY: _new_id(_REQUEST, tx),
        "webhook": webhook,
        "event": event,
        "round": turn,
    }
    tx.insert(item, table=tx.store.outbox)


def is_event_id(text: str) -> bool:
    """Tell whether an event can have this id."""
    return bool(_EVENT_ID.fullmatch(text))


def _new_id(prefix: str, tx: Transaction) -> str:
    # The time first, so that a tenant's entries lie in the order they happened.
    return f"{prefix}{tx.now_ms:012x}{secrets.token_hex(10)}"


def entry_of(attributes: Mapping[str, Any]) -> tuple[str, OutboxEntry]:
    """Read an entry, in DynamoDB's JSON: its tenant, and what it is."""
    item = from_attributes(attributes)
    return item[PARTITION_KEY], _entry(item)


def _entry(item: Item) -> OutboxEntry:
    name: str = item[SORT_KEY]
    if name.startswith(_REQUEST):
        return RedeliveryRequest(name, item["webhook"], item["event"], item["round"])
    return StoredEvent(name, item["type"], item)


def find_event(store: Store, event: str) -> StoredEvent | None:
    """Read an event of the tenant; None when it is not kept any more."""
    answer = store.client.get_item(
        TableName=store.outbox, Key=key_attributes((store.slug, event)), ConsistentRead=True
    )
    found = answer.get("Item")
    entry = _entry(from_attributes(found)) if found else None
    return entry if isinstance(entry, StoredEvent) else None


def unrelayed_entries(
    client: Any, table: str, tenant: str, before_ms: int
) -> Iterator[list[OutboxEntry]]:
    """Read what was committed before a moment and not relayed since, page by page.

    It looks through all entries of the tenant that are still kept.
    """
    for prefix in (_EVENT, _REQUEST):
        arguments: dict[str, Any] = {
            "TableName": table,
            "KeyConditionExpression": (
                f"{PARTITION_KEY} = :tenant AND {SORT_KEY} BETWEEN :first AND :last"
            ),
            "FilterExpression": "attribute_not_exists(#expiry)",
            "ExpressionAttributeNames": {"#expiry": EXPIRY},
            "ExpressionAttributeValues": {
                ":tenant": encode(tenant),
                ":first": encode(prefix),
                ":last": encode(f"{prefix}{before_ms:012x}"),
            },
            "ConsistentRead": True,
        }
        while True:
            answer = client.query(**arguments)
            yield [_entry(from_attributes(item)) for item in answer["Items"]]
            if "LastEvaluatedKey" not in answer:
                break
            arguments["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def mark_relayed(client: Any, table: str, tenant: str, entry: OutboxEntry) -> None:
    """Note that an entry was relayed: from now on its days are numbered."""
    with suppress(client.exceptions.ConditionalCheckFailedException):  # relayed and gone long ago
        client.update_item(
            TableName=table,
            Key=key_attributes((tenant, entry.id)),
            UpdateExpression="SET #expiry = :expiry",
            ConditionExpression=f"attribute_exists({PARTITION_KEY})",
            ExpressionAttributeNames={"#expiry": EXPIRY},
            ExpressionAttributeValues={":expiry": encode(now_ms() // 1000 + _KEPT_SECONDS)},
        )
