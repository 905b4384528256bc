"""Snapshots of the tables and keys that moto holds, and a look at the items of a table."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.table import Table
from moto.dynamodb.models.utilities import dynamo_to_dict
from moto.kms.models import Key, kms_backends


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

    @classmethod
    def take(cls, account: str, region: str) -> "Snapshot":
        """Copy what moto holds now."""
        tables = dynamodb_backends[account][region].tables
        keys = kms_backends[account][region].keys
        return cls(
            account,
            region,
            {name: _copy_of_table(table) for name, table in tables.items()},
            {name: _copy_of_key(key) for name, key in keys.items()},
        )

    def restore(self) -> None:
        """Make moto hold the tables and keys of the snapshot."""
        for name in self.tables:
            self.restore_table(name)
        keys = kms_backends[self.account][self.region].keys
        keys.update({name: _copy_of_key(key) for name, key in self.keys.items()})

    def restore_table(self, name: str) -> None:
        """Make moto hold one table of the snapshot."""
        tables = dynamodb_backends[self.account][self.region].tables
        tables[name] = _copy_of_table(self.tables[name])

    def is_current(self) -> bool:
        """Tell whether every table of the snapshot has the same items in moto."""
        tables = dynamodb_backends[self.account][self.region].tables
        return all(tables[name].items == kept.items for name, kept in self.tables.items())


def stored_items(account: str, region: str, table: str) -> Iterator[dict[str, Any]]:
    """Yield the items of a table as botocore returns them, in no particular order."""
    for item in dynamodb_backends[account][region].tables[table].all_items():
        if "plain" not in vars(item):
            vars(item)["plain"] = dynamo_to_dict(item.attrs)
        yield vars(item)["plain"].copy()


def _copy_of_table(table: Table) -> Table:
    copied = copy.copy(table)
    copied.items = copy.copy(table.items)
    if table.range_key_attr is not None:
        for partition, items in table.items.items():
            copied.items[partition] = items.copy()
    return copied


def _copy_of_key(key: Key) -> Key:
    return copy.deepcopy(key, {id(key.private_key): key.private_key})
