"""docs/storage.md lists the indexes of every collection as the code declares them."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shared.kernel.db.collection import Collection
from shared.kernel.db.counters import SHARDS, fenced_shards
from shared.kernel.db.indexes import Lookup
from shared.kernel.db.table import INDEX_COUNT
from tests.cases import each_case

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "storage.md").read_text(encoding="utf-8")
_WHOLE = "whole"
_HEADERS = {
    "entry, exit": ("entry", "exit"),
    "transfer order": ("transfer_order",),
    "packing order": ("packing_order",),
    "handling unit": ("handling_unit",),
    "RFID validation": ("rfid_validation",),
    "stock row": ("stock",),
    "level of all warehouses": ("level_total",),
}
"""Header of a column → kinds; other headers are the kind, or have it in parentheses."""
_QUEUES = {"product and warehouse by expiry date and arrival": ("free", "turn")}
"""Description of a work queue → its facet and order."""

type Fact = tuple[int, str, str | None]
"""Number of an index, the facet of its partition (`whole` for all), and its order."""


def _collections() -> dict[str, Collection[Any]]:
    found: dict[str, Collection[Any]] = {}
    for path in (ROOT / "shared").rglob("*repository.py"):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        values = vars(importlib.import_module(name)).values()
        found |= {one.kind: one for one in values if isinstance(one, Collection)}
    return found


COLLECTIONS = _collections()


def declared(collection: Collection[Any]) -> set[Fact]:
    """Return the indexes that the code declares."""
    facts: set[Fact] = {(index, _WHOLE, sort) for sort, index in collection.sorts.items()}
    for facet, partition in collection.partitions.items():
        facts |= {(index, facet, sort) for sort, index in partition.sorts.items()}
    return facts | {
        (found.index, facet, found.order)
        for facet, found in collection.lookups.items()
        if isinstance(found, Lookup)
    }


def documented() -> dict[str, set[Fact]]:
    """Return the indexes that the page lists, by kind."""
    found: dict[str, set[Fact]] = {}
    for table in re.findall(r"^\| Index \|.*\n\|[-|]+\n(?:\|.*\n)+", PAGE, re.MULTILINE):
        header, _, *rows = [_cells(line) for line in table.splitlines()]
        for row in rows:
            for title, cell in zip(header[1:], row[1:], strict=True):
                for kind in _kinds(title):
                    found.setdefault(kind, set()).update(_facts(kind, _numbers(row[0]), cell))
    return found


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def _kinds(title: str) -> tuple[str, ...]:
    named = re.search(r"`(\w+)`", title)
    return (named[1],) if named else _HEADERS.get(title, (title,))


def _numbers(text: str) -> list[int]:
    numbers = [int(one) for one in re.findall(r"GSI(\d+)", text)]
    return list(range(numbers[0], numbers[1] + 1)) if "…" in text else numbers


def _facts(kind: str, numbers: list[int], cell: str) -> Iterator[Fact]:
    only, colon, rest = cell.partition(": ")
    if colon and only in COLLECTIONS:
        if only != kind:
            return
        cell = rest
    queue = next((facts for text, facts in _QUEUES.items() if cell.startswith(text)), None)
    if queue:
        yield (numbers[0], *queue)
        yield from ((numbers[0], facet, None) for facet in re.findall(r"; (\w+):", cell))
        return
    cell = re.sub(r" \([^)]*\)", "", cell).replace(", by its id", "")
    parts = cell.split(", ") if cell else []
    facet: str | None = None
    for number, part in zip(numbers, parts, strict=False):
        before, by, order = f" {part}".partition(" by ")
        if by:
            facet = before.strip() or facet
            assert facet, cell
            yield number, facet, order
        elif facet:
            yield number, facet, part
        else:
            yield number, part, None


@each_case("kind", sorted(COLLECTIONS))
def test_page_lists_the_indexes_of_every_collection(kind: str) -> None:
    assert documented().get(kind, set()) == declared(COLLECTIONS[kind])


def test_page_has_the_numbers_of_the_code() -> None:
    used = {index for one in COLLECTIONS.values() for index, _, _ in declared(one)}
    assert max(used) == INDEX_COUNT
    assert f"The indexes `GSI1` … `GSI{INDEX_COUNT}`" in PAGE
    assert f"| Totals, {SHARDS} shards per kind" in PAGE
    assert f"`00` … `{SHARDS - 1}`" in PAGE
    assert f"the first {len(fenced_shards())} also hold the fences" in PAGE
