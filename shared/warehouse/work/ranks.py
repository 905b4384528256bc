"""The rank of documents and pickings by their priority; a lower one is more urgent."""

from dataclasses import replace

from shared.kernel.db.lists.query import ListQuery

_NORMAL = 2

RANK = "rank"
"""The facet by which lists sort by priority."""


def rank_of(priority: int | None) -> int:
    """Return the rank of a priority; none ranks as Normal."""
    return _NORMAL if priority is None else priority


def by_rank(query: ListQuery) -> ListQuery:
    """Return a query that sorts by rank instead of by priority."""
    return replace(query, sort=RANK) if query.sort == "priority" else query
