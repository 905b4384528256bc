"""The items of counts. Keys and indexes: see docs/internals/storage.md."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from shared.kernel.db.collection import Collection
from shared.kernel.db.counters import SHARDS, random_shard
from shared.kernel.db.facets import PAIR_DIGITS, SEPARATOR, facets_of, id_text, pair_id
from shared.kernel.db.indexes import Lookup, Partition
from shared.kernel.db.items import Item, Key, item_at
from shared.kernel.db.lists.listing import read_page
from shared.kernel.db.lists.page import Page
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.table import PARTITION_KEY
from shared.kernel.db.transaction import Transaction
from shared.warehouse.counts.models import (
    ENDED_STATUSES,
    CountParameters,
    CountSums,
    StoredCount,
    StoredCountLine,
)
from shared.warehouse.stock.models import RowKey

COUNTS = Collection(
    kind="stock_count",
    noun="Count",
    listed_as="count",
    model=StoredCount,
    facets=facets_of(
        "status", "created_at", "updated_at", warehouse="whs_code", assigned_to="assigned_id"
    ),
    sorts={"created_at": 1, "updated_at": 2},
    partitions={
        "status": Partition({"created_at": 3}),
        "warehouse": Partition({"created_at": 4}, own_totals=SHARDS),
    },
    lookups={"assigned_to": Lookup(5, often_shared=True)},
)

COUNT_LINES = Collection(
    kind="count_line",
    noun="Line of a count",
    model=StoredCountLine,
    facets=lambda _: {},
    # They are only read by their count and number.
    sorts={},
    totals_within=COUNTS.kind,
    id_digits=PAIR_DIGITS,
)


def list_counts(store: Store, parameters: CountParameters) -> Page[StoredCount]:
    """Read a page of counts, whose sums are read with them."""
    query = parameters.list_query(
        equal=parameters.filters(), between=parameters.created(store.company.timezone)
    )
    return read_page(store, COUNTS, query, read_with=_sums_keys)


def line_id(number: int, line_num: int) -> int:
    """Return the id under which a line of a count is stored."""
    return pair_id(number, line_num)


def read_lines(
    store: Store, number: int, line_nums: Iterable[int]
) -> list[Record[StoredCountLine]]:
    """Read lines of a count in the order of `line_nums`."""
    return COUNT_LINES.get_many(store, (line_id(number, one) for one in line_nums))


# The sums over the lines of a count


SUM_SHARDS = 4
"""Items that hold the sums of a count, so that people who count at once rarely change the same."""
_ADDITION = "ADD counted :counted, differences :differences, units :units"
_CLOSED = "closed"
"""Attribute of the items while no line may be counted."""


def _sums_keys(number: int) -> list[Key]:
    return [(f"count_sums#{id_text(number)}", f"{shard:02d}") for shard in range(SUM_SHARDS)]


def insert_sums(tx: Transaction, number: int) -> None:
    """Add the sums of a new count."""
    for key in _sums_keys(number):
        tx.insert(item_at(key, counted=0, differences=0, units=0))


def read_sums(store: Store, numbers: Iterable[int]) -> dict[int, CountSums]:
    """Return the sums of counts, by their ids."""
    keys = {number: _sums_keys(number) for number in numbers}
    found = store.get_many(key for shards in keys.values() for key in shards)
    return {
        number: sum((_sums(found[key]) for key in shards if key in found), CountSums())
        for number, shards in keys.items()
    }


def _sums(item: Item) -> CountSums:
    return CountSums(int(item["counted"]), int(item["differences"]), Decimal(item["units"]))


def add_to_sums(tx: Transaction, number: int, change: CountSums) -> None:
    """Change the sums of a count, on the condition that lines may be counted."""
    key = _sums_keys(number)[random_shard() % SUM_SHARDS]
    condition = f"attribute_exists({PARTITION_KEY}) AND attribute_not_exists(#closed)"
    tx.update(
        key, _ADDITION, condition=condition, names={"#closed": _CLOSED},
        values=_values(change),
    )  # fmt: skip


def correct_sums(tx: Transaction, number: int, change: CountSums) -> None:
    """Change the sums of a count, whether lines may be counted or not."""
    if change != CountSums():
        tx.update(
            _sums_keys(number)[0], _ADDITION, condition=f"attribute_exists({PARTITION_KEY})",
            values=_values(change),
        )  # fmt: skip


def close(tx: Transaction, number: int) -> None:
    """Let no more lines of a count be counted, on the condition that the sums are as read."""
    found = tx.store.get_many(_sums_keys(number))
    for key in _sums_keys(number):
        tx.update(
            key, "SET #closed = :yes", condition="counted = :seen", names={"#closed": _CLOSED},
            values={":yes": True, ":seen": found[key]["counted"]}, as_read=True,
        )  # fmt: skip


def reopen(tx: Transaction, number: int, change: CountSums) -> None:
    """Let lines of a count be counted again, and change its sums."""
    for shard, key in enumerate(_sums_keys(number)):
        values = {} if shard else _values(change)
        addition = "" if shard else f" {_ADDITION}"
        tx.update(
            key, f"REMOVE #closed{addition}", condition="attribute_exists(#closed)",
            names={"#closed": _CLOSED}, values=values,
        )  # fmt: skip


def _values(change: CountSums) -> dict[str, object]:
    return {
        ":counted": change.counted, ":differences": change.differences, ":units": change.units,
    }  # fmt: skip


# Which count a stock is in


@dataclass(frozen=True, slots=True)
class Places:
    """The lines of some stocks and empty positions, by the keys of their places.

    `own` has the lines of the present count, `others` the ids of other counts that have not ended.
    """

    own: Mapping[Key, int]
    others: Mapping[Key, int]


def place_key(stock: RowKey) -> Key:
    """Return the key of the item that says which count a stock is in.

    Unlike the key of a row, that of a serial has its place.
    """
    goods = (
        id_text(stock.product_id), stock.inventory_status, stock.batch_num or "",
        stock.serial_number or "",
    )  # fmt: skip
    return (_place(stock.warehouse_id, stock.bin_code or ""), SEPARATOR.join(goods))


def empty_key(warehouse_id: int, bin_code: str) -> Key:
    """Return the key of the item that says in which count a position was empty."""
    return (_place(warehouse_id, bin_code), "EMPTY")


def _place(warehouse_id: int, bin_code: str) -> str:
    return f"counted#{id_text(warehouse_id)}{SEPARATOR}{bin_code}"


def find_places(store: Store, number: int | None, keys: Iterable[Key]) -> Places:
    """Return in which lines of the count `number`, and in which other open counts, places are."""
    found = store.get_many(keys)
    others = {key: int(item["id"]) for key, item in found.items() if int(item["id"]) != number}
    counts = COUNTS.get_many(store, sorted(set(others.values())))
    is_open = {one.id for one in counts if one.entity.status not in ENDED_STATUSES}
    return Places(
        {key: int(item["line"]) for key, item in found.items() if int(item["id"]) == number},
        {key: count for key, count in others.items() if count in is_open},
    )


def take_place(tx: Transaction, key: Key, number: int, line_num: int) -> None:
    """Record that a place, which is in no other open count, is in a line of a count."""
    former = tx.store.get(key)
    item = item_at(key, id=number, line=line_num)
    if former is None:
        tx.insert(item)
    else:
        seen = {":id": former["id"], ":line": former["line"]}
        tx.put(
            item, condition="id = :id AND #line = :line", names={"#line": "line"}, values=seen,
            as_read=True,
        )  # fmt: skip


def lines_at(store: Store, number: int, warehouse_id: int, bin_code: str) -> Sequence[int]:
    """Return the numbers of the lines of a count that are at a position."""
    items = store.query_all(
        KeyConditionExpression=f"{PARTITION_KEY} = :place",
        values={":place": _place(warehouse_id, bin_code)},
        ConsistentRead=True,
    )
    return sorted({int(item["line"]) for item in items if int(item["id"]) == number})
