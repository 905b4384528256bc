"""What a transaction adds to the outbox: its events, and the changes of what lists show.

The events are those of `shared.kernel.events.outbox`. The changes are for the feed of changes:
which entity had which version before the transaction, and has which one after it.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from shared.kernel.clock import Instant, instant
from shared.kernel.db.dictionary import DICTIONARY
from shared.kernel.db.items import Item, Key, item_at, pack, unpack
from shared.kernel.db.store import Store
from shared.kernel.json_text import dumps, loads
from shared.kernel.observability import request_id

CHANGES_SINCE = 4
"""Version of the schema from which on transactions note changes."""

CHANGES = "changes"
"""Name of the attribute of an item of the outbox with the changes of its transaction."""

SHARDS = "0123456789abcdef"
"""Suffixes of the partitions of a tenant: the last digit of the id of an entry, which is random.

One partition takes 1 000 write units per second, also after DynamoDB has split it, because the ids
rise with the time. The relay handles the entries of one partition one batch after the other.
"""

EVENT_PREFIX = "evt_"
_MOST_EVENTS = 128
"""Events of an item. The digits of an id that have the place of the event allow 4096."""
_MOST_BYTES = 200_000
"""Bytes of the events of an item before they are compressed, of the 400 KB of an item."""
_CHANGE_BYTES = 64
"""Most bytes of a change; a transaction has at most as many changes as actions."""


type ResourceId = int | str
"""Id of a resource as its list shows it: that of an API client is a text."""


@dataclass(frozen=True, slots=True)
class VersionChange:
    """A change of an entity that a list shows, called `object` as in the interface.

    `before` is its version before the change, None if it is created; `after` the version after it,
    None if it is deleted. `stored_id` is the id of its record, where that is another one.
    """

    object: str
    id: ResourceId
    before: int | None
    after: int | None
    stored_id: int | None = None

    @property
    def record_id(self) -> ResourceId:
        """The id of its record."""
        return self.id if self.stored_id is None else self.stored_id


class Author(NamedTuple):
    """Who makes the changes of a transaction: type and id of the actor.

    `action` is the route of the request, such as POST /receipts/{id}/finalize; None for other work.
    """

    type: str
    id: str | None
    action: str | None = None


@dataclass(frozen=True, slots=True)
class NotedChanges:
    """The changes of one transaction, and who made them.

    `table` is the name of the tenant's table that was changed: after a restore, it has another one.
    `previous` are the ids of the items that note the changes before them: the feed has those first.
    """

    table: str
    request_id: str | None
    author: Author
    changes: Sequence[VersionChange] = ()
    previous: Sequence[str] = ()

    def by_object(self) -> Mapping[str, Sequence[Sequence[ResourceId | None]]]:
        """Return object → the other fields of each change, without a missing `stored_id`."""
        found: dict[str, list[list[ResourceId | None]]] = {}
        for one in self.changes:
            stored = [] if one.stored_id is None else [one.stored_id]
            found.setdefault(one.object, []).append([one.id, one.before, one.after, *stored])
        return found

    def packed(self) -> bytes:
        """Return the attribute of the item of the outbox."""
        content = {
            "table": self.table,
            "request_id": self.request_id,
            "actor": self.author,
            "changes": self.by_object(),
            "previous": self.previous,
        }
        return b"".join(pack(dumps(content), DICTIONARY))

    @classmethod
    def unpacked(cls, packed: bytes) -> "NotedChanges":
        """Return what `packed` made."""
        content: Mapping[str, Any] = loads(unpack([packed]))
        author, changes = Author(*content["actor"]), changes_of(content["changes"])
        return cls(content["table"], content["request_id"], author, changes, content["previous"])


def changes_of(by_object: Mapping[str, Sequence[Sequence[Any]]]) -> list[VersionChange]:
    """Return the changes of `NotedChanges.by_object`."""
    return [VersionChange(noun, *fields) for noun, found in by_object.items() for fields in found]


@dataclass(slots=True)
class NewOutboxItem:
    """An item that a transaction adds to the outbox: the first ones of its events, or the next.

    `noted` says who makes the changes. Those of a transaction are in its first item.
    """

    key: Key
    created_at: Instant
    noted: NotedChanges
    changes: list[VersionChange] = field(default_factory=list)
    previous: set[bytes] = field(default_factory=set)
    events: list[Item] = field(default_factory=list)
    events_size: int = 0

    @property
    def size(self) -> int:
        """Most bytes of the item."""
        return self.events_size + _CHANGE_BYTES * len(self.changes)

    def has_room(self, size: int) -> bool:
        """Return whether one more event of so many bytes fits."""
        return len(self.events) < _MOST_EVENTS and self.events_size + size <= _MOST_BYTES

    def add(self, event: Item, size: int) -> str:
        """Add an event of so many bytes; return its id."""
        place = len(self.events)
        self.events.append(event)
        self.events_size += size
        return id_at(self.key[1], place) if place else self.key[1]

    def item(self) -> Item:
        """Return the item."""
        noted: Item = {}
        dictionary = b""
        if self.changes:  # the version of the schema has the dictionary, too
            dictionary = DICTIONARY
            previous = sorted(f"{EVENT_PREFIX}{one.hex()}" for one in self.previous)
            noted[CHANGES] = replace(self.noted, changes=self.changes, previous=previous).packed()
        return item_at(
            self.key, created_at=self.created_at, **_content(self.events, dictionary), **noted
        )


@dataclass(slots=True)
class OutboxItems:
    """The items that a transaction adds to the outbox.

    They are complete at the commit; until then, every part of a use case may add events and changes
    to them.
    """

    store: Store
    now_ms: int
    author: Author
    items: list[NewOutboxItem] = field(default_factory=list)

    @property
    def noted_by(self) -> bytes | None:
        """The id of the item that notes the changes of the transaction, in 16 bytes.

        It is the one that has the first events. None if the table has an earlier version of the
        schema, in which changes are not noted.
        """
        return bytes_of(self._first().key[1]) if self._are_noted() else None

    def note(self, change: VersionChange, previous: bytes | None) -> None:
        """Note a change of an entity that a list shows, for the feed of changes.

        `previous` is the item that notes the change before it, None if none does.
        """
        if not self._are_noted():
            return
        item = self._first()
        item.changes.append(change)
        if previous is not None:
            item.previous.add(previous)

    def with_room(self, size: int) -> NewOutboxItem | None:
        """Return the item that takes one more event of so many bytes, if any does."""
        return self.items[-1] if self.items and self.items[-1].has_room(size) else None

    def add(self) -> NewOutboxItem:
        """Add an item without events."""
        store, name = self.store, id_at(new_id(EVENT_PREFIX, self.now_ms), 0)
        item = NewOutboxItem(
            (partition_of(store.slug, name), name),
            created_at=instant(self.now_ms),
            noted=NotedChanges(store.table, request_id(), self.author),
        )
        self.items.append(item)
        return item

    def _first(self) -> NewOutboxItem:
        return self.items[0] if self.items else self.add()

    def _are_noted(self) -> bool:
        return self.store.version.written >= CHANGES_SINCE


def _content(events: Sequence[Item], dictionary: bytes) -> Item:
    """Return the attributes of an item with these events: one as it is, several in one text."""
    if not events:
        return {}
    if len(events) == 1:
        (event,) = events
        text = event["attributes"]
        return {**event, "attributes": None if text is None else pack(text, dictionary)[0]}
    present = [{name: value for name, value in one.items() if value is not None} for one in events]
    return {"events": pack(dumps(present), dictionary)[0]}


def is_place(event: str) -> bool:
    """Return whether the id of an event can have the place of the event in the item."""
    return int(event[-4:-1], 16) < _MOST_EVENTS


def id_at(event: str, place: int) -> str:
    """Return the id of the event at this place of the item with the event; 0 is the item's own."""
    return f"{event[:-4]}{place:03x}{event[-1]}"


def bytes_of(event: str) -> bytes:
    """Return the id of an event in 16 bytes."""
    return bytes.fromhex(event.removeprefix(EVENT_PREFIX))


def milliseconds_of(event: str) -> int:
    """Return the time of the change whose item of the outbox has this id."""
    return int(event.removeprefix(EVENT_PREFIX)[:12], 16)


def new_id(prefix: str, milliseconds: int) -> str:
    """Return the id of a new item; sort keys are in the order of the changes."""
    return f"{prefix}{milliseconds:012x}{secrets.token_hex(10)}"


def partition_of(tenant: str, name: str) -> str:
    """Return the partition key of the item with this id."""
    return f"{tenant}#{name[-1]}"
