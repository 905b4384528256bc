"""A collection: reads and writes of the entities of one kind, with index entries and totals.

A subject declares its collections in `repository.py`. This module keeps item, index entries and
totals consistent; what they are follows from the declaration (`shared.kernel.db.entity_items`).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from shared.kernel.db.actions import ActionOptions, StaleRead
from shared.kernel.db.counters import Totals, own_kind, read_totals
from shared.kernel.db.entity_items import EntityItems
from shared.kernel.db.items import Item, Key, key_of
from shared.kernel.db.outbox_item import VersionChange
from shared.kernel.db.records import (
    HEAD_ATTRIBUTES,
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
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Gone, NotFound, ServiceUnavailable
from shared.kernel.fields import Stored

_UNCHANGED = "version = :seen"
_TRIES = 5
"""Attempts to read an entity in parts that other requests keep replacing."""


SHARES = "shares"
"""Name in `Collection.since` of the shares of entities."""


@dataclass(frozen=True)
class Collection[E: Stored](EntityItems[E]):
    """The entities of one kind in a tenant's table.

    `add_shares` is called in every change of an entity with its state before and after, each None
    where there is none. It adds the difference to sums over the entities, in the same transaction.
    The sums have the entities that are stored in version `since[SHARES]` of the schema or later.

    `listed_as` is what the feed of changes calls an entity, such as `product`: the last name in the
    path of its list, in the singular; None if no list shows the entities. `listed_id` returns the
    id that the list shows, if it is not that of the record.
    """

    add_shares: Callable[[Transaction, E | None, E | None], None] | None = None
    listed_as: str | None = None
    listed_id: Callable[[E], int] | None = None

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
        eventually: bool = False,
    ) -> list[Record[E]]:
        """Read entities in the order of `numbers`; leave out those that do not exist.

        The items `also` are read with them, into the cache of a repeatable store. With
        `eventually`, entities that exist may be some milliseconds old, which costs half; those
        that do not show yet are read again. Facets and index keys, most of a small entity, are then
        left out unless there are items `also`.
        """
        keys, further = [self.key(number) for number in numbers], list(also)
        read = store.get_eventually if eventually else store.get_many
        if eventually and not further:
            items = store.get_eventually(keys, HEAD_ATTRIBUTES)
        else:
            items = read([*keys, *further])
        if eventually:
            items |= store.get_many([key for key in keys if key not in items], uncached=True)
        heads = [items[key] for key in keys if key in items and not items[key].get("deleted")]
        tails = read([key for head in heads for key in tail_keys_of(head)])
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

    def totals(self, store: Store, own: Iterable[str] = ()) -> Totals:
        """Read the totals; `own` are partitions with counters of their own to be read, too."""
        return read_totals(store, self.kind, own, within=self.totals_within)

    def own_shards(self, total: str) -> int | None:
        """Return the shards of a total with counters of its own; None for another total."""
        partition = self.partitions.get(total.partition("=")[0])
        return partition.own_totals if partition else None

    # Writing

    def insert(self, tx: Transaction, number: int, entity: E, *, version: int = 1) -> Record[E]:
        """Insert a new entity in the transaction, with an id of the sequence of the kind.

        Its first `version` is above 1 when the same transaction also changes it.
        """
        record, head, tails = self._items(tx, number, version, entity)
        tx.insert(head)
        for item in (*tails, *self.derived_items(record)):
            tx.put(item)
        self._add_shares(tx, None, record)
        self._note(tx, None, record)
        self._count(tx, {"n": 1, **dict.fromkeys(self.counted_in(record), 1)})
        return record

    def create(self, tx: Transaction, values: Mapping[str, Any]) -> Record[E]:
        """Insert a new entity with the next id, the time of now, and `values` of other fields."""
        number = tx.next_id(self.kind)
        own = {"id": number, "created_at": tx.now, "updated_at": tx.now}
        return self.insert(tx, number, self.model(**own, **values))

    def replace(
        self, tx: Transaction, record: Record[E], entity: E, *, version: int | None = None
    ) -> Record[E]:
        """Replace an entity in the transaction, on the condition that it is as in `record`.

        By default, its next `version` is the one after that of `record`. Fields that only another
        release knows stay as they are.
        """
        entity = entity.in_place_of(record.entity)
        after, head, tails = self._items(tx, record.id, version or record.version + 1, entity)
        tx.put(head, **self._unchanged(tx, record))
        for tail in tails:
            tx.put(tail)
        for key in self._tail_keys(record)[len(tails) :]:
            tx.delete(key)
        self._add_shares(tx, record, after)
        self._note(tx, record, after)
        self._replace_derived(tx, record, after)
        return after

    def bring_up_to_date(self, tx: Transaction, record: Record[E]) -> None:
        """Give an unchanged entity the facets and index entries of the version that is written.

        Its version stays, because nothing changes for callers; a concurrent change of the entity
        and this one exclude each other by the schema of the head.
        """
        head = tx.store.get(self.key(record.id))
        if head is None or (head["version"], schema_of(head)) != (record.version, record.schema):
            raise StaleRead
        after = replace(record, schema=tx.store.version.written)
        kept = {name: head[name] for name in OWN_ATTRIBUTES if name in head}
        tx.put({**kept, **self.derived_attributes(after)}, **self._unchanged(tx, record))
        self._add_shares(tx, record, after)
        self._replace_derived(tx, record, after)

    def update(self, tx: Transaction, record: Record[E], values: Mapping[str, object]) -> Record[E]:
        """Replace an entity by a copy with other `values` of some fields and of `updated_at`.

        If all values are as before, write nothing and return the record itself.
        """
        if all(getattr(record.entity, name) == value for name, value in values.items()):
            return record
        return self.save(tx, record, record.entity, **values)

    def save(self, tx: Transaction, record: Record[E], entity: E, **values: object) -> Record[E]:
        """Replace an entity by `entity`, with other `values` of some fields, as updated now.

        Sets `updated_at`; `replace` leaves it as it is in the entity.
        """
        assert values.keys() <= type(entity).model_fields.keys(), values.keys()  # noqa: S101
        return self.replace(tx, record, entity.model_copy(update={**values, "updated_at": tx.now}))

    def remove(self, tx: Transaction, record: Record[E]) -> None:
        """Delete an entity in the transaction; a tombstone keeps its id."""
        deleted = tombstone(self.key(record.id), record.id, record.version + 1, tx.now)
        tx.put(deleted, **self._unchanged(tx, record))
        derived = [key_of(item) for item in self.derived_items(record)]
        for key in (*self._tail_keys(record), *derived):
            tx.delete(key)
        self._add_shares(tx, record, None)
        self._note(tx, record, None)
        self._count(tx, {"n": -1, **dict.fromkeys(self.counted_in(record), -1)})

    def delete(self, tx: Transaction, number: int) -> Record[E]:
        """Read an entity, delete it in the transaction, and return its last state."""
        record = self.get(tx.store, number)
        self.remove(tx, record)
        return record

    def _unchanged(self, tx: Transaction, record: Record[E]) -> ActionOptions:
        """Return the condition that the head has not changed since it was read.

        `bring_up_to_date` does not change the version. So as long as it can rewrite the head, the
        schema is compared, too.
        """
        values = {":seen": record.version}
        unchanged = ActionOptions(condition=_UNCHANGED, values=values, as_read=True)
        if self.differs(record.schema, tx.store.version.announced):
            schema = "attribute_not_exists(#schema)"
            if record.schema > FIRST_VERSION:
                schema, values[":schema"] = "#schema = :schema", record.schema
            unchanged["condition"] = f"{_UNCHANGED} AND {schema}"
            unchanged["names"] = {"#schema": SCHEMA}
        return unchanged

    def _add_shares(
        self, tx: Transaction, before: Record[E] | None, after: Record[E] | None
    ) -> None:
        if self.add_shares is None:
            return
        since = self.since.get(SHARES, FIRST_VERSION)
        old, new = (
            record.entity if record is not None and record.schema >= since else None
            for record in (before, after)
        )
        if old is not None or new is not None:
            self.add_shares(tx, old, new)

    def _note(self, tx: Transaction, before: Record[E] | None, after: Record[E] | None) -> None:
        """Note a change of an entity that a list shows."""
        record = after or before
        if record is None or self.listed_as is None:
            return
        number, stored = record.id, None
        if self.listed_id:
            number, stored = self.listed_id(record.entity), record.id
        old, new = (one.version if one else None for one in (before, after))
        change = VersionChange(self.listed_as, number, old, new, stored)
        tx.outbox.note(change, before.written_by if before else None)

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

    def _replace_derived(self, tx: Transaction, before: Record[E], after: Record[E]) -> None:
        """Write the further items that differ, delete those left over, and count the change."""
        # Further lookups never change.
        if self.fixed or self.searched is not None or self.differs(before.schema, after.schema):
            former = {key_of(item): item for item in self.derived_items(before)}
            for item in self.derived_items(after):
                if former.pop(key_of(item), None) != item:
                    tx.put(item)
            for key in former:
                tx.delete(key)
        changes = Counter(self.counted_in(after))
        changes.subtract(self.counted_in(before))
        self._count(tx, changes)

    def _items(
        self, tx: Transaction, number: int, version: int, entity: E
    ) -> tuple[Record[E], Item, list[Item]]:
        """Return the record of an entity, its head and its tails in the form that is written."""
        record, head, tails = encode_entity(
            self.key(number),
            f"{self.noun} {number}",
            Record(
                number,
                version,
                entity,
                schema=tx.store.version.written,
                written_by=None if self.listed_as is None else tx.outbox.noted_by,
            ),
        )
        return record, head | self.derived_attributes(record), tails

    def _tail_keys(self, record: Record[E]) -> list[Key]:
        return tail_keys(self.key(record.id)[0], record.parts)
