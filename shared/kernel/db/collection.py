"""A collection: entities of one kind, their items, their index entries, their totals.

A subject declares its collections in `repository.py`; everything that keeps item,
indexes and totals in step is here, once.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel

from shared.kernel.db.facets import MAX_ID, Facets, id_text, sort_text
from shared.kernel.db.items import Item, Key, pack, unpack
from shared.kernel.db.store import Store
from shared.kernel.db.table import INDEX_ATTRIBUTES, PARTITION_KEY, SORT_KEY, index_keys
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Gone, NotFound, ServiceUnavailable

HEAD = "HEAD"

_UNCHANGED = "version = :seen"
_TRIES = 5
"""Reads of an entity in parts that others keep replacing, before giving up."""

type IndexBySort = Mapping[str, int]
"""Sort name → number of the index that holds the entries in that order."""


@dataclass(frozen=True, slots=True)
class Record[E]:
    """An entity as stored, with the version that a change of it is conditioned on."""

    id: int
    version: int
    entity: E
    parts: int = 1


def tail_keys(partition: str, parts: int) -> list[Key]:
    """Keys of the items in which an entity of so many parts goes on after its head."""
    return [(partition, f"PART#{part:03d}") for part in range(1, parts)]


@dataclass(frozen=True, slots=True)
class Collection[E: BaseModel]:
    """How the entities of one kind are stored and listed.

    `sorts` are the orders of the whole collection, `partitions` name facets (status,
    warehouse) whose values have totals and orders of their own, `finders` facets that
    few entities share (a reference, a partner). `queues` name facets whose entries work takes
    in the order of another facet. `facets` must hold every name used.
    """

    kind: str
    noun: str
    model: type[E]
    facets: Callable[[E], Facets]
    sorts: IndexBySort
    partitions: Mapping[str, IndexBySort] = field(default_factory=dict)
    lookup_indexes: Mapping[str, int] = field(default_factory=dict)
    work_queues: Mapping[str, tuple[int, str]] = field(default_factory=dict)

    def key(self, number: int) -> Key:
        """Key of an entity's first item."""
        return (f"{self.kind}#{id_text(number)}", HEAD)

    # Reading

    def get(self, store: Store, number: int) -> Record[E]:
        """Read one entity; NotFound when it never was, Gone when it was deleted."""
        noun = f"{self.noun} {number}"
        key = self.key(number)
        head = store.get(key) if 0 < number <= MAX_ID else None
        for attempt in range(_TRIES):
            if head is None:
                raise NotFound(noun)
            if head.get("deleted"):
                raise Gone(noun)
            tails = store.get_many(self._tail_keys_of(head), uncached=attempt > 0)
            record = self._decode(head, tails)
            if record:
                return record
            head = store.get_many([key], uncached=True).get(key)
        raise ServiceUnavailable

    def get_many(self, store: Store, numbers: Iterable[int]) -> list[Record[E]]:
        """Read entities in the order of their ids given; those that are not there are left out."""
        keys = [self.key(number) for number in numbers]
        items = store.get_many(keys)
        heads = [items[key] for key in keys if key in items and not items[key].get("deleted")]
        tails = store.get_many([key for head in heads for key in self._tail_keys_of(head)])
        records = [self._decode(head, tails) or self._again(store, head) for head in heads]
        return [record for record in records if record]

    def pick_from(self, found: Mapping[Key, Item], number: int) -> Record[E] | None:
        """Pick a small entity out of items that were read with others; None when it is not there.

        For kinds whose entities never continue in further items.
        """
        head = found.get(self.key(number))
        return self._decode(head, {}) if head and not head.get("deleted") else None

    def _again(self, store: Store, head: Item) -> Record[E] | None:
        """Read an entity that was being replaced while its parts were read."""
        try:
            return self.get(store, int(head["id"]))
        except (NotFound, Gone):
            return None

    def _decode(self, head: Item, tails: Mapping[Key, Item]) -> Record[E] | None:
        """Put an entity together; None when head and parts are of different versions."""
        rest = [tails.get(key) for key in self._tail_keys_of(head)]
        if any(tail is None or tail["version"] != head["version"] for tail in rest):
            return None
        data = [head["data"], *(tail["data"] for tail in rest if tail)]
        entity = self.model.model_validate_json(unpack(data))
        return Record(int(head["id"]), int(head["version"]), entity, int(head["parts"]))

    def _tail_keys_of(self, head: Item) -> list[Key]:
        return self._tail_keys(int(head["id"]), int(head["parts"]))

    def _tail_keys(self, number: int, parts: int) -> list[Key]:
        return tail_keys(self.key(number)[0], parts)

    # Writing

    def insert(self, tx: Transaction, number: int, entity: E, *, version: int = 1) -> Record[E]:
        """Stage a new entity under an id drawn from the sequence of its kind.

        `version` counts the changes that are made at once with its creation.
        """
        facets = self.facets(entity)
        head, tails = self._items(number, version, entity, facets)
        tx.insert(head)
        for tail in tails:
            tx.put(tail)
        tx.count(self.kind, {"n": 1, **dict.fromkeys(self._partition_names(facets), 1)})
        return Record(number, version, entity, 1 + len(tails))

    def replace(self, tx: Transaction, record: Record[E], entity: E) -> Record[E]:
        """Stage the next version of an entity; overtaken when it changed since it was read."""
        before, after = self.facets(record.entity), self.facets(entity)
        head, tails = self._items(record.id, record.version + 1, entity, after)
        tx.put(head, condition=_UNCHANGED, values={":seen": record.version})
        for tail in tails:
            tx.put(tail)
        for key in self._tail_keys(record.id, record.parts)[len(tails) :]:
            tx.delete(key)
        changes = dict.fromkeys(self._partition_names(before), -1)
        for name in self._partition_names(after):
            changes[name] = changes.get(name, 0) + 1
        tx.count(self.kind, changes)
        return Record(record.id, record.version + 1, entity, 1 + len(tails))

    def remove(self, tx: Transaction, record: Record[E]) -> None:
        """Stage the deletion: out of every list and total, a gravestone under the id."""
        partition, sort = self.key(record.id)
        gravestone = {
            PARTITION_KEY: partition,
            SORT_KEY: sort,
            "id": record.id,
            "version": record.version + 1,
            "deleted": True,
            "deleted_at": tx.now,
        }
        tx.put(gravestone, condition=_UNCHANGED, values={":seen": record.version})
        for key in self._tail_keys(record.id, record.parts):
            tx.delete(key)
        facets = self.facets(record.entity)
        tx.count(self.kind, {"n": -1, **dict.fromkeys(self._partition_names(facets), -1)})

    def _items(
        self, number: int, version: int, entity: E, facets: Facets
    ) -> tuple[Item, list[Item]]:
        partition, sort = self.key(number)
        first, *others = pack(entity.model_dump_json())
        head: Item = {
            PARTITION_KEY: partition,
            SORT_KEY: sort,
            "id": number,
            "version": version,
            "parts": 1 + len(others),
            "data": first,
            INDEX_ATTRIBUTES: {name: value for name, value in facets.items() if value is not None},
            **self._index_attributes(number, facets),
        }
        tails = [
            {PARTITION_KEY: key[0], SORT_KEY: key[1], "version": version, "data": data}
            for key, data in zip(self._tail_keys(number, 1 + len(others)), others, strict=True)
        ]
        return head, tails

    def _index_attributes(self, number: int, facets: Facets) -> Item:
        attributes: Item = {}

        def enter(index: int, partition: str, sort_key: str) -> None:
            partition_name, sort_name = index_keys(index)
            attributes[partition_name] = partition
            attributes[sort_name] = sort_key

        for sort, index in self.sorts.items():
            enter(index, self.kind, sort_text(facets[sort], number))
        for facet, sorts in self.partitions.items():
            for sort, index in sorts.items():
                partition = self.partition(facet, facets[facet] or "")
                enter(index, partition, sort_text(facets[sort], number))
        for facet, index in self.lookup_indexes.items():
            value = facets[facet]
            if value is not None:
                enter(index, self.partition(facet, value), id_text(number))
        for facet, (index, order) in self.work_queues.items():
            value = facets[facet]
            if value is not None:
                enter(index, self.partition(facet, value), sort_text(facets[order], number))
        return attributes

    def partition(self, facet: str, value: str) -> str:
        """Partition key of the entries whose facet has the value."""
        return f"{self.kind}#{facet}#{value}"

    def _partition_names(self, facets: Facets) -> list[str]:
        return [f"{facet}={facets[facet] or ''}" for facet in self.partitions]
