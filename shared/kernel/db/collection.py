"""A collection: the entities of one kind, with their items, index entries and totals.

A subject declares its collections in `repository.py`. This module keeps item, index entries and
totals consistent.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

from pydantic import BaseModel

from shared.kernel.db.actions import StaleRead
from shared.kernel.db.counters import Totals, own_kind, read_totals
from shared.kernel.db.facets import ID, ID_DIGITS, Facets, id_text, sort_text
from shared.kernel.db.indexes import (
    AnyLookup,
    IndexBySort,
    IndirectLookup,
    Lookup,
    Partition,
    counted,
    entry,
)
from shared.kernel.db.items import Item, Key, key_of
from shared.kernel.db.records import (
    HEAD,
    OWN_ATTRIBUTES,
    SCHEMA,
    Record,
    decode_entity,
    encode_entity,
    schema_of,
    tail_keys,
    tail_keys_of,
    tombstone,
)
from shared.kernel.db.schema import FIRST_VERSION
from shared.kernel.db.search import SEARCH, SEARCH_INDEX, search_items
from shared.kernel.db.store import Store
from shared.kernel.db.table import (
    PARTITION_KEY,
    SORT_KEY,
    STABLE_FACETS,
    UPDATES,
    VOLATILE_FACETS,
)
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Gone, NotFound, ServiceUnavailable

UPDATED_AT = "updated_at"

_FIXED_ITEM = "LOOKUP#FIXED"
"""Sort key of the item with the index entries of fixed facets."""
_UNCHANGED = "version = :seen"
_TRIES = 5
"""Attempts to read an entity in parts that other requests keep replacing."""


class _Condition(TypedDict, total=False):
    """The arguments of a conditional put."""

    protects_reads: bool
    condition: str
    names: Mapping[str, str]
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Collection[E: BaseModel]:
    """How the entities of one kind are stored and listed.

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
            it alone.
        lookups: Facets that few entities share (such as a reference), which are found by an index,
            by that of another facet, or by alias items. A list uses the first one of its filters.
        more_lookups: Returns further values of the lookup indexes, for entities that are found by
            several. Each mapping (facet → value) is an item of its own, which has keys only and is
            written with the entity. They never change.
        totals_within: Kind whose items also hold the totals of this one, because most transactions
            change both; None for items of its own.
        volatile: Facets that change without a change of any other facet, besides `updated_at`.
            Only the index UPDATES carries them.
        searched: The facets that the entries of the search index show, besides the text: sorts that
            only change with it, or never. None for entities that are not searched.
        id_digits: Digits of an id in keys; PAIR_DIGITS if the ids are those of `pair_id`.
        search_alias: Returns the key of the alias that holds the first search entries, in place of
            an item of their own; see `shared.kernel.db.alias_entries`.
        since: Facets, numbers of indexes, and SEARCH_INDEX, that are new → version of the schema
            from which on the items have them. What is not named here is in every version that is
            served.
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
    id_digits: int = ID_DIGITS
    search_alias: Callable[[E], Key] | None = None
    since: Mapping[str | int, int] = field(default_factory=dict)

    def at(self, version: int) -> "Collection[E]":
        """Return the collection as it is in a table of this version: without what is newer."""
        newer = {name for name, since in self.since.items() if since > version}
        if not newer:
            return self

        def known(indexes: IndexBySort) -> IndexBySort:
            return {name: at for name, at in indexes.items() if newer.isdisjoint((name, at))}

        def facets(entity: E) -> Facets:
            found = self.facets(entity).items()
            return {name: value for name, value in found if name not in newer}

        def is_known(lookup: Lookup | IndirectLookup) -> bool:
            if isinstance(lookup, Lookup):
                return newer.isdisjoint((lookup.index, lookup.order))
            return lookup.facet not in newer and is_known(self.index_lookups[lookup.facet])

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

    def differs(self, older: int, newer: int) -> bool:
        """Return whether the items have another form in the newer of two versions."""
        return any(older < since <= newer for since in self.since.values())

    def key(self, number: int) -> Key:
        """Return the key of an entity's first item."""
        return (f"{self.kind}#{id_text(number)}", HEAD)

    # Reading

    def get(self, store: Store, number: int) -> Record[E]:
        """Read one entity.

        Raises:
            NotFound: No entity ever had this id.
            Gone: The entity was deleted.
            ServiceUnavailable: Other requests replaced the entity during every attempt.
        """
        noun = f"{self.noun} {number}"
        key = self.key(number)
        head = store.get(key) if 0 < number < 10**self.id_digits else None
        for attempt in range(_TRIES):
            if head is None:
                raise NotFound(noun)
            if head.get("deleted"):
                raise Gone(noun)
            tails = store.get_many(tail_keys_of(head), uncached=attempt > 0)
            record = decode_entity(self.model, head, tails)
            if record:
                return record
            head = store.get_many([key], uncached=True).get(key)
        raise ServiceUnavailable

    def get_many(
        self,
        store: Store,
        numbers: Iterable[int],
        *,
        also: Iterable[Key] = (),
        unchanging: bool = False,
    ) -> list[Record[E]]:
        """Read entities in the order of `numbers`; leave out those that do not exist.

        The items `also` are read with them, into the cache of a repeatable store. If nothing that
        is read ever changes (`unchanging`), that costs half and caches nothing.
        """
        keys = [self.key(number) for number in numbers]
        read = store.get_unchanging if unchanging else store.get_many
        items = read([*keys, *also])
        heads = [items[key] for key in keys if key in items and not items[key].get("deleted")]
        tails = store.get_many([key for head in heads for key in tail_keys_of(head)])
        records = [
            decode_entity(self.model, head, tails) or self._again(store, head) for head in heads
        ]
        return [record for record in records if record]

    def from_items(self, found: Mapping[Key, Item], number: int) -> Record[E] | None:
        """Return an entity from items that were read before; None when it is not among them.

        All items of the entity must be among them.
        """
        head = found.get(self.key(number))
        if head is None or head.get("deleted"):
            return None
        return decode_entity(self.model, head, found)

    def _again(self, store: Store, head: Item) -> Record[E] | None:
        """Read an entity again that was replaced while its parts were read."""
        try:
            return self.get(store, int(head["id"]))
        except (NotFound, Gone):
            return None

    # What follows from an entity

    def derived_attributes(self, record: Record[E]) -> Item:
        """Return the attributes of a head that follow from its entity: facets and index keys."""
        form = self.at(record.schema)
        shown = form._shown(record.schema, record.id, form.facets(record.entity))
        return {name: value for name, value in shown.items() if value is not None}

    def derived_items(self, record: Record[E]) -> list[Item]:
        """Return the items besides its own that follow from an entity."""
        return self.at(record.schema)._derived_items(record.id, record.entity)

    def totals(self, store: Store, own: Iterable[str] = ()) -> Totals:
        """Read the totals; `own` are partitions with counters of their own to be read, too."""
        return read_totals(store, self.kind, own, within=self.totals_within)

    def own_shards(self, total: str) -> int | None:
        """Return the shards of a total with counters of its own; None for another total."""
        partition = self.partitions.get(total.partition("=")[0])
        return partition.own_totals if partition else None

    # Writing

    def insert(self, tx: Transaction, number: int, entity: E, *, version: int = 1) -> Record[E]:
        """Insert a new entity in the transaction.

        Args:
            tx: The transaction.
            number: An id allocated from the sequence of the kind.
            entity: The entity.
            version: Its first version; above 1 when the same transaction also changes it.
        """
        form = self.at(tx.store.version.written)
        facets = form.facets(entity)
        record, head, tails = form._items(tx, number, version, entity, facets)
        tx.insert(head)
        for item in (*tails, *form._derived_items(number, entity)):
            tx.put(item)
        self._count(tx, {"n": 1, **dict.fromkeys(form._partition_names(facets), 1)})
        return record

    def replace(
        self, tx: Transaction, record: Record[E], entity: E, *, version: int | None = None
    ) -> Record[E]:
        """Replace an entity in the transaction; the commit raises StaleRead if it changed.

        Args:
            tx: The transaction.
            record: The entity as it was read.
            entity: What replaces it.
            version: Its next version; by default the one after that of `record`.
        """
        form = self.at(tx.store.version.written)
        after = form.facets(entity)
        version = version or record.version + 1
        replaced, head, tails = form._items(tx, record.id, version, entity, after)
        tx.put(head, **self._unchanged(tx, record))
        for tail in tails:
            tx.put(tail)
        for key in self._tail_keys(record)[len(tails) :]:
            tx.delete(key)
        self._replace_derived(tx, record, entity)
        self._count(tx, self._count_changes(record, form._partition_names(after)))
        return replaced

    def bring_up_to_date(self, tx: Transaction, record: Record[E]) -> None:
        """Give an unchanged entity the facets and index entries of the version that is written.

        Its version stays, because nothing changes for callers; a concurrent change of the entity
        and this one exclude each other by the schema of the head.
        """
        head = tx.store.get(self.key(record.id))
        if head is None or (head["version"], schema_of(head)) != (record.version, record.schema):
            raise StaleRead
        form = self.at(tx.store.version.written)
        facets = form.facets(record.entity)
        kept = {name: head[name] for name in OWN_ATTRIBUTES}
        tx.put(
            {**kept, **form._shown(tx.store.version.written, record.id, facets)},
            **self._unchanged(tx, record),
        )
        self._replace_derived(tx, record, record.entity)
        self._count(tx, self._count_changes(record, form._partition_names(facets)))

    def update(self, tx: Transaction, record: Record[E], values: Mapping[str, object]) -> Record[E]:
        """Replace an entity by a copy with other `values` of some fields and of `updated_at`.

        If all values are as before, write nothing and return the record itself.
        """
        if all(getattr(record.entity, name) == value for name, value in values.items()):
            return record
        after = record.entity.model_copy(update={**values, "updated_at": tx.now})
        return self.replace(tx, record, after)

    def remove(self, tx: Transaction, record: Record[E]) -> None:
        """Delete an entity in the transaction; a tombstone keeps its id."""
        deleted = tombstone(self.key(record.id), record.id, record.version + 1, tx.now)
        tx.put(deleted, **self._unchanged(tx, record))
        derived = [key_of(item) for item in self.derived_items(record)]
        for key in (*self._tail_keys(record), *derived):
            tx.delete(key)
        self._count(tx, {"n": -1, **self._count_changes(record, ())})

    def _unchanged(self, tx: Transaction, record: Record[E]) -> "_Condition":
        """Return the condition that the head is as it was read.

        `bring_up_to_date` does not change the version. So as long as it can rewrite the head, the
        schema is compared, too.
        """
        values = {":seen": record.version}
        unchanged = _Condition(condition=_UNCHANGED, values=values, protects_reads=False)
        if self.differs(record.schema, tx.store.version.announced):
            schema = "attribute_not_exists(#schema)"
            if record.schema > FIRST_VERSION:
                schema, values[":schema"] = "#schema = :schema", record.schema
            unchanged["condition"] = f"{_UNCHANGED} AND {schema}"
            unchanged["names"] = {"#schema": SCHEMA}
        return unchanged

    def _count(self, tx: Transaction, changes: Mapping[str, int]) -> None:
        """Add changes of the totals, if there are any."""
        changed = {name: difference for name, difference in changes.items() if difference}
        if not changed:
            return
        shared = dict[str, int]()
        for name, difference in changed.items():
            shards = self.own_shards(name)
            if shards is None:
                shared[name] = difference
            else:
                tx.count(own_kind(self.kind, name), {"n": difference}, shards=shards)
        tx.count(self.kind, shared, within=self.totals_within)

    def _count_changes(self, record: Record[E], after: Iterable[str]) -> dict[str, int]:
        """Return the changes of the totals when the entity is in the partitions `after` instead."""
        counted = self.at(record.schema)
        changes = dict.fromkeys(counted._partition_names(counted.facets(record.entity)), -1)
        for name in after:
            changes[name] = changes.get(name, 0) + 1
        return changes

    def _replace_derived(self, tx: Transaction, record: Record[E], entity: E) -> None:
        """Write the further items of an entity that differ, and delete those that are left over."""
        is_kept = not self.fixed and self.searched is None
        if is_kept and not self.differs(record.schema, tx.store.version.written):
            return  # further lookups never change
        before = {key_of(item): item for item in self.derived_items(record)}
        after = self.at(tx.store.version.written)._derived_items(record.id, entity)
        for item in after:
            if before.pop(key_of(item), None) != item:
                tx.put(item)
        for key in before:
            tx.delete(key)

    def _items(
        self, tx: Transaction, number: int, version: int, entity: E, facets: Facets
    ) -> tuple[Record[E], Item, list[Item]]:
        """Return the record of an entity, its head and its tails in the form that is written."""
        written = tx.store.version.written
        record, head, tails = encode_entity(
            self.key(number),
            f"{self.noun} {number}",
            Record(number, version, entity, schema=written),
        )
        return record, {**head, **self._shown(written, number, facets)}, tails

    def _tail_keys(self, record: Record[E]) -> list[Key]:
        return tail_keys(self.key(record.id)[0], record.parts)

    @property
    def index_lookups(self) -> dict[str, Lookup]:
        """The lookups with an index of their own."""
        found = self.lookups.items()
        return {facet: lookup for facet, lookup in found if isinstance(lookup, Lookup)}

    @property
    def _only_in_keys(self) -> set[str]:
        """The facets that no list reads from the entries of other indexes."""
        by_alias = {facet for facet, found in self.lookups.items() if callable(found)}
        hidden = {name for lookup in self.index_lookups.values() for name in lookup.hides}
        return {ID, UPDATED_AT} | by_alias | hidden

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

    def _shown(self, version: int, number: int, facets: Facets) -> Item:
        """Return the attributes of a head that depend on the version of the schema."""
        return {
            SCHEMA: version if version > FIRST_VERSION else None,
            **self._facet_attributes(facets),
            **self._index_attributes(number, facets),
        }

    def _derived_items(self, number: int, entity: E) -> list[Item]:
        """Return the items of further lookups, of fixed facets and of the search index."""
        partition = self.key(number)[0]
        further = self.more_lookups(entity) if self.more_lookups else ()
        lookups = [
            {
                PARTITION_KEY: partition,
                SORT_KEY: f"LOOKUP#{at:03d}",
                **self._lookup_attributes(number, facets),
            }
            for at, facets in enumerate(further, start=1)
        ]
        facets = self.facets(entity)
        lookups += self._fixed_items(number, facets)
        if self.searched is None:
            return lookups
        shown = {name: facets[name] for name in (SEARCH, *sorted(self.searched))}
        found = search_items(partition, self.kind, id_text(number), shown)
        return [*lookups, *found[bool(self.search_alias) :]]

    def _fixed_items(self, number: int, facets: Facets) -> list[Item]:
        """Return the item with the index entries of fixed facets, if there are any."""
        entries = self._partition_attributes(number, facets, fixed=True)
        if not entries:
            return []
        shown = self._facet_attributes({name: facets[name] for name in sorted(self.fixed)})
        partition, _ = self.key(number)
        return [{PARTITION_KEY: partition, SORT_KEY: _FIXED_ITEM, **shown, **entries}]

    def entry_key(self, index: int, number: int) -> Key:
        """Return the key of the item that an entity has in an index."""
        partition, head = self.key(number)
        return partition, _FIXED_ITEM if index in self._fixed_indexes else head

    @property
    def _fixed_indexes(self) -> set[int]:
        found = (self.partitions[facet] for facet in self.partitions.keys() & self.fixed)
        return {index for partition in found for index in partition.sorts.values()}

    def _lookup_attributes(self, number: int, facets: Facets) -> Item:
        attributes: Item = {}
        for facet, lookup in self.index_lookups.items():
            value = facets[facet]
            if value is not None:
                attributes |= lookup.entry(self.partition(facet, value), number, facets)
        return attributes

    def _partition_attributes(self, number: int, facets: Facets, *, fixed: bool) -> Item:
        attributes: Item = {}
        for facet, listed in self.partitions.items():
            if (facet in self.fixed) is fixed:
                value = facets[facet] or ""
                partition = self.partition(facet, value)
                attributes |= listed.entries(partition, value, number, facets)
        return attributes

    def _index_attributes(self, number: int, facets: Facets) -> Item:
        attributes = self._lookup_attributes(number, facets)
        for sort, index in self.sorts.items():
            attributes |= entry(index, self.kind, sort_text(facets[sort], number))
        return attributes | self._partition_attributes(number, facets, fixed=False)

    def carries(self, index: int, sort: str | None, facet: str) -> bool:
        """Return whether the entries of an index, which is sorted by `sort`, show a facet."""
        if facet == sort:
            return True
        if index in self._fixed_indexes and facet not in self.fixed:
            return False
        return facet not in self._only_in_keys and (index == UPDATES or facet not in self.volatile)

    def facet_path(self, facet: str) -> tuple[str, str]:
        """Return the attribute that holds a facet, and the name of the facet in it."""
        return (VOLATILE_FACETS if facet in self.volatile else STABLE_FACETS, facet)

    def index_of(self, facet: str) -> int:
        """Return the number of the first index with the entities of one value of a facet."""
        found = self.index_lookups.get(facet)
        return found.index if found else next(iter(self.partitions[facet].sorts.values()))

    def partition(self, facet: str, value: str) -> str:
        """Return the partition key of the index entries whose facet has the value."""
        return f"{self.kind}#{facet}#{value}"

    def _partition_names(self, facets: Facets) -> list[str]:
        return [f"{facet}={facets[facet] or ''}" for facet in self.partitions]
