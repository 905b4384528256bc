"""The choice of what a list reads: the fewest index entries that cover its filters."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from shared.kernel.db.collection import Collection
from shared.kernel.db.counters import Totals
from shared.kernel.db.facets import AFTER_SEPARATOR, ID
from shared.kernel.db.indexes import IndexBySort, Range
from shared.kernel.db.items import Key
from shared.kernel.db.lists.query import ListQuery
from shared.kernel.db.search import SEARCH, indexed_parts, prefix_of, search_partitions
from shared.kernel.db.store import Store
from shared.kernel.db.table import index_keys
from shared.kernel.fields import Stored

ITEM_COST = 40
"""Index entries that cost as much as an item: a page of a Query has some 4 000 entries, a call of
BatchGetItem 100 items."""

PAGE_ENTRIES = 5_000
"""More index entries than a Query returns at once, at most 1 MB. A Limit has 32 bits."""

_READS = 8
"""Entries that are read for each one of a list that leaves out few: these may lie side by side."""


@dataclass(frozen=True, slots=True)
class AccessPath:
    """A partition of an index, or a range of it, with the filters that this fulfills (`covered`).

    `sort` is None for a lookup index and for the search index, whose sort keys begin with `prefix`.
    """

    index: int
    partition: str
    sort: str | None
    bounds: Range = (None, None)
    covered: frozenset[str] = frozenset()
    prefix: str | None = None

    def key_condition(self) -> tuple[str, dict[str, str]]:
        """Return the KeyConditionExpression and its values."""
        partition, sort = index_keys(self.index)
        low, high = self.bounds
        values = {":partition": self.partition}
        condition = f"{partition} = :partition"
        if self.prefix:
            values[":prefix"] = self.prefix
            condition += f" AND begins_with({sort}, :prefix)"
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


def ensure_upgraded[E: Stored](store: Store, collection: Collection[E], query: ListQuery) -> None:
    """Raise UnservedTable if the table does not have a facet or the order of the query yet."""
    version = store.version.complete
    since = collection.since
    used = {query.sort, *query.facets}
    needed = max((since.get(facet, version) for facet in used), default=version)
    needed = max(needed, since.get(collection.sorts.get(query.sort, ""), version))
    store.ensure_version(needed, "This list")


@dataclass(frozen=True, slots=True)
class _ByPaths:
    """The entries of some paths, each with other entities."""

    paths: Sequence[AccessPath]

    @property
    def path(self) -> AccessPath:
        """The first path; the others differ in the partition only."""
        return self.paths[0]


@dataclass(frozen=True, slots=True)
class OrderedPlan(_ByPaths):
    """Read the page in the order of an index; the total is the sum of counters (`total_names`).

    When the paths do not cover the filters, they are applied to the entries; `reads` entries are
    read for each one that the page still lacks. Entries of several paths are merged. `left_out` are
    the few entries of the partitions that the list leaves out, `unless` they have a value; they are
    counted, and the total is less by their number. `beside` has few further entries in an order of
    its own: they are read, sorted and merged, and counted.
    """

    total_names: Sequence[str | None]
    reads: int = 1
    left_out: Sequence[AccessPath] = ()
    beside: Sequence[AccessPath] = ()


@dataclass(frozen=True, slots=True)
class GatheredPlan(_ByPaths):
    """Read all entries, filter and sort them.

    `reads_items`: the entries do not show all facets that the query needs, so the items are read
    before they are filtered, unless they are so many that reading the index UPDATES costs less.
    """

    reads_items: bool


@dataclass(frozen=True, slots=True)
class AliasPlan:
    """Read the entities that alias items lead to, filter and sort them."""

    aliases: list[Key]


type Words = Sequence[Sequence[AccessPath]]
"""Paths that lead to all entities with a word, for each of some words."""


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """Read the entries of the search index for one of the words, filter and sort them.

    `reads_items`: the entries do not show all facets that the query needs.
    """

    words: Words
    reads_items: bool


type Plan = OrderedPlan | GatheredPlan | AliasPlan | SearchPlan


def plan_list[E: Stored](
    collection: Collection[E], query: ListQuery, totals: Callable[[], Totals]
) -> Plan:
    """Return how to read a list with the fewest index entries.

    `totals` is called only when the number of entities decides: filters name several partitions,
    or only the whole collection has the order.
    """
    return _Planner(collection, query, totals).plan()


@dataclass(frozen=True, slots=True)
class _Part:
    """The whole collection, or the entities with one of some values of a facet.

    If `range_of` names a sort, the entities are the range `bounds` of it, which has one value, so
    that they are in the order of their ids.
    """

    keys: Sequence[str]
    sorts: IndexBySort
    total_names: Sequence[str | None] = (None,)
    facet: str | None = None
    range_of: str | None = None
    bounds: Range = (None, None)

    @property
    def covered(self) -> frozenset[str]:
        return frozenset({self.facet} if self.facet else ())

    def paths(self, sort: str) -> Sequence[AccessPath]:
        """Return the paths to the entities in one of the sorts."""
        order = self.range_of or sort
        return [
            AccessPath(self.sorts[sort], key, order, self.bounds, self.covered) for key in self.keys
        ]

    def total(self, totals: Totals) -> int:
        """Return the number of entities."""
        return sum(map(totals.of, self.total_names))


@dataclass(frozen=True, slots=True)
class _Planner[E: Stored]:
    collection: Collection[E]
    query: ListQuery
    totals: Callable[[], Totals]

    def plan(self) -> Plan:
        collection, query = self.collection, self.query
        if plan := self._looked_up(often_shared=False) or self._searched():
            return plan
        whole = _Part([collection.kind], collection.sorts)
        part = self._cheapest_partition() or whole
        if (
            plan := self._nearly_whole(part)
            or self._few_beside(part)
            or self._in_range(part, whole)
        ):
            return plan
        many = None if part.facet else self._looked_up(often_shared=True)
        if plan := many or self._counted():
            return plan
        if query.facets - {part.facet}:
            return self._filtered(part)
        if query.sort in part.sorts:
            return OrderedPlan(part.paths(query.sort), part.total_names)
        return self._sorted_otherwise(part)

    def _looked_up(self, *, often_shared: bool) -> Plan | None:
        """Plan a list with a filter that leads to few entities, or to fewer (`often_shared`)."""
        collection, query = self.collection, self.query
        for facet, found in collection.lookups.items():
            values = query.values(facet)
            if not values:
                continue
            if callable(found):
                return AliasPlan([key for value in values for key in found(value)])
            if found.often_shared == often_shared:
                return self._gathered(
                    [
                        AccessPath(
                            found.index,
                            collection.partition(facet, value),
                            found.order,
                            covered=frozenset({facet}),
                        )
                        for value in values
                    ]
                )
        return None

    def _searched(self) -> SearchPlan | None:
        """Plan a list whose words the search index finds, unless it has an exact code."""
        collection, query = self.collection, self.query
        if collection.searched is None:
            return None
        entries = collection.search_entries
        parts = indexed_parts(entries, query.contains.get(SEARCH, ()))
        exact = query.equal.keys() & collection.sorts.keys() & collection.searched
        if exact or not parts:
            return None
        words = [
            [
                AccessPath(index, partition, None, prefix=prefix_of(part))
                for index, partition in search_partitions(entries, collection.kind, part)
            ]
            for part in parts
        ]
        needed = {query.sort, *query.facets} - {ID, SEARCH}
        return SearchPlan(words, reads_items=not needed <= collection.searched)

    def _cheapest_partition(self) -> _Part | None:
        query = self.query
        parts = [
            self._part(facet)
            for facet, partition in self.collection.partitions.items()
            if partition.sorts and query.values(facet)
        ]
        if len(parts) <= 1:
            return parts[0] if parts else None
        totals = self.totals()

        def cost(part: _Part) -> int:
            shown = not self._filtered(part).reads_items
            return part.total(totals) * (1 if shown else ITEM_COST)

        return min(parts, key=cost)

    def _counted(self) -> Plan | None:
        """Plan a list whose only filter is counted, but has no index."""
        query = self.query
        if len(query.equal) != 1 or query.facets - query.equal.keys():
            return None
        (facet,) = query.equal
        partition = self.collection.partitions.get(facet)
        if partition is None or partition.sorts:
            return None
        return self._sorted_otherwise(self._part(facet))

    def _in_range(self, part: _Part, whole: _Part) -> GatheredPlan | None:
        """Plan a list with a filter that is a range of a part or of the whole collection."""
        ranges = [*self._ranges(part), *(self._ranges(whole) if part.facet else ())]
        plans = [self._gathered(paths) for paths in ranges]
        return next((plan for plan in plans if not plan.reads_items), plans[0] if plans else None)

    def _nearly_whole(self, part: _Part) -> OrderedPlan | None:
        """Plan a partition up to a moment shortly before now; None for another list."""
        query = self.query
        if query.between or query.contains or {*query.equal, *query.among} - {part.facet}:
            return None
        for facet, (low, high) in query.moving.items():
            if low is None and high is not None and {facet, query.sort} <= part.sorts.keys():
                index = part.sorts[facet]
                later = [
                    AccessPath(index, key, facet, (high + AFTER_SEPARATOR, None))
                    for key in part.keys
                ]
                if query.sort != facet or query.unless:
                    paths = part.paths(query.sort)
                    needed = query.facets - part.covered
                    shown = all(self._shows(path, one) for path in paths for one in needed)
                    # In the order of the range, what is left out is at one end.
                    reads = _READS if query.sort != facet else 1
                    return OrderedPlan(paths, part.total_names, reads, later) if shown else None
                covered = part.covered | {facet}
                paths = [AccessPath(index, key, facet, (low, high), covered) for key in part.keys]
                return OrderedPlan(paths, part.total_names, left_out=later)
        return None

    def _few_beside(self, part: _Part) -> OrderedPlan | None:
        """Plan partitions as a whole, and of others what is after a moment shortly before now.

        None for another list.
        """
        query, facet = self.query, part.facet
        if facet is None or query.unless is None or query.unless[0] != facet:
            return None
        if query.between or query.contains or {*query.equal, *query.among} != {facet}:
            return None
        spared = [one for one in query.values(facet) if one in query.unless[1]]
        whole = self._part(facet, spared)
        for moving, (low, high) in query.moving.items():
            if spared and high is None and {moving, query.sort} <= part.sorts.keys():
                covered = part.covered | {moving}
                paths = [replace(path, covered=covered) for path in whole.paths(query.sort)]
                beside = [
                    AccessPath(part.sorts[moving], key, moving, (low, high), covered)
                    for key in part.keys
                    if key not in whole.keys
                ]
                return OrderedPlan(paths, whole.total_names, beside=beside)
        return None

    def _part(self, facet: str, values: Sequence[str] | None = None) -> _Part:
        """Return the entities whose facet has one of some values, by default of the query."""
        collection, values = self.collection, values or self.query.values(facet)
        names, partition = [f"{facet}={one}" for one in values], collection.partitions[facet]
        exact = partition.exact_range(values[0]) if len(values) == 1 else None
        if exact is None:
            keys = [collection.partition(facet, one) for one in values]
            return _Part(keys, partition.sorts, names, facet)
        sort, bounds = exact
        sorts = {ID: collection.sorts[sort]}
        return _Part([collection.kind], sorts, names, facet, range_of=sort, bounds=bounds)

    def _ranges(self, part: _Part) -> Iterator[Sequence[AccessPath]]:
        """Yield the ranges of a part that fulfill one of the filters."""
        equal = {facet: (value, value) for facet, value in self.query.equal.items()}
        for facet, bounds in (*equal.items(), *self.query.ranges.items()):
            if facet in part.sorts:
                # With `unless`, `moving` is another condition on the facet than its range.
                is_whole = not (self.query.unless and facet in self.query.moving)
                covered = part.covered | {facet} if is_whole else part.covered
                yield [
                    AccessPath(part.sorts[facet], key, facet, bounds, covered) for key in part.keys
                ]

    def _gathered(self, paths: Sequence[AccessPath]) -> GatheredPlan:
        query = self.query
        # Every sort key ends with the id.
        order = {query.sort} - {ID}
        needed = {*order, *query.facets}
        shown = all(self._shows(path, facet) for path in paths for facet in needed - path.covered)
        is_lookup = any(path.sort is None for path in paths)
        several_entries = is_lookup and self.collection.more_lookups is not None
        return GatheredPlan(paths, reads_items=several_entries or not shown)

    def _shows(self, path: AccessPath, facet: str) -> bool:
        return self.collection.carries(path.index, path.sort, facet)

    def _filtered(self, part: _Part) -> GatheredPlan:
        """Plan a list with a filter or an order that the indexes of a part do not have."""
        plans = [self._gathered(part.paths(sort)) for sort in part.sorts]
        return next((plan for plan in plans if not plan.reads_items), plans[0])

    def _sorted_otherwise(self, part: _Part) -> Plan:
        """Plan a partition in an order that only the whole collection has."""
        collection, query, facet = self.collection, self.query, part.facet
        assert facet is not None  # noqa: S101 - the whole collection has every order
        index = collection.sorts[query.sort]
        implied = collection.partitions[facet].implied_ranges
        bounds = implied.get((query.equal.get(facet, ""), query.sort))
        if bounds:
            path = AccessPath(index, collection.kind, query.sort, bounds, part.covered)
            return OrderedPlan([path], part.total_names)
        whole = _Part([collection.kind], collection.sorts)
        gathered = self._filtered(part if part.sorts else whole)
        if not collection.carries(index, query.sort, facet):
            return gathered
        totals = self.totals()
        matches, entities = part.total(totals), totals.of(None)
        spacing = max(1, entities // max(matches, 1))
        path = AccessPath(index, collection.kind, query.sort)
        # Twice as many: the matches are not spaced evenly.
        ordered = OrderedPlan([path], part.total_names, 2 * spacing)
        if query.after is not None:
            return ordered if isinstance(query.after, str) else gathered
        read = matches if part.sorts else entities
        cost = read * (ITEM_COST if gathered.reads_items else 1)
        return ordered if (query.offset + query.per_page) * spacing < cost else gathered
