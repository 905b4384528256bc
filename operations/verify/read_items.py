"""The items of one reading, with everything that they are compared with."""

from collections.abc import Iterator, Mapping
from typing import Any

from operations.stored_collections import COLLECTIONS
from operations.verify import entities
from shared.identity.users.logins import login_key
from shared.identity.users.repository import role_count_key
from shared.integration.webhooks.repository import REGISTER_KEY, health_key
from shared.kernel import references
from shared.kernel.db.items import Item, Key, key_of
from shared.kernel.db.records import HEAD, Record, tail_keys
from shared.kernel.db.store import Store
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY

OWNERS = {
    "count_sums": "stock_count", "login": "user", "role_users": "role",
    "rfid_passed": "packing_order",
}  # fmt: skip
"""Beginnings of the partition keys of items that belong to one entity → its kind."""


class ReadItems:
    """Items that were read together, with the entities and items that they follow from.

    `looked_at` are the items whose drifts are wanted, `items` all that were read for them, and
    `records` the entities whose heads are looked at.
    """

    def __init__(self, store: Store, looked_at: Mapping[Key, Item]) -> None:
        self.store = store
        self.looked_at = looked_at
        parts = [key for item in looked_at.values() for key in part_keys(item)]
        self.items = {**store.get_many(parts), **looked_at}
        self.records = {
            key: record for key, item in looked_at.items() if (record := self._decode(item))
        }
        wanted = {key for record in self.records.items() for key in self._related(*record)}
        heads = [(alias, self.target(alias)) for alias in looked_at.values()]
        wanted |= {COLLECTIONS[kind].key(number) for _, (kind, number) in heads if kind}
        self._read(wanted)
        # The entities that aliases lead to must be complete, to know what they are called.
        self._read({key for head in [*self.items.values()] for key in part_keys(head)})

    def _read(self, wanted: set[Key]) -> None:
        missing = [key for key in wanted if key not in self.items]
        self.items |= self.store.get_many(missing)

    def _decode(self, item: Item) -> Record[Any] | None:
        kind = kind_of(item)
        if not kind or item[SORT_KEY] != HEAD or item.get("deleted"):
            return None
        number = int(item[PARTITION_KEY].partition("#")[2])
        try:
            return COLLECTIONS[kind].from_items(self.items, number)
        except Exception:  # noqa: BLE001  whatever is wrong with the stored bytes
            return None

    def _related(self, key: Key, record: Record[Any]) -> Iterator[Key]:
        kind, entity = kind_of(self.looked_at[key]), record.entity
        yield from map(key_of, entities.alias_items(kind, entity))
        yield from map(key_of, COLLECTIONS[kind].derived_items(record))
        yield from (
            COLLECTIONS[of].key(number) for _, of, number in entities.references_of(kind, entity)
        )
        yield from (
            COLLECTIONS[of].key(number) for _, of, number, _ in entities.copies_of(kind, record)
        )
        if batch := entities.batch_of(kind, entity):
            yield batch
        if kind in entities.REGISTERED_KINDS:
            yield references.REGISTER, f"{kind}#{record.id}"
        elif kind == "user":
            yield login_key(record.id)
        elif kind == "role":
            yield role_count_key(record.id)
        elif kind == entities.WEBHOOK_KIND:
            yield from (REGISTER_KEY, health_key(record.id))
        elif kind == "pick_face":
            yield position_alias(entity)

    def live(self, kind: str, number: int) -> Record[Any] | None:
        """Return a live entity whose head was read; None also if it cannot be decoded."""
        try:
            return COLLECTIONS[kind].from_items(self.items, number)
        except Exception:  # noqa: BLE001  the head has its own finding
            return None

    def is_live(self, kind: str, number: int) -> bool:
        """Return whether an entity whose head was read exists."""
        head = self.items.get(COLLECTIONS[kind].key(number))
        return head is not None and not head.get("deleted")

    def is_deleted(self, kind: str, number: int) -> bool:
        """Return whether an entity whose head was read was deleted."""
        head = self.items.get(COLLECTIONS[kind].key(number))
        return head is not None and bool(head.get("deleted"))

    def target(self, item: Item) -> tuple[str, int]:
        """Return kind and id of the entity that an item depends on; no kind if there is none."""
        key = key_of(item)
        if kind := entities.alias_kind(key):
            return kind, int(item.get("id", 0))
        if kind := kind_of(item):
            return kind, number_of(key)
        head, _, rest = key[0].partition("#")
        if key[0] == references.REGISTER:
            kind, _, number = key[1].partition("#")
            is_known = kind in entities.REGISTERED_KINDS and number.isdecimal()
            return (kind, int(number)) if is_known else ("", 0)
        if head in OWNERS and rest.isdecimal():
            return OWNERS[head], int(rest)
        number = key[1].partition("#")[2]
        if key[0] == REGISTER_KEY[0] and number.isdecimal():
            return entities.WEBHOOK_KIND, int(number)
        return "", 0


def kind_of(item: Item) -> str:
    """Return the kind of an item of an entity; empty for another item."""
    kind, _, number = str(item[PARTITION_KEY]).partition("#")
    return kind if kind in COLLECTIONS and number.isdecimal() else ""


def part_keys(head: Item) -> list[Key]:
    """Return the keys of the further parts of an entity; none for another item."""
    if not kind_of(head) or head[SORT_KEY] != HEAD or head.get("deleted"):
        return []
    return tail_keys(head[PARTITION_KEY], int(head.get("parts", 1)))


def number_of(key: Key) -> int:
    """Return the id of the entity that an item belongs to."""
    return int(key[0].partition("#")[2])


def name_of(key: Key) -> str:
    """Return the name of an item in findings."""
    return f"{key[0]} {key[1]}".replace("\x1f", "/")


def shown_values(item: Item | None) -> str | None:
    """Return the values of an item in findings; None without an item."""
    names = sorted(item.keys() - {PARTITION_KEY, SORT_KEY}) if item else []
    return ", ".join(str(item[name]) for name in names) if item else None


def basis_of(item: Item) -> str:
    """Return the basis of a drift of an item without a version."""
    return repr(sorted(item.items(), key=lambda pair: pair[0]))


def position_alias(face: Any) -> Key:
    """Return the key of the alias of the position of a pick face."""
    _, sort = key_of(entities.alias_items("pick_face", face)[0])
    return sort.removeprefix("FACE#"), "ALIAS"
