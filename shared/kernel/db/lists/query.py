"""What a list is asked for: sort, filters and page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from shared.kernel.db.facets import Facets
from shared.kernel.db.indexes import Range
from shared.kernel.db.lists.cursor import Mark

_MAX_OFFSET_PAGES = 10**9


type Comparison = tuple[str, Sequence[tuple[str, str]]]
"""The form of a condition, and the facets and values that it compares."""


@dataclass(frozen=True, slots=True)
class ListQuery:
    """Sort, filters and page of a list. The filters are by facet.

    A facet has one of its texts in `among`, and contains all of its texts in `contains`; those of
    the facet SEARCH are words. A query has a facet in `equal` or in `among`.
    """

    sort: str
    descending: bool
    page: int = 1
    per_page: int = 25
    equal: Mapping[str, str] = field(default_factory=dict)
    among: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    contains: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    between: Mapping[str, Range] = field(default_factory=dict)
    moving: Mapping[str, Range] = field(default_factory=dict)
    """Further ranges, one bound of which is a moment shortly before now: few entities are after it,
    and the range is another one at every moment."""
    unless: tuple[str, tuple[str, ...]] | None = None
    """Facet and values of entities that `moving` does not leave out."""
    ids: tuple[int, ...] | None = None
    """The entities that the list may have; None for all."""
    doubt: tuple[str, str] | None = None
    """Facet and moment: entities that have the facet may not match at the moment, although their
    entries do. They are read, because their facets depend on the time."""
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

    def values(self, facet: str) -> tuple[str, ...]:
        """Return the values of which entities have one; empty if any will do."""
        return (self.equal[facet],) if facet in self.equal else self.among.get(facet, ())

    @property
    def is_empty(self) -> bool:
        """Whether a range ends before it begins. DynamoDB refuses such a range."""
        return any(low and high and low > high for low, high in self.ranges.values())

    def comparisons(self) -> Iterator[Comparison]:
        """Yield the filters."""
        for facet, text in self.equal.items():
            yield "{} = {}", [(facet, text)]
        for facet, texts in self.among.items():
            yield f"({_any_of(texts)})", [(facet, text) for text in texts]
        for facet, texts in self.contains.items():
            for text in texts:
                yield "contains({}, {})", [(facet, text)]
        yield from _bounds(self.ranges)
        if self.unless:
            facet, texts = self.unless
            for form, operands in _bounds(self.moving):
                spared = [(facet, text) for text in texts]
                yield f"({form} OR {_any_of(texts)})", [*operands, *spared]

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
                facets.get(name) in self.values(name)
                for name in (*self.equal, *self.among)
                if name not in covered
            )
            and all(
                text in (facets.get(name) or "")
                for name, texts in self.contains.items()
                for text in texts
            )
            and is_within(self.ranges)
            and (
                not self.unless
                or facets.get(self.unless[0]) in self.unless[1]
                or is_within(self.moving)
            )
        )


def _any_of(texts: Sequence[str]) -> str:
    return " OR ".join(["{} = {}"] * len(texts))


def _bounds(ranges: Mapping[str, Range]) -> Iterator[Comparison]:
    for facet, (low, high) in ranges.items():
        if low is not None:
            yield "{} >= {}", [(facet, low)]
        if high is not None:
            yield "{} <= {}", [(facet, high)]


def _is_between(text: str | None, low: str | None, high: str | None) -> bool:
    return text is not None and (low or text) <= text <= (high or text)
