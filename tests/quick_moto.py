"""moto, made affordable for tests that each want a stack of their own.

Nothing of what a call does or answers changes:

- A deployed stack is kept as moto holds it, and put back instead of deployed again.
- moto copies the whole table once per action of a transaction, so that it can take the
  transaction back. It replaces items that are put, and changes in place only those that are
  updated: it is enough to keep the old items, and copies of these.
- moto makes an RSA key for every HMAC key, and never uses it; one for all will do.
"""

import copy
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from moto.dynamodb.models import DynamoDBBackend, dynamodb_backends
from moto.dynamodb.models.dynamo_type import DynamoType
from moto.dynamodb.models.table import Table
from moto.kms.models import Key, kms_backends
from moto.kms.utils import generate_private_key

_HMAC = "HMAC_256"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Tables and keys of one account and Region at one moment.

    What is put back shares nothing with the snapshot, nor with what was put back before, but
    the private halves of keys, which nothing changes.
    """

    account: str
    region: str
    tables: Mapping[str, bytes]
    keys: Mapping[str, Key]

    @classmethod
    def take(cls, account: str, region: str) -> "Snapshot":
        """Keep what moto holds now."""
        tables = dynamodb_backends[account][region].tables
        keys = kms_backends[account][region].keys
        return cls(
            account,
            region,
            {name: pickle.dumps(table) for name, table in tables.items()},
            {name: _copy_of(key) for name, key in keys.items()},
        )

    def put_back(self) -> None:
        """Have moto hold the tables and keys as they were."""
        for name in self.tables:
            self.put_back_table(name)
        held = kms_backends[self.account][self.region].keys
        held.update({name: _copy_of(key) for name, key in self.keys.items()})

    def put_back_table(self, name: str) -> None:
        """Have moto hold one table as it was."""
        table = pickle.loads(self.tables[name])  # noqa: S301 - written by this process
        dynamodb_backends[self.account][self.region].tables[name] = table


def stored(account: str, region: str, name: str) -> Iterator[dict[str, Any]]:
    """Look at the items of a table in DynamoDB's JSON, with bytes as botocore has them."""
    for items in dynamodb_backends[account][region].tables[name].items.values():
        for item in items.values():
            yield {name: _plain(value) for name, value in item.attrs.items()}


def _plain(value: DynamoType) -> dict[str, Any]:
    plain: dict[str, Any] = {"B": value.value} if value.type == "B" else value.to_json()
    return plain


def _copy_of(key: Key) -> Key:
    return copy.deepcopy(key, {id(key.private_key): key.private_key})


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Save moto needless work until the test ends."""
    monkeypatch.setattr("moto.kms.models.generate_private_key", _private_key)
    original = DynamoDBBackend.transact_write_items
    kept: dict[int, Table] = {}
    updated: list[Mapping[str, Any]] = []

    def transact_write_items(backend: DynamoDBBackend, actions: list[dict[str, Any]]) -> None:
        kept.clear()
        updated[:] = [action["Update"] for action in actions if "Update" in action]
        original(backend, actions)

    def snapshot(table: Table, _memo: object) -> Table:
        if id(table) not in kept:
            kept[id(table)] = _before(table, updated)
        return kept[id(table)]

    monkeypatch.setattr(DynamoDBBackend, "transact_write_items", transact_write_items)
    monkeypatch.setattr(Table, "__deepcopy__", snapshot, raising=False)


def _before(table: Table, updated: list[Mapping[str, Any]]) -> Table:
    """Return the table as it is before some of its items are updated and others replaced."""
    kept = copy.copy(table)
    if table.range_key_attr is None:  # the control table, which is small
        kept.items = copy.deepcopy(table.items)
        return kept
    kept.items = copy.copy(table.items)
    for partition, items in table.items.items():
        kept.items[partition] = dict(items)
    for update in updated:
        if update["TableName"] != table.name:
            continue
        partition, sort = (DynamoType(update["Key"][name]) for name in table.table_key_attrs)
        item = table.items.get(partition, {}).get(sort)
        if item is not None:
            kept.items[partition][sort] = copy.deepcopy(item)
    return kept


def _private_key(key_spec: str) -> Any:
    return _unused_key() if key_spec == _HMAC else generate_private_key(key_spec)


@cache
def _unused_key() -> Any:
    return generate_private_key(_HMAC)
