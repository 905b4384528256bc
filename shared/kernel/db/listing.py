"""Lists with page numbers, exact totals, sorts and filters on DynamoDB, at a known cost.

There are two kinds of lists. An *ordered* list has one of the collection's own sorts, of all
entities or of one partition: it is read directly from its index, and its total is a counter. A
*gathered* list has any other filter: it reads the index entries of the smallest partition or range
that covers the filter, once for all its pages. In both kinds, the first page and every page of
`links.next` need two sequential round trips: entries and totals concurrently, then the items. A
partition in an order of which only the whole collection has an index needs a third one.

The mark in a cursor, which `links.next` contains, continues exactly where the previous page ended,
whatever has changed since. A page number without a mark always counts on the current list.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from pydantic import BaseModel

from shared.kernel.db.collection import Collection
from shared.kernel.db.counters import Totals
from shared.kernel.db.gathered_list import GatheredList
from shared.kernel.db.list_request import ListRequest, ReadWith
from shared.kernel.db.ordered_list import OrderedList
from shared.kernel.db.page import Page
from shared.kernel.db.parallel import once, run_all
from shared.kernel.db.plan import AccessPath, ListQuery, OrderedPlan, ensure_upgraded, plan_list
from shared.kernel.db.store import Store
from shared.kernel.db.table import index_keys, index_name


def read_page[E: BaseModel](
    store: Store, collection: Collection[E], query: ListQuery, *, read_with: ReadWith | None = None
) -> Page[E]:
    """Read one page of the list of a collection.

    `read_with` names an item that is read together with each entity of the page, into the cache of
    a repeatable store.

    Raises:
        UnservedTable: The table is being upgraded, and lacks a facet or an order until then.
    """
    ensure_upgraded(store, collection, query)
    if query.is_empty:
        return Page([], 0, query.page, query.per_page, None)
    collection = collection.at(store.version.complete)
    own = [
        f"{facet}={value}" for facet, value in query.equal.items() if collection.own_shards(facet)
    ]
    totals = once(lambda: collection.totals(store, own))
    plan = plan_list(collection, query, totals)
    if isinstance(plan, OrderedPlan) and plan.left_out:
        name = plan.total_name or "n"
        totals = once(partial(_totals_without, store, plan.left_out, name, totals))
    request = ListRequest(store, collection, query, totals, read_with)
    if isinstance(plan, OrderedPlan):
        return OrderedList(request, plan).page()
    return GatheredList(request, plan).page()


def _totals_without(
    store: Store, path: AccessPath, name: str, totals: Callable[[], Totals]
) -> Totals:
    """Return the totals, the one called `name` less the number of entries of `path`.

    Both are read concurrently.
    """
    condition, values = path.key_condition()
    shown = index_keys(path.index)[1]

    def count() -> int:
        entries = store.query_all(
            IndexName=index_name(path.index),
            KeyConditionExpression=condition,
            values=values,
            ProjectionExpression=shown,
        )
        return sum(1 for _ in entries)

    found, left_out = run_all(totals, count)
    return replace(found, counts={**found.counts, name: max(0, found.of(name) - left_out)})
