"""The choice of what a list reads: the fewest index entries that cover its filters."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from shared.kernel.db.collection import Collection
from shared.kernel.db.counters import Totals
from shared.kernel.db.facets import AFTER_SEPARATOR, ID, Facets
from shared.kernel.db.indexes import IndexBySort, IndirectLookup, Range
from shared.kernel.db.items import Key
from shared.kernel.db.lists.cursor import Mark
from shared.kernel.db.search import SEARCH, indexed_parts, prefix_of, search_partitions
from shared.kernel.db.store import Store
from shared.kernel.db.table import index_keys
from shared.kernel.fields import Stored

_MAX_OFFSET_PAGES = 10**9

ITEM_COST = 40
"""Index entries that cost as much as an item: a page of a Query has some 4 000 entries, a call of
BatchGetItem 100 items."""

PAGE_ENTRIES = 5_000
"""More index entries than a Query returns at once, at most 1 MB. A Limit has 32 bits."""

_READS = 8
"""Entries that are read for each one of a list that leaves out few: these may lie side by side."""


type Comparison = tuple[str, Sequence[tuple[str, str]]]
"""The form of a condition, and the facets and values that it compares."""


@dataclass(frozen=True, slots=True)
class ListQuery:
    """Sort, filters and page of a list. `equal`, `contains` and `between` are by facet.

    A facet contains all of its texts in `contains`; those of the facet SEARCH are words.
    """

    sort: str
    descending: bool
    page: int = 1
    per_page: int = 25
    equal: Mapping[str, str] = field(default_factory=dict)
    contains: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    between: Mapping[str, Range] = field(default_factory=dict)
    moving: Mapping[str, Range] = field(default_factory=dict)
    """Further ranges, one bound of which is a moment shortly before now: few entities are after it,
    and the range is another one at every moment."""
    unless: tuple[str, str] | None = None
    """Facet and value of entities that `moving` does not leave out."""
    doubt: tuple[str, str] | None = None
    """Facet and value: entities whose facet is above it may not match, although their entries do.
    They are read, because their facets depend on the time."""
    after: Mark | None = None
    """The mark of the cursor with which the caller continues the list."""
    parameters: Sequence[str] = ()
    """Names of the filters that the list has, for the message that refuses a query."""
    asked: Sequence[str] = ()
    """Those that the caller uses."""

    @property
    def ranges(self) -> Mapping[str, Range]:
        """The ranges of all entities by facet: what `between` and `moving` have in common."""
        found = dict(self.between)
        for facet, (low, high) in () if self.unless else self.moving.items():
            least, most = found.get(facet, (None, None))
            found[facet] = (
                max((one for one in (low, least) if one), default=None),
                min((one for one in (high, most) if one), default=None),
            )
        return found

    @property
    def offset(self) -> int:
        """Number of entries before the page."""
        return min(self.page - 1, _MAX_OFFSET_PAGES) * self.per_page

    @property
    def is_empty(self) -> bool:
        """Whether a range ends before it begins. DynamoDB refuses such a range."""
        return any(low and high and low > high for low, high in self.ranges.values())

    def comparisons(self) -> Iterator[Comparison]:
        """Yield the filters."""
        for facet, text in self.equal.items():
            yield "{} = {}", [(facet, text)]
        for facet, texts in self.contains.items():
            for text in texts:
                yield "contains({}, {})", [(facet, text)]
        yield from _bounds(self.ranges)
        if self.unless:
            for form, operands in _bounds(self.moving):
                yield f"({form} OR {{}} = {{}})", [*operands, self.unless]

    @property
    def facets(self) -> frozenset[str]:
        """The facets that the filters compare."""
        return frozenset(facet for _, operands in self.comparisons() for facet, _ in operands)

    def matches(self, facets: Facets, *, covered: frozenset[str]) -> bool:
        """Return whether the facets of an entity match all filters but the equalities `covered`."""

        def is_within(ranges: Mapping[str, Range]) -> bool:
            return all(_is_between(facets.get(name), *bounds) for name, bounds in ranges.items())

        return (
            all(
                facets.get(name) == text for name, text in self.equal.items() if name not in covered
            )
            and all(
                text in (facets.get(name) or "")
                for name, texts in self.contains.items()
                for text in texts
            )
            and is_within(self.ranges)
            and (not self.unless or self.unless in facets.items() or is_within(self.moving))
        )


def _bounds(ranges: Mapping[str, Range]) -> Iterator[Comparison]:
    for facet, (low, high) in ranges.items():
        if low is not None:
            yield "{} >= {}", [(facet, low)]
        if high is not None:
            yield "{} <= {}", [(facet, high)]


def _is_between(text: str | None, low: str | None, high: str | None) -> bool:
    return text is not None and (low or text) <= text <= (high or text)


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
class OrderedPlan:
    """Read the page in the order of an index; the total is a counter (`total_name`).

    When the path does not cover the filters, they are applied to the entries; `reads` entries are
    read for each one that the page still lacks. `left_out` are the few entries of the partition
    that the list leaves out, `unless` they have a value; they are counted, and the total is less by
    their number.
    """

    path: AccessPath
    total_name: str | None
    reads: int = 1
    left_out: AccessPath | None = None


@dataclass(frozen=True, slots=True)
class GatheredPlan:
    """Read all entries of a path, and of `others` with other entities, filter and sort them.

    `reads_items`: the entries do not show all facets that the query needs, so the items are read
    before they are filtered, unless they are so many that reading the index UPDATES costs less.
    """

    path: AccessPath
    reads_items: bool
    others: Sequence[AccessPath] = ()


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
    """The whole collection, or the entities with one value of a facet.

    If `range_of` names a sort, the entities are the range `bounds` of it, which has one value, so
    that they are in the order of their ids.
    """

    key: str
    sorts: IndexBySort
    total_name: str | None = None
    facet: str | None = None
    range_of: str | None = None
    bounds: Range = (None, None)

    @property
    def covered(self) -> frozenset[str]:
        return frozenset({self.facet} if self.facet else ())

    def path(self, sort: str) -> AccessPath:
        """Return the path to the entities in one of the sorts."""
        order = self.range_of or sort
        return AccessPath(self.sorts[sort], self.key, order, self.bounds, self.covered)


@dataclass(frozen=True, slots=True)
class _Planner[E: Stored]:
    collection: Collection[E]
    query: ListQuery
    totals: Callable[[], Totals]

    def plan(self) -> Plan:
        collection, query = self.collection, self.query
        if plan := self._looked_up(often_shared=False) or self._searched():
            return plan
        whole = _Part(collection.kind, collection.sorts)
        part = self._cheapest_partition() or whole
        if plan := self._nearly_whole(part) or self._in_range(part, whole):
            return plan
        many = None if part.facet else self._looked_up(often_shared=True)
        if plan := many or self._counted():
            return plan
        if query.facets - {part.facet}:
            return self._filtered(part)
        if query.sort in part.sorts:
            return OrderedPlan(part.path(query.sort), part.total_name)
        return self._sorted_otherwise(part)

    def _looked_up(self, *, often_shared: bool) -> Plan | None:
        """Plan a list with a filter that leads to few entities, or to fewer (`often_shared`)."""
        collection, query = self.collection, self.query
        for facet, found in collection.lookups.items():
            value = query.equal.get(facet)
            if value is None:
                continue
            if callable(found):
                return AliasPlan(found(value))
            indexed = found.facet if isinstance(found, IndirectLookup) else facet
            values = found.values(value) if isinstance(found, IndirectLookup) else [value]
            lookup = collection.index_lookups[indexed]
            if lookup.often_shared == often_shared:
                path, *others = (
                    AccessPath(
                        lookup.index,
                        collection.partition(indexed, one),
                        lookup.order,
                        covered=frozenset({facet}),
                    )
                    for one in values
                )
                return replace(self._gathered(path), others=others)
        return None

    def _searched(self) -> SearchPlan | None:
        """Plan a list whose words the search index finds, unless it has an exact code."""
        collection, query = self.collection, self.query
        parts = indexed_parts(query.contains.get(SEARCH, ()))
        exact = query.equal.keys() & collection.sorts.keys()
        if collection.searched is None or exact or not parts:
            return None
        words = [
            [
                AccessPath(index, partition, None, prefix=prefix_of(part))
                for index, partition in search_partitions(collection.kind, part)
            ]
            for part in parts
        ]
        needed = {query.sort, *query.facets} - {ID, SEARCH}
        return SearchPlan(words, reads_items=not needed <= collection.searched)

    def _cheapest_partition(self) -> _Part | None:
        collection, equal = self.collection, self.query.equal
        parts = [
            self._part(facet)
            for facet, partition in collection.partitions.items()
            if partition.sorts and facet in equal
        ]
        if len(parts) <= 1:
            return parts[0] if parts else None
        totals = self.totals()

        def cost(part: _Part) -> int:
            shown = not self._filtered(part).reads_items
            return totals.of(part.total_name) * (1 if shown else ITEM_COST)

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
        plans = [self._gathered(path) for path in ranges]
        return next((plan for plan in plans if not plan.reads_items), plans[0] if plans else None)

    def _nearly_whole(self, part: _Part) -> OrderedPlan | None:
        """Plan a partition up to a moment shortly before now; None for another list."""
        query = self.query
        if query.between or query.contains or set(query.equal) - {part.facet}:
            return None
        for facet, (low, high) in query.moving.items():
            if low is None and high is not None and {facet, query.sort} <= part.sorts.keys():
                index = part.sorts[facet]
                later = AccessPath(index, part.key, facet, (high + AFTER_SEPARATOR, None))
                if query.sort != facet or query.unless:
                    path = part.path(query.sort)
                    needed = query.facets - part.covered
                    shown = all(
                        self.collection.carries(path.index, path.sort, one) for one in needed
                    )
                    # In the order of the range, what is left out is at one end.
                    reads = _READS if query.sort != facet else 1
                    return OrderedPlan(path, part.total_name, reads, later) if shown else None
                covered = part.covered | {facet}
                path = AccessPath(index, part.key, facet, (low, high), covered)
                return OrderedPlan(path, part.total_name, left_out=later)
        return None

    def _part(self, facet: str) -> _Part:
        """Return the entities whose facet has the value of the query."""
        collection, value = self.collection, self.query.equal[facet]
        name, partition = f"{facet}={value}", collection.partitions[facet]
        exact = partition.exact_range(value)
        if exact is None:
            return _Part(collection.partition(facet, value), partition.sorts, name, facet)
        sort, bounds = exact
        sorts = {ID: collection.sorts[sort]}
        return _Part(collection.kind, sorts, name, facet, range_of=sort, bounds=bounds)

    def _ranges(self, part: _Part) -> Iterator[AccessPath]:
        """Yield the ranges of a part that fulfill one of the filters."""
        equal = {facet: (value, value) for facet, value in self.query.equal.items()}
        for facet, bounds in (*equal.items(), *self.query.ranges.items()):
            if facet in part.sorts:
                covered = part.covered | {facet}
                yield AccessPath(part.sorts[facet], part.key, facet, bounds, covered)

    def _gathered(self, path: AccessPath) -> GatheredPlan:
        query, collection = self.query, self.collection
        # Every sort key ends with the id.
        order = {query.sort} - {ID}
        needed = {*order, *query.facets} - path.covered
        shown = all(collection.carries(path.index, path.sort, facet) for facet in needed)
        several_entries = path.sort is None and collection.more_lookups is not None
        return GatheredPlan(path, reads_items=several_entries or not shown)

    def _filtered(self, part: _Part) -> GatheredPlan:
        """Plan a list with a filter or an order that the indexes of a part do not have."""
        plans = [self._gathered(part.path(sort)) for sort in part.sorts]
        return next((plan for plan in plans if not plan.reads_items), plans[0])

    def _sorted_otherwise(self, part: _Part) -> Plan:
        """Plan a partition in an order that only the whole collection has."""
        collection, query, facet = self.collection, self.query, part.facet
        assert facet is not None  # noqa: S101 - the whole collection has every order
        index = collection.sorts[query.sort]
        implied = collection.partitions[facet].implied_ranges
        bounds = implied.get((query.equal[facet], query.sort))
        if bounds:
            path = AccessPath(index, collection.kind, query.sort, bounds, part.covered)
            return OrderedPlan(path, part.total_name)
        whole = _Part(collection.kind, collection.sorts)
        gathered = self._filtered(part if part.sorts else whole)
        if not collection.carries(index, query.sort, facet):
            return gathered
        totals = self.totals()
        matches, entities = totals.of(part.total_name), totals.of(None)
        spacing = max(1, entities // max(matches, 1))
        path = AccessPath(index, collection.kind, query.sort)
        # Twice as many: the matches are not spaced evenly.
        ordered = OrderedPlan(path, part.total_name, 2 * spacing)
        if query.after is not None:
            return ordered if isinstance(query.after, str) else gathered
        read = matches if part.sorts else entities
        cost = read * (ITEM_COST if gathered.reads_items else 1)
        return ordered if (query.offset + query.per_page) * spacing < cost else gathered
