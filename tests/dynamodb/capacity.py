"""Computes the capacity units that DynamoDB bills, by its published rules.

Emulators do not return them. A read unit is a strongly consistent read of up to 4 KB; an eventually
consistent read costs half. A write unit is a write of up to 1 KB; in a transaction it costs twice.
Each item is rounded up separately, but a Query rounds the sum. A write also costs one write for
each index entry that it adds, removes or changes, and two when the key of an entry changes.
Transactions do not double the writes of index entries.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from shared.kernel.db.table import (
    INDEX_COUNT,
    PARTITION_KEY,
    SORT_KEY,
    carried_attributes,
    index_keys,
    index_name,
)
from tests.prices import usd_of_units

type Attributes = Mapping[str, Mapping[str, Any]]
"""An item in DynamoDB's JSON; binary values as bytes or base64 text."""

_READ_BLOCK, _WRITE_BLOCK = 4096, 1024


@dataclass(slots=True)
class Units:
    """Consumed read and write units."""

    reads: float = 0
    writes: float = 0
    partitions: Counter[str] = field(default_factory=Counter)
    """Partition key of the table, or name of the index and partition key → write units."""

    def add(self, other: "Units") -> None:
        """Add what other calls consumed."""
        self.reads += other.reads
        self.writes += other.writes
        self.partitions.update(other.partitions)

    @property
    def usd_per_million(self) -> float:
        """Price of a million such requests with on-demand capacity, in USD."""
        return 1e6 * usd_of_units(self.reads, self.writes)


def item_size(item: Attributes) -> int:
    """Return the size of an item in bytes: names in UTF-8 and values."""
    return sum(len(name.encode()) + _value_size(value) for name, value in item.items())


def _value_size(value: Mapping[str, Any]) -> int:
    ((kind, content),) = value.items()
    match kind:
        case "S" | "SS":
            return len("".join(content).encode())
        case "B":
            return len(content) if isinstance(content, bytes) else len(content) * 3 // 4
        case "M":
            return 3 + item_size(content) + len(content)
        case "N" | "NS":
            numbers = [content] if kind == "N" else content
            return sum(len(one.lstrip("-").replace(".", "")) // 2 + 2 for one in numbers)
        case _:  # BOOL, NULL
            return 1


def index_entry(item: Attributes, index: int) -> Attributes | None:
    """Return the entry of an item in the index number `index`, or None when it has none."""
    partition, sort = index_keys(index)
    if partition not in item or sort not in item:
        return None
    carried = (PARTITION_KEY, SORT_KEY, partition, sort, *carried_attributes(index))
    return {name: item[name] for name in carried if name in item}


def read_units(sizes: Iterable[int], *, consistent: bool) -> float:
    """Return the units of reads by key; a missing item counts as 0 bytes."""
    blocks = sum(max(1, math.ceil(size / _READ_BLOCK)) for size in sizes)
    return blocks if consistent else blocks / 2


def partition_units(
    before: Attributes | None, after: Attributes | None, *, transaction: bool
) -> Counter[str]:
    """Return the units of a write of one item and its index entries by partition (see Units)."""
    units = Counter[str]()
    present = after or before or {}
    key = present.get(PARTITION_KEY) or present.get("pk") or {"S": ""}
    larger = max(item_size(before or {}), item_size(after or {}))
    units[key["S"]] += _blocks(larger) * (2 if transaction else 1)
    for index in range(1, INDEX_COUNT + 1):
        old = index_entry(before, index) if before else None
        new = index_entry(after, index) if after else None
        for entry, blocks in _changed_entries(old, new, index):
            units[f"{index_name(index)} {entry[index_keys(index)[0]]['S']}"] += blocks
    return units


def _changed_entries(
    old: Attributes | None, new: Attributes | None, index: int
) -> Iterator[tuple[Attributes, int]]:
    """Yield the entries that DynamoDB writes, with their units."""
    if old == new:
        return
    if old and new and all(old[name] == new[name] for name in index_keys(index)):
        yield new, _blocks(max(item_size(old), item_size(new)))
        return
    for entry in (old, new):
        if entry is not None:
            yield entry, _blocks(item_size(entry))


def _blocks(size: int) -> int:
    return max(1, math.ceil(size / _WRITE_BLOCK))
