"""Direct changes of a tenant's table in moto, past everything that keeps it consistent."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from operations.stored_collections import COLLECTIONS
from shared.kernel.db.items import Item, Key, key_of, pack, to_attributes
from shared.kernel.db.records import HEAD, Record
from shared.kernel.db.store import key_attributes
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from tests.stack import Stack


def head(kind: str, number: int) -> Key:
    """Return the key of the head of an entity."""
    key = COLLECTIONS[kind].key(number)
    assert key[1] == HEAD
    return key


class Table:
    """The table of acme."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.store = stack.store()

    def item(self, key: Key) -> Item:
        """Return an item, which must exist."""
        found = self.store.get(key)
        assert found is not None, key
        return found

    def put(self, key: Key, item: Mapping[str, Any]) -> None:
        """Write an item."""
        whole = {PARTITION_KEY: key[0], SORT_KEY: key[1], **item}
        self.store.client.put_item(TableName=self.store.table, Item=to_attributes(whole))

    def change(self, key: Key, **values: Any) -> None:
        """Replace attributes of an item; None removes one."""
        item = {**self.item(key), **values}
        self.put(key, {name: value for name, value in item.items() if value is not None})

    def delete(self, key: Key) -> None:
        """Delete an item, which must exist."""
        self.item(key)
        self.store.client.delete_item(TableName=self.store.table, Key=key_attributes(key))

    def record(self, kind: str, number: int) -> Record[Any]:
        """Read an entity."""
        return COLLECTIONS[kind].get(self.store, number)

    def find(self, kind: str, condition: Callable[[Any], bool]) -> Record[Any]:
        """Return the first entity of a kind with a property."""
        for number in range(1, 200):
            for record in COLLECTIONS[kind].get_many(self.store, [number]):
                if condition(record.entity):
                    return record
        raise AssertionError(kind)

    def edit(self, kind: str, number: int, **values: Any) -> None:
        """Replace fields of an entity, and the attributes that follow from them, but no totals."""
        collection, record = COLLECTIONS[kind], self.record(kind, number)
        entity = record.entity.model_copy(update=values)
        head = self.item(collection.key(number))
        kept = {name: head[name] for name in ("id", "version", "parts")}
        derived = collection.derived_attributes(replace(record, entity=entity))
        [data] = pack(entity.model_dump_json())
        self.put(collection.key(number), {**kept, "data": data, **derived})
        for item in collection.derived_items(replace(record, entity=entity)):
            self.put(key_of(item), item)

    def edit_line(self, kind: str, number: int, at: int = 0, **values: Any) -> None:
        """Replace fields of a line of an entity."""
        lines = list(self.record(kind, number).entity.lines)
        lines[at] = lines[at].model_copy(update=values)
        self.edit(kind, number, lines=lines)

    def add_to_total(self, kind: str, name: str, more: int) -> None:
        """Change a total in one of its shards."""
        within = COLLECTIONS[kind].totals_within if kind in COLLECTIONS else None
        name = f"{kind}:{name}" if within else name
        for shard in range(16):
            key = (f"count#{within or kind}", f"{shard:02d}")
            item = self.store.get(key)
            if item and name in item:
                self.change(key, **{name: item[name] + more})
                return
        raise AssertionError(kind, name)

    def contents(self) -> dict[Key, Item]:
        """Return all items except the audit log and the feed of changes, which grow."""
        left_out = ("audit#", "count#audit", "feed")
        return {
            (item["PK"]["S"], item["SK"]["S"]): item
            for item in self.stack.items()
            if not item["PK"]["S"].startswith(left_out)
            and (item["PK"]["S"], item["SK"]["S"]) != ("sequence", "audit")
        }
