"""Tables of docs/internals/storage.md: the indexes of each kind of entity."""

import importlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from shared.kernel.db.collection import Collection
from shared.kernel.db.indexes import Lookup
from tools.pages.markers import table

_ROOT = Path(__file__).resolve().parents[2]

KINDS: Mapping[str, tuple[str, ...]] = {
    "master data": ("product", "category", "warehouse", "position", "client", "provider"),
    "documents": ("entry", "exit", "transfer_order"),
    "work": ("receipt", "picking", "transfer", "wave", "return"),
    "packing": ("packing_order", "handling_unit", "rfid_validation"),
    "imports and exports": ("import", "export"),
    "subscriptions": ("webhook",),
    "users": ("user", "role"),
    "the audit log": ("audit",),
    "holds": ("hold",),
    "counts": ("stock_count",),
    "approvals": ("approval",),
    "pick faces": ("pick_face",),
    "stock": ("stock", "level", "level_total", "movement"),
}
"""Name of a table of indexes → its kinds."""


def indexes(*kinds: str) -> str:
    """Return what the entries of each index of some kinds are."""
    columns = [dict[int, list[str]]() for _ in kinds]
    for kind, column in zip(kinds, columns, strict=True):
        for index, entries in entries_of(collections()[kind]):
            column.setdefault(index, []).append(entries)
    used = sorted({index for column in columns for index in column})
    rows = [
        (f"GSI{index}", *("; ".join(column.get(index, ())) for column in columns)) for index in used
    ]
    return table(("Index", *(f"`{kind}`" for kind in kinds)), rows)


@cache
def collections() -> Mapping[str, Collection[Any]]:
    """Return the collections of all repositories by their kind."""
    found: dict[str, Collection[Any]] = {}
    for path in sorted((_ROOT / "shared").rglob("*repository.py")):
        name = ".".join(path.relative_to(_ROOT).with_suffix("").parts)
        values = vars(importlib.import_module(name)).values()
        found |= {one.kind: one for one in values if isinstance(one, Collection)}
    return found


def entries_of(collection: Collection[Any]) -> Iterator[tuple[int, str]]:
    """Yield the number of an index, and its partition and order."""
    for order, index in collection.sorts.items():
        yield index, f"whole by {order}"
    for facet, partition in collection.partitions.items():
        for order, index in partition.sorts.items():
            yield index, f"{facet} by {order}"
    for facet, found in collection.lookups.items():
        if isinstance(found, Lookup):
            yield found.index, f"{facet} by {found.order}" if found.order else facet
