"""Storage of warehouses and positions. Keys and indexes: see docs/internals/storage.md."""

from collections.abc import Iterable, Mapping

from shared.kernel.db.collection import Collection
from shared.kernel.db.counters import own_kind, read_totals, shard_key
from shared.kernel.db.facets import (
    SEPARATOR,
    Facets,
    flag_text,
    fold,
    id_of,
    id_text,
    integer_of,
    integer_text,
    searchable,
    value_of,
)
from shared.kernel.db.indexes import Partition
from shared.kernel.db.items import Item, Key, alias_key, item_at, key_of, update_of
from shared.kernel.db.lists.listing import read_page
from shared.kernel.db.lists.page import Page
from shared.kernel.db.lists.query import ListQuery
from shared.kernel.db.store import Store
from shared.kernel.db.table import (
    PARTITION_KEY,
    SORT_KEY,
    STABLE_FACETS,
    index_keys,
    index_name,
)
from shared.kernel.db.transaction import Transaction
from shared.kernel.list_parameters import list_of
from shared.kernel.references import is_former
from shared.warehouse.master_data.uses import ASSIGNED
from shared.warehouse.warehouses import rules
from shared.warehouse.warehouses.models import (
    KnownPosition,
    KnownWarehouse,
    SequencedPosition,
    StoredPosition,
    StoredWarehouse,
    WarehouseParameters,
)

_WAREHOUSES = "warehouses"

type WarehouseAliases = Mapping[Key, Item]
"""The aliases of all warehouses, by key."""


def _warehouse_facets(warehouse: StoredWarehouse) -> Facets:
    return {
        "whs_code": warehouse.whs_code,
        "name": fold(warehouse.name),
        "is_virtual": flag_text(warehouse.is_virtual),
        "search": searchable(f"{warehouse.whs_code}{SEPARATOR}{warehouse.name}"),
        "updated_at": warehouse.updated_at,
    }


WAREHOUSES = Collection(
    kind="warehouse",
    noun="Warehouse",
    listed_as="warehouse",
    model=StoredWarehouse,
    facets=_warehouse_facets,
    sorts={"whs_code": 1, "updated_at": 2, "name": 3},
    partitions={"is_virtual": Partition({"whs_code": 4})},
    volatile=frozenset({"name", "search"}),
    searched=frozenset({"whs_code", "name"}),
)


def _position_facets(position: StoredPosition) -> Facets:
    return {
        "warehouse_id": id_text(position.warehouse_id),
        "whs_code": position.whs_code,
        "bin_code": position.bin_code,
        "pick_sequence": integer_text(position.pick_sequence),
        "search": searchable(position.bin_code),
        "updated_at": position.updated_at,
    }


POSITIONS = Collection(
    kind="position",
    noun="Warehouse position",
    listed_as="warehouse_position",
    model=StoredPosition,
    facets=_position_facets,
    sorts={"bin_code": 1, "updated_at": 2, "pick_sequence": 3},
    # Requests filter by the id or by the code of the warehouse. Each has its own partition,
    # because looking up one by the other would add a round trip.
    # One shard, because a list of warehouses reads the counter of each.
    partitions={
        "warehouse_id": Partition({"bin_code": 4, "pick_sequence": 5}, own_totals=1),
        "whs_code": Partition({"bin_code": 6, "pick_sequence": 7}, own_totals=1),
    },
    searched=frozenset({"bin_code"}),
)


# Lists


def list_warehouses(store: Store, parameters: WarehouseParameters) -> Page[StoredWarehouse]:
    """Return a page of warehouses, whose numbers of positions are read with them."""
    query = parameters.list_query(equal=parameters.filters(), search=parameters.search)
    return read_page(store, WAREHOUSES, query, read_with=lambda number: [_positions_key(number)])


list_positions = list_of(POSITIONS, warehouse="whs_code")


def first_positions(store: Store, warehouse_id: int, most: int) -> Page[StoredPosition]:
    """Return the first `most` positions of a warehouse in the order of their bin codes."""
    query = ListQuery(
        sort="bin_code",
        descending=False,
        per_page=most,
        equal={"warehouse_id": id_text(warehouse_id)},
    )
    return read_page(store, POSITIONS, query)


_FIRST_SEQUENCE = "0"
"""Lowest sort key of a position with a pick sequence; those without one come before it."""


def sequenced_positions(
    store: Store, whs_code: str, start: int | None, most: int
) -> list[SequencedPosition]:
    """Return the positions of a warehouse from a pick sequence on, in its order.

    With None, those that have no pick sequence.
    """
    begin = integer_text(start) if start else _FIRST_SEQUENCE
    condition = "<= :begin" if start is None else ">= :begin"
    return _in_sequence(store, whs_code, condition, {":begin": begin}, Limit=most)


def last_in_sequence(store: Store, whs_code: str) -> list[SequencedPosition]:
    """Return the last position in the pick sequence of a warehouse, if any has one."""
    begin = {":begin": _FIRST_SEQUENCE}
    return _in_sequence(store, whs_code, ">= :begin", begin, Limit=1, ScanIndexForward=False)


def _in_sequence(
    store: Store, whs_code: str, condition: str, values: Mapping[str, object], **more: object
) -> list[SequencedPosition]:
    index = POSITIONS.partitions["whs_code"].sorts["pick_sequence"]
    partition, sort = index_keys(index)
    page = store.query(
        IndexName=index_name(index),
        KeyConditionExpression=f"{partition} = :warehouse AND {sort} {condition}",
        values={":warehouse": POSITIONS.partition("whs_code", whs_code), **values},
        **more,
    )
    return [
        SequencedPosition(
            id_of(entry[sort]),
            entry[STABLE_FACETS]["bin_code"],
            integer_of(text) if (text := value_of(entry[sort])) else None,
        )
        for entry in page.items
    ]


def position_count(store: Store, warehouse_id: int) -> int:
    """Return the number of positions of a warehouse, as it is now."""
    return read_totals(store, _positions_kind(warehouse_id)).of(None)


def position_counts(store: Store, warehouse_ids: Iterable[int]) -> dict[int, int]:
    """Return the number of positions of each warehouse, from the cache of a repeatable store."""
    keys = {number: _positions_key(number) for number in warehouse_ids}
    found = store.get_many(keys.values())
    return {number: int(found[key]["n"]) if key in found else 0 for number, key in keys.items()}


def _positions_kind(warehouse_id: int) -> str:
    return own_kind(POSITIONS.kind, f"warehouse_id={id_text(warehouse_id)}")


def _positions_key(warehouse_id: int) -> Key:
    return shard_key(_positions_kind(warehouse_id), 0)


# Aliases of warehouses


def warehouse_key(code: str) -> Key:
    """Return the key of the alias of the warehouse with this code.

    The aliases of all warehouses share one partition. One query returns them all, so positions
    need no copy of the name of their warehouse.
    """
    return (_WAREHOUSES, code)


def read_warehouse_aliases(store: Store) -> WarehouseAliases:
    """Return the aliases of all warehouses, read consistently."""
    items = store.query_all(
        KeyConditionExpression=f"{PARTITION_KEY} = :aliases",
        values={":aliases": _WAREHOUSES},
        ConsistentRead=True,
    )
    return {key_of(item): item for item in items}


def known_warehouse(alias: Item) -> KnownWarehouse:
    """Return the warehouse that an alias item describes."""
    return KnownWarehouse(id=int(alias["id"]), whs_code=alias[SORT_KEY], name=alias["name"])


def existing_warehouses(aliases: WarehouseAliases) -> list[KnownWarehouse]:
    """Return the warehouses that the alias items describe."""
    return [known_warehouse(alias) for alias in aliases.values() if not is_former(alias)]


def warehouse_alias(warehouse: StoredWarehouse) -> Item:
    """Return the alias of a warehouse."""
    return item_at(warehouse_key(warehouse.whs_code), id=warehouse.id, name=warehouse.name)


# Aliases of positions


def position_key(whs_code: str, bin_code: str) -> Key:
    """Return the key of the alias of the position with these codes."""
    return alias_key("bin", f"{whs_code}{SEPARATOR}{bin_code}")


def known_position(alias: Item) -> KnownPosition:
    """Return the position that an alias item describes."""
    return KnownPosition(
        id=int(alias["id"]),
        bin_code=alias[PARTITION_KEY].rpartition(SEPARATOR)[2],
        type=alias.get("type") or None,
        pickable=alias["pickable"],
        disabled=alias["disabled"],
        blocked=alias["blocked"],
        products=frozenset(alias.get(ASSIGNED, ())),
    )


def position_alias(position: StoredPosition) -> Item:
    """Return the alias of a position, without its assigned products."""
    key = position_key(position.whs_code, position.bin_code)
    return item_at(key, id=position.id, **rules.alias_values(position))


def update_position_alias(tx: Transaction, position: StoredPosition) -> None:
    """Write the type and flags of a position into its alias; a retirement mark is kept."""
    key = position_key(position.whs_code, position.bin_code)
    changed = {**rules.alias_values(position), "type": position.type or ""}
    expression, names, values = update_of(changed)
    values[":id"] = position.id
    tx.update(key, expression, condition="id = :id", names=names, values=values)
