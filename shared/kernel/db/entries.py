"""Reading the index entries of a path."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from shared.kernel.db.counters import Totals
from shared.kernel.db.items import Item
from shared.kernel.db.parallel import run_all
from shared.kernel.db.plan import AccessPath
from shared.kernel.db.store import Store
from shared.kernel.db.table import index_keys, index_name


def read_entries(store: Store, path: AccessPath, **arguments: Any) -> Iterator[Item]:
    """Yield the entries of a path; `arguments` are those of its Queries."""
    start = None
    while True:
        more: dict[str, Any] = {"ExclusiveStartKey": start} if start else {}
        page = store.query(IndexName=index_name(path.index), **arguments, **more)
        yield from page.items
        start = page.last_key
        if start is None:
            return


def totals_without(
    store: Store, path: AccessPath, name: str, totals: Callable[[], Totals]
) -> Totals:
    """Return the totals, the one called `name` less the number of entries of `path`.

    Both are read concurrently.
    """
    condition, values = path.key_condition()
    shown = index_keys(path.index)[1]

    def count() -> int:
        entries = read_entries(
            store, path, KeyConditionExpression=condition, values=values, ProjectionExpression=shown
        )
        return sum(1 for _ in entries)

    found, left_out = run_all(totals, count)
    return replace(found, counts={**found.counts, name: max(0, found.of(name) - left_out)})
