"""Filling an in-memory table with many rows of a list, without requests."""

from collections import Counter
from collections.abc import Mapping

from shared.kernel.db.alias_entries import alias_entries
from shared.kernel.db.counters import SHARDS, shard_key
from shared.kernel.db.items import Key, item_at, to_attributes
from shared.kernel.db.store import Store
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from shared.kernel.db.transaction import Transaction
from tests.dynamodb.in_memory_table import InMemoryTable
from tests.lists.spec import Listed, Times

_SETTLED_MS = 3_600_000
"""Age of the rows in milliseconds, above the lag of the indexes, so that bookmarks are kept."""


def fill(store: Store, listed: Listed, count: int, times: Times) -> InMemoryTable:
    """Return an in-memory table with `count` rows of a list and the items they refer to.

    It has the name of the table of the store.
    """
    table = InMemoryTable(store.table)
    transactions = [Transaction(store) for _ in range(SHARDS)]
    for shard, tx in enumerate(transactions):
        tx._shard = shard
    listed.related_items(transactions[0])
    write_items(table, transactions[0])
    for number in range(1, count + 1):
        tx = transactions[number % SHARDS]
        insert_row(tx, listed, number, times)
        write_items(table, tx)
    totals: dict[Key, Counter[str]] = {}
    for tx in transactions:
        for kind, change in tx._counters.items():
            totals.setdefault(shard_key(kind, change.shard), Counter()).update(change.changes)
    for key, sums in totals.items():
        table.put(totals_item(key, sums, transactions[0].now_ms))
    return table


def insert_row(tx: Transaction, listed: Listed, number: int, times: Times) -> None:
    """Insert row `number` of a list, with its aliases, in a transaction."""
    entity = listed.make(number, times)
    record = listed.collection.insert(tx, listed.id_of(number), entity)
    if alias := listed.collection.search_alias:
        entries = alias_entries(listed.collection, record)
        tx.insert(item_at(alias(entity), id=number, **entries))
    for partition, sort in listed.aliases(entity):
        tx.insert({PARTITION_KEY: partition, SORT_KEY: sort, "id": number})


def write_items(table: InMemoryTable, tx: Transaction) -> None:
    """Move the items that a transaction would insert to a table."""
    for action in tx._actions:
        table.put(action.request["Put"]["Item"])
    tx._actions.clear()


def totals_item(key: Key, totals: Mapping[str, int], now_ms: int) -> dict[str, dict[str, str]]:
    """Return one shard of the totals of a collection that did not change lately."""
    own: dict[str, int] = {}
    for name in totals:
        kind, colon, total = name.rpartition(":")
        if total == "n":
            own |= {
                f"{kind}{colon}version": totals[name],
                f"{kind}{colon}touched": now_ms - _SETTLED_MS,
            }
    return to_attributes({PARTITION_KEY: key[0], SORT_KEY: key[1], **totals, **own})
