"""Tables of DynamoDB as moto holds them.

moto sorts the whole table for each query, and copies all of it once per action of a
transaction, so that it can take the transaction back. It replaces items that are put, and
changes in place those that are updated. Here the latter are replaced too, by changed copies:
so an item is never changed once it is stored, and whoever needs a table as it was, a
transaction or a `Snapshot`, only has to remember which items it had.
"""

import copy
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from moto.dynamodb.models import DynamoDBBackend, dynamodb_backends
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import Table
from moto.kms.models import Key, kms_backends

type _Body = dict[str, Any]
"""What one action of a transaction says, or a key."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Tables and keys of one account and Region at one moment.

    What is put back shares only what nothing changes: items, and the private halves of keys.
    """

    account: str
    region: str
    tables: Mapping[str, Table]
    keys: Mapping[str, Key]

    @classmethod
    def take(cls, account: str, region: str) -> "Snapshot":
        """Keep what moto holds now."""
        tables = dynamodb_backends[account][region].tables
        keys = kms_backends[account][region].keys
        return cls(
            account,
            region,
            {name: _with_same_items(table) for name, table in tables.items()},
            {name: _copy_of(key) for name, key in keys.items()},
        )

    def put_back(self) -> None:
        """Have moto hold the tables and keys as they were."""
        for name in self.tables:
            self.put_back_table(name)
        held = kms_backends[self.account][self.region].keys
        held.update({name: _copy_of(key) for name, key in self.keys.items()})

    def is_now(self) -> bool:
        """Tell whether every table has the items that it had."""
        tables = dynamodb_backends[self.account][self.region].tables
        return all(tables[name].items == kept.items for name, kept in self.tables.items())

    def put_back_table(self, name: str) -> None:
        """Have moto hold one table as it was."""
        tables = dynamodb_backends[self.account][self.region].tables
        tables[name] = _with_same_items(self.tables[name])


def stored(account: str, region: str, name: str) -> Iterator[dict[str, Any]]:
    """Look at the items of a table as botocore has them, in no order."""
    for item in _items(dynamodb_backends[account][region].tables[name]):
        yield _seen(item).copy()


def _seen(item: Item) -> dict[str, Any]:
    """Return an item as botocore has it; it never changes."""
    known: dict[str, Any] | None = vars(item).get("seen")
    if known is None:
        known = vars(item)["seen"] = {name: _plain(value) for name, value in item.attrs.items()}
    return known


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Handle tables in the short way until the test ends."""
    _replace_what_is_updated(monkeypatch)
    _keep_what_is_written(monkeypatch)
    _look_where_it_can_be(monkeypatch)


def _replace_what_is_updated(monkeypatch: pytest.MonkeyPatch) -> None:
    update = DynamoDBBackend.update_item

    def update_item(
        backend: DynamoDBBackend, table_name: str, key: dict[str, Any], **more: Any
    ) -> Any:
        _replace_by_copy(backend.get_table(table_name), key)
        return update(backend, table_name, key, **more)

    monkeypatch.setattr(DynamoDBBackend, "update_item", update_item)


def _replace_by_copy(table: Table, key: dict[str, Any]) -> None:
    """Have the table hold a copy of one of its items, if it has the item."""
    if not all(name in key for name in table.table_key_attrs):
        return
    *partition, place = (DynamoType(key[name]) for name in table.table_key_attrs)
    items: Any = table.items.get(partition[0], {}) if partition else table.items
    if place in items:
        items[place] = copy.deepcopy(items[place])


def _keep_what_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    write = DynamoDBBackend.transact_write_items
    kept: dict[int, Table] = {}
    writing: list[_Body] = []

    def transact_write_items(backend: DynamoDBBackend, actions: list[dict[str, _Body]]) -> None:
        kept.clear()
        writing[:] = [body for action in actions for body in action.values()]
        write(backend, actions)

    def before(table: Table, _memo: object) -> Table:
        if id(table) not in kept:
            kept[id(table)] = _before(table, writing)
        return kept[id(table)]

    monkeypatch.setattr(DynamoDBBackend, "transact_write_items", transact_write_items)
    monkeypatch.setattr(Table, "__deepcopy__", before, raising=False)


def _before(table: Table, writing: Iterable[_Body]) -> Table:
    """Return the table as it is before some of its items are replaced, added or removed."""
    kept = copy.copy(table)
    kept.items = copy.copy(table.items)
    if table.range_key_attr is not None:
        for body in writing:
            key = body.get("Key") or body.get("Item") or {}
            if body["TableName"] == table.name and table.hash_key_attr in key:
                partition = DynamoType(key[table.hash_key_attr])
                if partition in table.items:
                    kept.items[partition] = table.items[partition].copy()
    return kept


def _look_where_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    query = Table.query

    def query_some(  # noqa: PLR0917 - moto's own
        table: Table,
        hash_key: DynamoType,
        range_comparison: str | None,
        range_objs: list[DynamoType],
        limit: int,
        exclusive_start_key: dict[str, Any],
        scan_index_forward: bool,  # noqa: FBT001
        projection_expressions: list[list[str]] | None,
        index_name: str | None = None,
        *more: Any,
        **named: Any,
    ) -> Any:
        return query(
            _with_what_matches(table, hash_key, index_name, named["hash_key_conditions"]),
            hash_key,
            range_comparison,
            range_objs,
            limit,
            exclusive_start_key,
            scan_index_forward,
            projection_expressions,
            index_name,
            *more,
            **named,
        )

    monkeypatch.setattr(Table, "query", query_some)


def _with_what_matches(
    table: Table, hash_key: DynamoType, index: str | None, conditions: list[tuple[str, DynamoType]]
) -> Table:
    """Return the table without the items that moto would leave out of a query at first sight."""
    some = copy.copy(table)
    if index is None:
        some.items = defaultdict(dict)
        if hash_key in table.items:
            some.items[hash_key] = table.items[hash_key]
        return some
    matching = {
        number: item
        for number, item in enumerate(_items(table))
        if all(name in item.attrs and item.attrs[name] == value for name, value in conditions)
    }
    held: Any = matching if table.range_key_attr is None else {None: matching}
    some.items = defaultdict(dict, held)
    return some


def _items(table: Table) -> Iterator[Item]:
    held: Any = table.items
    if table.range_key_attr is None:
        yield from held.values()
    else:
        for items in held.values():
            yield from items.values()


def _with_same_items(table: Table) -> Table:
    """Return a table of its own, with items that are the other's too."""
    same = copy.copy(table)
    same.items = copy.copy(table.items)
    if table.range_key_attr is not None:
        for partition, items in table.items.items():
            same.items[partition] = items.copy()
    return same


def _plain(value: DynamoType) -> dict[str, Any]:
    match value.type:
        case "M":
            return {"M": {name: _plain(inner) for name, inner in value.value.items()}}
        case "L":
            return {"L": [_plain(inner) for inner in value.value]}
    return {value.type: value.value}


def _copy_of(key: Key) -> Key:
    return copy.deepcopy(key, {id(key.private_key): key.private_key})
