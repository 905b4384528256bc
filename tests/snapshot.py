"""Snapshots of the tables and keys in moto, and direct reads of their items."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.dynamo_type import Item
from moto.dynamodb.models.table import Table
from moto.dynamodb.models.utilities import dynamo_to_dict
from moto.kms.models import Key, kms_backends

from tests import engine
from tests.engine import Items


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The DynamoDB tables and KMS keys of one account and Region at one moment.

    A snapshot and the tables restored from it share their items: `fast_moto` replaces an item
    that is updated, so that a stored item never changes.
    """

    account: str
    region: str
    tables: Mapping[str, Table]
    keys: Mapping[str, Key]
    in_engine: Mapping[str, Items]
    """The items of the tables when the tests run against the engine."""

    @classmethod
    def take(cls, account: str, region: str) -> "Snapshot":
        """Copy the tables and keys in moto."""
        tables = dynamodb_backends[account][region].tables
        keys = kms_backends[account][region].keys
        return cls(
            account,
            region,
            {name: copy_of_table(table) for name, table in tables.items()},
            {name: _copy_of_key(key) for name, key in keys.items()},
            {name: engine.items_of(name) for name in tables} if engine.is_on() else {},
        )

    def restore(self) -> None:
        """Replace the tables and keys in moto by those of the snapshot."""
        for name in self.tables:
            self.restore_table(name)
        keys = kms_backends[self.account][self.region].keys
        keys.update({name: _copy_of_key(key) for name, key in self.keys.items()})

    def restore_table(self, name: str) -> None:
        """Replace one table in moto by that of the snapshot."""
        tables = dynamodb_backends[self.account][self.region].tables
        tables[name] = copy_of_table(self.tables[name])
        if engine.is_on():
            engine.restore(tables[name], self.in_engine[name])

    def is_current(self) -> bool:
        """Return whether every table of the snapshot has the same items in moto."""
        tables = dynamodb_backends[self.account][self.region].tables
        if engine.is_on():
            return all(engine.items_of(name) == kept for name, kept in self.in_engine.items())
        return all(tables[name].items == kept.items for name, kept in self.tables.items())


def stored_items(account: str, region: str, table: str) -> Iterator[dict[str, Any]]:
    """Yield the items of a table as botocore returns them, in no particular order."""
    if engine.is_on():
        yield from engine.stored_items(table)
        return
    for item in _items_in(dynamodb_backends[account][region].tables[table]):
        if "plain" not in vars(item):
            vars(item)["plain"] = dynamo_to_dict(item.attrs)
        yield vars(item)["plain"].copy()


def _items_in(table: Table) -> Iterator[Item]:
    """Yield the items of a table; moto sorts them first."""
    partitions: Any = table.items
    for partition in list(partitions.values()):
        yield from [partition] if table.range_key_attr is None else list(partition.values())


class _Partitions(dict[Any, dict[Any, Item]]):
    """The items of a table by partition; copies share each partition until one asks for it.

    Moto asks for the partition that it changes, and copies the table for each action of a
    transaction. Reads of all partitions at once do not ask for them.
    """

    def __init__(self, partitions: Mapping[Any, dict[Any, Item]]) -> None:
        super().__init__(partitions)
        self._own = set[int]()
        """Ids of the partitions that no copy shares."""

    def __getitem__(self, key: Any) -> dict[Any, Item]:
        partition = super().get(key)
        if partition is None or id(partition) not in self._own:
            partition = dict(partition or ())
            self._own.add(id(partition))
            self[key] = partition
        return partition

    def get(self, key: Any, default: Any = None) -> Any:
        return default if super().get(key) is None else self[key]

    def shared(self) -> "_Partitions":
        """Return a copy that shares every partition."""
        self._own.clear()
        return _Partitions(self)

    def __deepcopy__(self, memo: object) -> "_Partitions":
        return self.shared()


def copy_of_table(table: Table) -> Table:
    """Return a table with the same items, which may change without the other."""
    copied = copy.copy(table)
    if table.range_key_attr is None:
        copied.items = copy.copy(table.items)
        return copied
    items: Any = table.items
    if not isinstance(items, _Partitions):
        items = table.items = _Partitions(items)  # type: ignore[assignment]
    copied.items = items.shared()
    return copied


def _copy_of_key(key: Key) -> Key:
    return copy.deepcopy(key, {id(key.private_key): key.private_key})
