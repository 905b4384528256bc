"""What follows from an entity: the keys, facets, index entries and totals of its items.

Nothing here reads or writes a table; `shared.kernel.db.collection` does.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

from shared.kernel.db.facets import (
    ID,
    ID_DIGITS,
    Facets,
    id_text,
    sort_text,
)
from shared.kernel.db.indexes import (
    AnyLookup,
    IndexBySort,
    Lookup,
    Partition,
    counted,
    entry,
)
from shared.kernel.db.items import Item, Key, item_at
from shared.kernel.db.records import HEAD, SCHEMA, Record
from shared.kernel.db.schema import FIRST_VERSION
from shared.kernel.db.search import (
    EVERYWHERE,
    SEARCH,
    SEARCH_INDEX,
    SearchEntries,
    search_items,
)
from shared.kernel.db.table import STABLE_FACETS, UPDATES, VOLATILE_FACETS
from shared.kernel.fields import Stored

UPDATED_AT = "updated_at"

_FIXED_ITEM = "LOOKUP#FIXED"
"""Sort key of the item with the index entries of fixed facets."""


@dataclass(frozen=True)
class EntityItems[E: Stored]:
    """How the entities of one kind are stored: their items, with facets and index entries.

    Attributes:
        kind: Prefix of the keys; name of the sequence of ids and of the totals.
        noun: What messages call an entity.
        model: The stored model.
        facets: Returns the facets of an entity; it must hold every name used below.
        sorts: The sorts of the whole collection. Every change writes the index UPDATES, so
            `updated_at` is there, unless entities never change.
        partitions: Facets (such as status) whose values have totals and sorts of their own.
        fixed: Facets that stay as they are created. The index entries of the partitions among them
            are in an item of their own, which shows these facets only: changes of the entity leave
            it alone. It also has search entries, and shows what these show.
        lookups: Facets that few entities share (such as a reference), which are found by an index,
            by that of another facet, or by alias items. A list uses the first one of its filters.
        more_lookups: Returns further values of the lookup indexes, for entities that are found by
            several. Each mapping (facet → value) is an item of its own, which has keys only and is
            written with the entity, and has search entries in the other indexes. The values never
            change.
        totals_within: Kind whose items also hold the totals of this one, because most transactions
            change both; None if the totals have their own items.
        volatile: Facets that change often and alone, such as a quantity, and with them only
            `updated_at`. Only the index UPDATES carries them.
        searched: The facets that the entries of the search index show in addition to the text:
            sorts that only change with it, or never. None for entities that are not searched.
        search_entries: Which places of the text have entries.
        id_digits: Digits of an id in keys; PAIR_DIGITS if the ids are those of `pair_id`.
        search_alias: Returns the key of the alias that holds the first search entries, in place of
            an item of their own; see `shared.kernel.db.alias_entries`.
        since: Facets, numbers of indexes, and SEARCH_INDEX, that are new → version of the schema
            from which on the items have them. Names that are not listed exist in every served
            version.
    """

    kind: str
    noun: str
    model: type[E]
    facets: Callable[[E], Facets]
    sorts: IndexBySort
    partitions: Mapping[str, Partition] = field(default_factory=dict)
    fixed: frozenset[str] = frozenset()
    lookups: Mapping[str, AnyLookup] = field(default_factory=dict)
    more_lookups: Callable[[E], Iterable[Facets]] | None = None
    totals_within: str | None = None
    volatile: frozenset[str] = frozenset()
    searched: frozenset[str] | None = None
    search_entries: SearchEntries = EVERYWHERE
    id_digits: int = ID_DIGITS
    search_alias: Callable[[E], Key] | None = None
    since: Mapping[str | int, int] = field(default_factory=dict)

    def at(self, version: int) -> Self:
        """Return the form that a table of this version has: without what is newer."""
        newer = {name for name, since in self.since.items() if since > version}
        if not newer:
            return self

        def known(indexes: IndexBySort) -> IndexBySort:
            return {name: at for name, at in indexes.items() if newer.isdisjoint((name, at))}

        def facets(entity: E) -> Facets:
            found = self.facets(entity).items()
            return {name: value for name, value in found if name not in newer}

        def is_known(lookup: Lookup) -> bool:
            return newer.isdisjoint((lookup.index, lookup.order))

        return replace(
            self,
            facets=facets,
            sorts=known(self.sorts),
            partitions={
                facet: replace(partition, sorts=sorts)
                for facet, partition in self.partitions.items()
                if newer.isdisjoint((facet, counted(facet)))
                and ((sorts := known(partition.sorts)) or not partition.sorts)
            },
            lookups={
                facet: found
                for facet, found in self.lookups.items()
                if facet not in newer and (callable(found) or is_known(found))
            },
            searched=None if SEARCH_INDEX in newer else self.searched,
            since={},
        )

    def stored_facets(self, entity: E) -> Facets:
        """Return the facets of an entity, with the text to search in as the entries show it."""
        facets = self.facets(entity)
        if self.searched is None:
            return facets
        return {**facets, SEARCH: self.search_entries.stored(facets[SEARCH] or "")}

    def differs(self, older: int, newer: int) -> bool:
        """Return whether the items have another form in the newer of two versions."""
        return any(older < since <= newer for since in self.since.values())

    def key(self, number: int) -> Key:
        """Return the key of an entity's first item."""
        return (f"{self.kind}#{id_text(number)}", HEAD)

    # What follows from an entity, in the form of the version in which it was written

    def derived_attributes(self, record: Record[E]) -> Item:
        """Return the attributes of a head that follow from its entity: facets and index keys."""
        form, facets = self._form(record)
        schema = {SCHEMA: record.schema} if record.schema > FIRST_VERSION else {}
        return schema | form._facet_attributes(facets) | form._index_entries(record.id, facets)

    def derived_items(self, record: Record[E]) -> list[Item]:
        """Return the additional items of an entity: lookups, fixed facets and search entries."""
        form, facets = self._form(record)
        items = [*form._lookup_items(record), *form._fixed_items(record.id, facets)]
        return [*items, *form._search_items(record.id, facets, items)]

    def counted_in(self, record: Record[E]) -> list[str]:
        """Return the names of the totals other than `n` that count an entity: `FACET=VALUE`."""
        if not self.partitions:
            return []
        form, facets = self._form(record)
        return [f"{facet}={facets[facet] or ''}" for facet in form.partitions]

    def _form(self, record: Record[E]) -> tuple[Self, Facets]:
        """Return the form in which an entity was written, and its facets, which are made once."""
        form, facets = self.at(record.schema), record.facets
        if facets is None:
            facets = form.stored_facets(record.entity)
            # `replace` does not copy them, so they are those of this entity in this form.
            object.__setattr__(record, "facets", facets)
        return form, facets

    def _lookup_items(self, record: Record[E]) -> list[Item]:
        partition, _ = self.key(record.id)
        further = self.more_lookups(record.entity) if self.more_lookups else ()
        return [
            item_at((partition, f"LOOKUP#{at:03d}"), **self._lookup_entries(record.id, facets))
            for at, facets in enumerate(further, start=1)
        ]

    def _fixed_items(self, number: int, facets: Facets) -> list[Item]:
        entries = self._partition_entries(number, facets, fixed=True)
        if not entries:
            return []
        shown = self._facet_attributes({name: facets[name] for name in sorted(self.fixed)})
        partition, _ = self.key(number)
        return [item_at((partition, _FIXED_ITEM), **shown, **entries)]

    def _search_items(self, number: int, facets: Facets, beside: Sequence[Item]) -> list[Item]:
        if self.searched is None:
            return []
        key = (self.key(number)[0], self.kind, id_text(number))
        shown = {name: facets[name] for name in (SEARCH, *sorted(self.searched))}
        items = search_items(self.search_entries, key, shown, beside)
        # The alias holds the entries of the first item.
        return items[1:] if self.search_alias else items

    def _facet_attributes(self, facets: Facets) -> Item:
        hidden = self._only_in_keys
        present = {
            name: value
            for name, value in facets.items()
            if value is not None and name not in hidden
        }
        volatile = {name: value for name, value in present.items() if name in self.volatile}
        stable = {name: value for name, value in present.items() if name not in volatile}
        return {STABLE_FACETS: stable} | ({VOLATILE_FACETS: volatile} if volatile else {})

    def _index_entries(self, number: int, facets: Facets) -> Item:
        attributes = self._lookup_entries(number, facets)
        for sort, index in self.sorts.items():
            attributes |= entry(index, self.kind, sort_text(facets[sort], number))
        return attributes | self._partition_entries(number, facets, fixed=False)

    def _lookup_entries(self, number: int, facets: Facets) -> Item:
        attributes: Item = {}
        for facet, lookup in self.index_lookups.items():
            value = facets[facet]
            if value is not None:
                attributes |= lookup.entry(self.partition(facet, value), number, facets)
        return attributes

    def _partition_entries(self, number: int, facets: Facets, *, fixed: bool) -> Item:
        attributes: Item = {}
        for facet, listed in self.partitions.items():
            if (facet in self.fixed) is fixed:
                value = facets[facet] or ""
                partition = self.partition(facet, value)
                attributes |= listed.entries(partition, value, number, facets)
        return attributes

    # Where lists find the entities, and what they see of them

    def partition(self, facet: str, value: str) -> str:
        """Return the partition key of the index entries whose facet has the value."""
        return f"{self.kind}#{facet}#{value}"

    def index_of(self, facet: str) -> int:
        """Return the number of the first index with the entities of one value of a facet."""
        found = self.index_lookups.get(facet)
        return found.index if found else next(iter(self.partitions[facet].sorts.values()))

    def facet_path(self, facet: str) -> tuple[str, str]:
        """Return the attribute that holds a facet, and the name of the facet in it."""
        return (VOLATILE_FACETS if facet in self.volatile else STABLE_FACETS, facet)

    def carries(self, index: int, sort: str | None, facet: str) -> bool:
        """Return whether the entries of an index, which is sorted by `sort`, show a facet."""
        if facet == sort:
            return True
        if index in self._fixed_indexes and facet not in self.fixed:
            return False
        return facet not in self._only_in_keys and (index == UPDATES or facet not in self.volatile)

    def entry_key(self, index: int, number: int) -> Key:
        """Return the key of the item that an entity has in an index."""
        partition, head = self.key(number)
        return partition, _FIXED_ITEM if index in self._fixed_indexes else head

    @cached_property
    def index_lookups(self) -> dict[str, Lookup]:
        """The lookups with an index of their own."""
        found = self.lookups.items()
        return {facet: lookup for facet, lookup in found if isinstance(lookup, Lookup)}

    @cached_property
    def _only_in_keys(self) -> set[str]:
        """The facets that no list reads from the entries of other indexes."""
        by_alias = {facet for facet, found in self.lookups.items() if callable(found)}
        hidden = {name for lookup in self.index_lookups.values() for name in lookup.hides}
        return {ID, UPDATED_AT} | by_alias | hidden

    @cached_property
    def _fixed_indexes(self) -> set[int]:
        found = (self.partitions[facet] for facet in self.partitions.keys() & self.fixed)
        return {index for partition in found for index in partition.sorts.values()}
