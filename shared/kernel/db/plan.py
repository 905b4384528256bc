"""The choice of the index entries that a list reads: the fewest that cover its filters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel

from shared.kernel.db.collection import Collection
from shared.kernel.db.counters import Totals
from shared.kernel.db.cursor import Mark
from shared.kernel.db.facets import AFTER_SEPARATOR
from shared.kernel.db.table import index_keys

_MAX_OFFSET_PAGES = 10**9

type Range = tuple[str | None, str | None]
"""Lowest and highest text, both inclusive; None for no bound."""


@dataclass(frozen=True, slots=True)
class ListQuery:
    """Sort, filters and page of a list. `equal`, `contains` and `between` are by facet."""

    sort: str
    descending: bool
    page: int = 1
    per_page: int = 25
    equal: Mapping[str, str] = field(default_factory=dict)
    contains: Mapping[str, str] = field(default_factory=dict)
    between: Mapping[str, Range] = field(default_factory=dict)
    after: Mark | None = None
    """The mark of the cursor with which the caller continues the list."""

    @property
    def offset(self) -> int:
        """Number of entries before the page."""
        return min(self.page - 1, _MAX_OFFSET_PAGES) * self.per_page


@dataclass(frozen=True, slots=True)
class AccessPath:
    """The index entries that a list reads: one partition of one index, or a range of it.

    `lookup` is the facet when it is a lookup index.
    """

    index: int
    partition: str
    sort: str | None
    total_name: str | None = None
    bounds: Range = (None, None)
    lookup: str | None = None

    def key_condition(self) -> tuple[str, dict[str, str]]:
        """Return the KeyConditionExpression and its values."""
        partition, sort = index_keys(self.index)
        low, high = self.bounds
        values = {":partition": self.partition}
        condition = f"{partition} = :partition"
        if low is not None:
            values[":low"] = low
        if high is not None:
            values[":high"] = high + AFTER_SEPARATOR
        if low is not None and high is not None:
            condition += f" AND {sort} BETWEEN :low AND :high"
        elif low is not None:
            condition += f" AND {sort} >= :low"
        elif high is not None:
            condition += f" AND {sort} <= :high"
        return condition, values


def choose_access_path[E: BaseModel](
    collection: Collection[E], query: ListQuery, totals: Callable[[], Totals]
) -> tuple[AccessPath, bool]:
    """Return the access path with the fewest entries, and whether it needs no filter or sort.

    `totals` is called only when filters name several partitions; the smallest one is used.
    """
    for facet, index in collection.lookup_indexes.items():
        if facet in query.equal:
            partition = collection.partition(facet, query.equal[facet])
            return AccessPath(index, partition, None, lookup=facet), False
    sorts, partition, total_name = collection.sorts, collection.kind, None
    restrictions = len(query.equal) + len(query.contains) + len(query.between)
    facets = [facet for facet in collection.partitions if facet in query.equal]
    if facets:
        facet = facets[0] if len(facets) == 1 else _smallest(facets, query, totals())
        value = query.equal[facet]
        sorts, partition = collection.partitions[facet], collection.partition(facet, value)
        total_name = f"{facet}={value}"
        restrictions -= 1
    for facet, value in query.equal.items():
        if facet in sorts:
            return AccessPath(sorts[facet], partition, facet, None, (value, value)), False
    for facet, bounds in query.between.items():
        if facet in sorts:
            return AccessPath(sorts[facet], partition, facet, None, bounds), False
    access = AccessPath(sorts[query.sort], partition, query.sort, total_name)
    return access, restrictions == 0


def _smallest(facets: list[str], query: ListQuery, totals: Totals) -> str:
    return min(facets, key=lambda facet: totals.of(f"{facet}={query.equal[facet]}"))
