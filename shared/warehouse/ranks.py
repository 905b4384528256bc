"""The rank of documents and pickings by their priority; a lower one is more urgent."""

from dataclasses import replace

from shared.kernel.db.plan import ListQuery
from shared.kernel.db.store import Store

_NORMAL = 2

RANK = "rank"
"""The facet by which lists sort by priority."""

RANK_SINCE = 2
"""Version of the schema from which on items have the facet."""


def rank_of(priority: int | None) -> int:
    """Return the rank of a priority; none ranks as Normal."""
    return _NORMAL if priority is None else priority


def by_rank(store: Store, query: ListQuery) -> ListQuery:
    """Return a query that sorts by rank instead of by priority, if the table has the ranks."""
    if query.sort != "priority" or store.version.complete < RANK_SINCE:
        return query
    return replace(query, sort=RANK)
