"""Read a page of a list: as an ordered or a gathered list, whichever the plan says."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from shared.kernel.db.collection import Collection
from shared.kernel.db.counters import Totals
from shared.kernel.db.lists.gathered_list import GatheredList
from shared.kernel.db.lists.ids import page_of_ids
from shared.kernel.db.lists.list_request import ListRequest, ReadWith
from shared.kernel.db.lists.ordered_list import OrderedList
from shared.kernel.db.lists.page import Page
from shared.kernel.db.lists.plan import AccessPath, OrderedPlan, ensure_upgraded, plan_list
from shared.kernel.db.lists.query import ListQuery
from shared.kernel.db.parallel import map_concurrently, once, run_all
from shared.kernel.db.search import SEARCH
from shared.kernel.db.store import Store
from shared.kernel.db.table import index_keys, index_name
from shared.kernel.fields import Stored


def read_page[E: Stored](
    store: Store, collection: Collection[E], query: ListQuery, *, read_with: ReadWith | None = None
) -> Page[E]:
    """Read one page of the list of a collection.

    `read_with` names the items that are read together with each entity of the page, into the cache
    of a repeatable store.

    Raises:
        UnservedTable: The table is being upgraded, and lacks a facet or an order until then.
    """
    ensure_upgraded(store, collection, query)
    if query.is_empty:
        return Page([], 0, query.page, query.per_page, None)
    collection = collection.at(store.version.complete)
    if collection.searched is not None and (words := query.contains.get(SEARCH)):
        compared = collection.search_entries.compared(words)
        query = replace(query, contains={**query.contains, SEARCH: compared})
    own = [
        f"{facet}={value}"
        for facet in (*query.equal, *query.among)
        if collection.own_shards(facet)
        for value in query.values(facet)
    ]
    totals = once(lambda: collection.totals(store, own))
    if query.ids is not None:
        return page_of_ids(ListRequest(store, collection, query, totals, read_with), query.ids)
    plan = plan_list(collection, query, totals)
    if isinstance(plan, OrderedPlan) and plan.left_out:
        name = plan.total_names[0] or "n"
        count = partial(_count_left_out, store, collection, query, plan.left_out)
        totals = once(partial(_totals_without, name, totals, count))
    request = ListRequest(store, collection, query, totals, read_with)
    if isinstance(plan, OrderedPlan):
        return OrderedList(request, plan).page()
    return GatheredList(request, plan).page()


def _count_left_out[E: Stored](
    store: Store, collection: Collection[E], query: ListQuery, paths: Sequence[AccessPath]
) -> int:
    """Return the number of entries of `paths` that do not have a value in `unless`."""
    spared: dict[str, str] = {}
    filters: dict[str, Any] = {}
    if query.unless:
        facet, texts = query.unless
        spared = {f":unless{number}": text for number, text in enumerate(texts)}
        attribute, name = collection.facet_path(facet)
        filters = {
            "FilterExpression": " AND ".join(f"#attribute.#name <> {one}" for one in spared),
            "ExpressionAttributeNames": {"#attribute": attribute, "#name": name},
        }

    def count(path: AccessPath) -> int:
        condition, values = path.key_condition()
        entries = store.query_all(
            IndexName=index_name(path.index),
            KeyConditionExpression=condition,
            values={**values, **spared},
            ProjectionExpression=index_keys(path.index)[1],
            **filters,
        )
        return sum(1 for _ in entries)

    return sum(map_concurrently(count, list(paths)))


def _totals_without(name: str, totals: Callable[[], Totals], count: Callable[[], int]) -> Totals:
    """Return the totals, the one called `name` less by `count`; both are read concurrently."""
    found, left_out = run_all(totals, count)
    return replace(found, counts={**found.counts, name: found.of(name) - left_out})
