"""Reads and conditions that the passes of a verification share."""

from collections.abc import Iterator, Mapping
from typing import Any

from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import id_of, id_text
from shared.kernel.db.items import Item, Key
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.table import index_keys, index_name
from shared.kernel.db.transaction import Transaction


def read_entries(
    store: Store, index: int, partition: str, *, values: Mapping[str, Any] | None = None,
    low: str | None = None, **arguments: Any,
) -> Iterator[Item]:  # fmt: skip
    """Return the entries of a partition of an index, from the sort key `low` on."""
    names = index_keys(index)
    condition = f"{names[0]} = :partition" + (f" AND {names[1]} >= :low" if low else "")
    return store.query_all(
        IndexName=index_name(index),
        KeyConditionExpression=condition,
        values={":partition": partition, **({":low": low} if low else {}), **(values or {})},
        **arguments,
    )


def ids_in(
    store: Store, collection: Collection[Any], facet: str, value: str, *, above: int = 0
) -> Iterator[int]:
    """Yield the ids of the entities with a value of a lookup index, from `above` on."""
    index = collection.index_of(facet)
    sort = index_keys(index)[1]
    low = id_text(above) if above else None
    partition = collection.partition(facet, value)
    for entry in read_entries(store, index, partition, low=low):
        yield int(entry[sort])


def ids_updated_since(store: Store, collection: Collection[Any], moment: str) -> Iterator[int]:
    """Yield the ids of the entities that were updated since a moment."""
    index = collection.sorts["updated_at"]
    sort = index_keys(index)[1]
    for entry in read_entries(store, index, collection.kind, low=moment):
        yield id_of(entry[sort])


def check_unchanged(tx: Transaction, collection: Collection[Any], record: Record[Any]) -> None:
    """Add the condition that an entity has not changed."""
    tx.check(collection.key(record.id), version=record.version)


def put_with(tx: Transaction, collection: Collection[Any], record: Record[Any], item: Item) -> None:
    """Put an item that follows from an entity, on the condition that the entity has not changed."""
    check_unchanged(tx, collection, record)
    tx.put(item)


def set_number(tx: Transaction, key: Key, name: str, stored: int | None, value: int) -> None:
    """Set a number of an item, on the condition that it has not changed since it was read."""
    condition = "attribute_not_exists(#name)" if stored is None else "#name = :stored"
    seen = {} if stored is None else {":stored": stored}
    tx.update(
        key, "SET #name = :value", condition=condition, names={"#name": name},
        values={":value": value, **seen},
    )  # fmt: skip
