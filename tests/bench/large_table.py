"""An in-memory table of a list with a million rows, which makes items when they are read.

Only the index entries are kept. They are those that the code writes: each row passes through
`Collection.insert`, whose items are caught before they are encoded.
"""

import gc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import pytest
from pydantic import BaseModel

from shared.kernel.db import records
from shared.kernel.db.counters import SHARDS, CounterChange, shard_key
from shared.kernel.db.facets import searchable
from shared.kernel.db.items import Item, Key, to_attributes
from shared.kernel.db.search import SEARCH, indexed_parts, search_partitions, words_of
from shared.kernel.db.store import Store
from shared.kernel.db.table import (
    INDEX_COUNT,
    PARTITION_KEY,
    SORT_KEY,
    STABLE_FACETS,
    VOLATILE_FACETS,
    index_keys,
)
from shared.kernel.db.transaction import Transaction
from tests.dynamodb.in_memory_table import InMemoryTable
from tests.lists import spec
from tests.lists.filling import insert_row, totals_item, write_items
from tests.lists.spec import Listed, Times

_KEYS = [(number, *index_keys(number)) for number in range(1, INDEX_COUNT + 1)]


class _NoOutbox:
    """Takes the place of the outbox of a transaction, whose changes nobody reads."""

    noted_by = bytes(16)

    def note(self, *_: object) -> None:
        """Ignore a change."""


class _Caught:
    """Takes the place of a transaction: keeps the items of one entity and counts."""

    now_ms = 0
    outbox = _NoOutbox()
    use_case_id = ""

    def __init__(self, store: Store, shard: int, counts: dict[Key, Counter[str]]) -> None:
        self.store = store
        self.items: list[Item] = []
        self.gathered: dict[str, object] = {}
        self._shard, self._counts = shard, counts

    def insert(self, item: Item) -> None:
        self.items.append(item)

    put = insert

    def count(
        self,
        kind: str,
        changes: Mapping[str, int],
        *,
        shards: int = SHARDS,
        within: str | None = None,
    ) -> None:
        change = CounterChange(self._shard % shards)
        change.add(kind, changes, within)
        key = shard_key(within or kind, change.shard)
        self._counts.setdefault(key, Counter()).update(change.changes)


class LargeTable(InMemoryTable):
    """The rows of one list; `grow` adds rows.

    Args:
        store: The store whose table it replaces.
        listed: The list.
        times: The instants of its rows.
        searches: What is searched in it; it has no other entries of the search index, which would
            not fit into memory.
    """

    def __init__(
        self, store: Store, listed: Listed, times: Times, searches: Iterable[str] = ()
    ) -> None:
        super().__init__(store.table)
        entries = listed.collection.search_entries
        self._searched = {
            place
            for search in searches
            for part in indexed_parts(entries, entries.compared(words_of(searchable(search))))
            for place in search_partitions(entries, listed.collection.kind, part)
        }
        self._store, self._listed, self._times = store, listed, times
        self._rows = 0
        self._numbers: dict[str, int] = {}
        self._counts: dict[Key, Counter[str]] = {}
        self._shards = [_Caught(store, shard, self._counts) for shard in range(SHARDS)]
        tx = Transaction(store)
        listed.related_items(tx)
        write_items(self, tx)

    def grow(self, count: int, *, keep: Callable[[int], bool] = lambda _: True) -> None:
        """Add rows until there are `count`.

        A row that `keep` is false for is only counted, in the total of the whole: no request of a
        benchmark that leaves it out reads it.
        """
        listed, numbers = self._listed, self._numbers
        with _without_bodies():
            for number in range(self._rows + 1, count + 1):
                caught = self._shards[number % SHARDS]
                if not keep(number):
                    caught.count(listed.collection.kind, {"n": 1})
                    continue
                caught.items.clear()
                insert_row(caught, listed, number, self._times)  # type: ignore[arg-type]
                for item in caught.items:
                    numbers[item[PARTITION_KEY]] = number
                self._enter_items(caught.items)
            self._rows = count
        now = Transaction(self._store).now_ms
        for key, changes in self._counts.items():
            self.put(totals_item(key, changes, now))

    def _enter_items(self, items: list[Item]) -> None:
        for item in items:
            partition, sort = item[PARTITION_KEY], item[SORT_KEY]
            for index, partition_name, sort_name in _KEYS:
                place = (index, item.get(partition_name) or "")
                is_search = f"#{SEARCH}#" in place[1]
                if place[1] and (not is_search or place in self._searched):
                    self._enter(place, (item[sort_name], partition, sort))

    def _stored(self, partition: str, sort: str) -> Any:
        self._make(partition)
        return super()._stored(partition, sort)

    def _partition(self, index: int | None, value: str) -> Sequence[tuple[str, str, str]]:
        if index is None:
            self._make(value)
        return super()._partition(index, value)

    def _entry(self, entry: tuple[str, str, str], index: int) -> tuple[Mapping[str, Any], int]:
        self._make_facets(entry)
        return super()._entry(entry, index)

    def _make_facets(self, entry: tuple[str, str, str]) -> None:
        """Make what index entries show of a row, which is less work than its items."""
        number = self._numbers.get(entry[1])
        if number is None or entry[1:] in self._facets:
            return
        # Requests read in several threads: nothing here may be shared or patched.
        caught = _Caught(self._store, 0, {})
        insert_row(caught, self._listed, number, self._times)  # type: ignore[arg-type]
        for item in caught.items:
            shown = {name: item[name] for name in (STABLE_FACETS, VOLATILE_FACETS) if name in item}
            self._facets[item[PARTITION_KEY], item[SORT_KEY]] = to_attributes(shown)

    def _make(self, partition: str) -> None:
        """Make the items of a row, if they were not read before."""
        number = self._numbers.get(partition)
        if number is None or partition in self._items:
            return
        tx = Transaction(self._store)
        insert_row(tx, self._listed, number, self._times)
        for action in tx._actions:
            self._keep(action.request["Put"]["Item"])


@contextmanager
def _without_bodies() -> Iterator[None]:
    """Skip what index entries do not need: the encoded entities, and the collection of garbage."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "pack", lambda *_: (b"",))
        patch.setattr(BaseModel, "model_dump_json", lambda _, **__: "")
        patch.setattr(spec, "_instant", lru_cache(64)(spec._instant))
        gc.disable()
        try:
            yield
        finally:
            gc.enable()
