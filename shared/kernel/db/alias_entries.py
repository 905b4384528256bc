"""Search entries in an alias: it saves an item, because an alias is in no index otherwise.

Whoever writes an alias of a collection with a `search_alias` writes its `alias_entries`, too.
"""

from dataclasses import replace
from typing import Any

from shared.kernel.db.collection import Collection
from shared.kernel.db.items import Item, update_of
from shared.kernel.db.records import Record
from shared.kernel.db.search import SEARCH_ATTRIBUTES, SEARCH_ITEM
from shared.kernel.db.table import SORT_KEY
from shared.kernel.db.transaction import Transaction


def alias_entries(collection: Collection[Any], record: Record[Any]) -> Item:
    """Return the attributes of the alias of an entity with search entries.

    Those that it must not have are None; in a version of the schema without them, all.
    """
    items = replace(collection, search_alias=None).derived_items(record)
    first = next((one for one in items if one[SORT_KEY].startswith(SEARCH_ITEM)), {})
    return {name: first.get(name) for name in SEARCH_ATTRIBUTES}


def bring_alias_up_to_date(
    tx: Transaction, collection: Collection[Any], record: Record[Any]
) -> None:
    """Give the alias of an entity whose text stays the entries of the version that is written.

    Call it with whatever else writes the entity, which excludes concurrent changes. An alias that
    is missing stays so; `stowage verify` finds it.
    """
    if collection.search_alias is None:
        return
    written = replace(record, schema=tx.store.version.written)
    before, after = (alias_entries(collection, one) for one in (record, written))
    if before == after:
        return
    key = collection.search_alias(record.entity)
    alias = tx.store.get(key)
    if alias is None or alias["id"] != record.id:
        return
    expression, names, values = update_of(after)
    values[":id"] = record.id
    tx.update(key, expression, condition="id = :id", names=names, values=values)
