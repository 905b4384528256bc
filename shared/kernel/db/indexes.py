"""How a collection declares where the entities with a value of a facet are found."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from shared.kernel.db.facets import ID, Facets, id_text, sort_text
from shared.kernel.db.items import Item, Key
from shared.kernel.db.table import index_keys

type IndexBySort = Mapping[str, int]
"""Sort name → number of the index with the entries in this order."""

type Range = tuple[str | None, str | None]
"""Lowest and highest text, both inclusive; None for no bound."""


def entry(index: int, partition: str, sort_key: str) -> Item:
    """Return the attributes that enter an item in an index."""
    partition_name, sort_name = index_keys(index)
    return {partition_name: partition, sort_name: sort_key}


@dataclass(frozen=True, slots=True)
class Partition:
    """How the entities with one value of a facet are listed and counted; each value has a total.

    Attributes:
        sorts: The sorts of the entities with a value. Without sorts, the values are only counted,
            which `Collection.since` names in the form of `counted`.
        own_totals: For a facet with so many values (one per warehouse) that each value has counters
            of its own: the number of their shards. None: the
            totals are stored with those of the collection.
        implied_ranges: Value and sort of the collection → range of the sort that has exactly the
            entities with this value. When the range has one value, its entries are in the order
            of the ids, and replace the entries of the partition in this order.
    """

    sorts: IndexBySort = field(default_factory=dict)
    own_totals: int | None = None
    implied_ranges: Mapping[tuple[str, str], Range] = field(default_factory=dict)

    def exact_range(self, value: str) -> tuple[str, Range] | None:
        """Return the sort and its one value that exactly the entities with `value` have."""
        for (text, sort), bounds in self.implied_ranges.items():
            if text == value and bounds[0] == bounds[1]:
                return sort, bounds
        return None

    def entries(self, partition: str, value: str, number: int, facets: Facets) -> Item:
        """Return the attributes that enter an entity in `partition`, which is that of `value`."""
        replaced = {ID} if self.exact_range(value) else set()
        attributes: Item = {}
        for sort, index in self.sorts.items():
            if sort not in replaced:
                attributes |= entry(index, partition, sort_text(facets[sort], number))
        return attributes


def counted(facet: str) -> str:
    """Return the name in `Collection.since` of the totals of a facet that is older than they."""
    return f"{facet}="


@dataclass(frozen=True, slots=True)
class Lookup:
    """The index that leads to the few entities with a value of a facet.

    Attributes:
        index: Number of the index.
        order: Facet by which the entities with a value are sorted; by default their id.
        hides: Facets that no entry shows, because this index leads to few entities: a list with
            another filter reads the entities.
        often_shared: Many entities may have the same value, and nothing counts the values, because
            they are so many. Only a list without a narrower filter reads this index.
    """

    index: int
    order: str | None = None
    hides: tuple[str, ...] = ()
    often_shared: bool = False

    def entry(self, partition: str, number: int, facets: Facets) -> Item:
        """Return the attributes that enter an entity in the index."""
        order = self.order
        sort_key = sort_text(facets[order], number) if order else id_text(number)
        return entry(self.index, partition, sort_key)


type Aliases = Callable[[str], list[Key]]
"""Returns the keys of the alias items that lead from a value of a facet to its entities."""

type AnyLookup = Lookup | Aliases
"""What leads to the few entities with a value of a facet."""
