"""How a collection declares where the entities with a value of a facet are found."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from shared.kernel.db.items import Key

type IndexBySort = Mapping[str, int]
"""Sort name → number of the index with the entries in this order."""

type Range = tuple[str | None, str | None]
"""Lowest and highest text, both inclusive; None for no bound."""


@dataclass(frozen=True, slots=True)
class Partition:
    """How the entities with one value of a facet are listed and counted; each value has a total.

    Attributes:
        sorts: The sorts that each value has of its own.
        own_totals: For a facet with so many values (one per warehouse) that each value has counters
            of its own: the number of their shards. None for a total beside that of the collection.
        implied_ranges: Value and sort of the collection → range of the sort that has exactly the
            entities with this value. When the range has one value, its entries are in the order
            of the ids, and replace the entries of the partition in this order.
    """

    sorts: IndexBySort
    own_totals: int | None = None
    implied_ranges: Mapping[tuple[str, str], Range] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lookup:
    """The index that leads to the few entities with a value of a facet.

    Attributes:
        index: Number of the index.
        order: Facet by which the entities with a value are sorted; by default their id.
        hides: Facets that no entry shows, because this index leads to few entities: a list with
            another filter reads the entities.
    """

    index: int
    order: str | None = None
    hides: tuple[str, ...] = ()


type Aliases = Callable[[str], list[Key]]
"""Returns the keys of the alias items that lead from a value of a facet to its entities."""
