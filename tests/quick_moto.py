"""moto's transactions, made affordable.

moto copies the whole table once per action of a transaction, so that it can take the
transaction back; one copy of its items per transaction says the same.
"""

import copy
from typing import Any

import pytest
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.table import Table


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copy each table once per transaction until the test ends."""
    original = DynamoDBBackend.transact_write_items
    copies: dict[int, Table] = {}

    def transact_write_items(backend: DynamoDBBackend, actions: list[dict[str, Any]]) -> None:
        copies.clear()
        original(backend, actions)

    def snapshot(table: Table, _memo: object) -> Table:
        if id(table) not in copies:
            copies[id(table)] = copy.copy(table)
            copies[id(table)].items = copy.deepcopy(table.items)
        return copies[id(table)]

    monkeypatch.setattr(DynamoDBBackend, "transact_write_items", transact_write_items)
    monkeypatch.setattr(Table, "__deepcopy__", snapshot, raising=False)
