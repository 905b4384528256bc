"""Sixth pass: the totals of each collection, compared with its entities.

The entities of a kind are counted from the entries of an index, in the order of their last change.
What changes during the count moves to the end, and is counted again. For that, one small number per
entity of the kind is held: which totals count it.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Any

from operations.stored_collections import COLLECTIONS
from operations.verify.findings import Drift, Fix
from operations.verify.table_access import read_entries
from shared.kernel.clock import instant, now_ms
from shared.kernel.db.collection import Collection
from shared.kernel.db.counters import SHARDS, Totals, own_kind, prefix_of, shard_key
from shared.kernel.db.facets import id_of
from shared.kernel.db.sequences import last_id
from shared.kernel.db.store import Store
from shared.kernel.db.table import (
    STABLE_FACETS,
    UPDATES,
    VOLATILE_FACETS,
    carried_attributes,
    index_keys,
)
from shared.kernel.db.transaction import Transaction
from shared.kernel.fields import MAX_ID
from shared.warehouse.counts.repository import COUNT_LINES, COUNTS, line_id
from shared.warehouse.layout.repository import LAYOUTS
from shared.warehouse.returns.repository import RETURNS
from shared.warehouse.rfid.repository import DIFFERENCES, VALIDATIONS
from shared.warehouse.warehouses.repository import WAREHOUSES

_COMMIT_MS = 60_000
"""Age from which a change is committed: longer than any invocation."""
_TRIES = 20
"""Attempts to read totals that do not change meanwhile."""


class _Count:
    """Which totals count each entity of a kind."""

    def __init__(self, collection: Collection[Any]) -> None:
        self._collection = collection
        self._codes = array("H")
        self._sparse: dict[int, int] = {}
        self._combinations: dict[tuple[str, ...], int] = {}
        self._totals: Counter[int] = Counter()

    def put(self, number: int, facets: Mapping[str, str]) -> None:
        """Count an entity with these facets, instead of as it was counted before."""
        names = tuple(f"{facet}={facets.get(facet) or ''}" for facet in self._collection.partitions)
        code = self._combinations.setdefault(names, len(self._combinations) + 1)
        before = self._set(number, code)
        if before:
            self._totals[before] -= 1
        self._totals[code] += 1

    def _set(self, number: int, code: int) -> int:
        if number > MAX_ID:
            before = self._sparse.get(number, 0)
            self._sparse[number] = code
            return before
        if number >= len(self._codes):
            self._codes.extend([0] * (max(number + 1, 2 * len(self._codes)) - len(self._codes)))
        before = self._codes[number]
        self._codes[number] = code
        return before

    def totals(self) -> dict[str, int]:
        """Return the number of entities (`n`), and of those of each partition."""
        found: Counter[str] = Counter()
        for names, code in self._combinations.items():
            for name in ("n", *names):
                found[name] += self._totals[code]
        return {name: count for name, count in found.items() if count}


@dataclass(slots=True)
class CountersPass:
    """Checks the totals of one kind after the other."""

    store: Store
    name: str = "counters"

    def chunks(self, position: Any) -> Iterator[tuple[list[str], Any]]:
        """Yield one kind at a time, from `position` on."""
        for kind in sorted(COLLECTIONS):
            if kind >= (position or ""):
                yield [kind], f"{kind}~"

    def look(self, kinds: Sequence[str]) -> Mapping[str, list[Drift]]:
        """Return the drifts of totals. A second look counts again from the beginning."""
        version = self.store.version.complete
        found = {kind: list(self._look(COLLECTIONS[kind].at(version))) for kind in kinds}
        return {kind: drifts for kind, drifts in found.items() if drifts}

    def _look(self, collection: Collection[Any]) -> Iterator[Drift]:
        count, since_ms = _Count(collection), now_ms()
        self._read(collection, count, None)
        for _ in range(_TRIES):
            names = sorted(count.totals())
            own = [name for name in names if collection.own_shards(name)]
            before = collection.totals(self.store, own)
            began = now_ms()
            self._read(collection, count, instant(since_ms - _COMMIT_MS))
            since_ms = began
            after = collection.totals(self.store, own)
            differences = _differences(count.totals(), after.counts)
            if before == after or not differences:
                break
        for name, (stored, expected) in sorted(differences.items()):
            yield self._drift(collection, name, stored, expected, after)

    def _read(self, collection: Collection[Any], count: _Count, since: str | None) -> None:
        if not collection.sorts:
            for numbers in batched(self._ids(collection), 100, strict=False):
                for record in collection.get_many(self.store, numbers):
                    count.put(record.id, {})
            return
        order = "updated_at" if "updated_at" in collection.sorts else "created_at"
        index = collection.sorts[order]
        sort = index_keys(index)[1]
        names = {f"#{name}": name for name in carried_attributes(index)}
        for entry in read_entries(
            self.store, index, collection.kind, low=since,
            ProjectionExpression=", ".join((sort, *names)), ExpressionAttributeNames=names,
        ):  # fmt: skip
            facets = {**entry.get(STABLE_FACETS, {}), **entry.get(VOLATILE_FACETS, {})}
            count.put(id_of(entry[sort]), facets)

    def _ids(self, collection: Collection[Any]) -> Iterable[int]:
        """Return the ids that entities without an index may have: those of what they belong to."""
        if collection.kind == LAYOUTS.kind:
            return range(1, last_id(self.store, WAREHOUSES.kind) + 1)
        if collection.kind == COUNT_LINES.kind:
            return self._ids_of_count_lines()
        if collection.kind == DIFFERENCES.kind:
            index, failed = (
                VALIDATIONS.index_of("result"),
                VALIDATIONS.partition("result", "failed"),
            )
            sort = index_keys(index)[1]
            return (
                id_of(entry[sort])
                for entry in read_entries(self.store, index, failed, ProjectionExpression=sort)
            )
        entries = read_entries(
            self.store, UPDATES, RETURNS.kind, ProjectionExpression="#facets",
            ExpressionAttributeNames={"#facets": STABLE_FACETS},
        )  # fmt: skip
        documents = (entry[STABLE_FACETS].get("exit_document_id") for entry in entries)
        return sorted({int(number) for number in documents if number})

    def _ids_of_count_lines(self) -> Iterator[int]:
        for numbers in batched(range(1, last_id(self.store, COUNTS.kind) + 1), 100, strict=False):
            for count in COUNTS.get_many(self.store, numbers):
                yield from (line_id(count.id, one) for one in range(1, count.entity.lines + 1))

    def _drift(
        self, collection: Collection[Any], name: str, stored: int, expected: int, totals: Totals
    ) -> Drift:
        shards = collection.own_shards(name)
        is_own = shards is not None
        kind = "counter.n" if name == "n" else "counter.own" if is_own else "counter.partition"
        within = collection.totals_within
        counter = own_kind(collection.kind, name) if is_own else within or collection.kind
        prefix = "" if is_own else prefix_of(collection.kind, within)
        total = Total(counter, "n" if is_own else name, shards or SHARDS, prefix)
        fix = Fix(
            ("counter", collection.kind, name),
            lambda tx: add_to_total(self.store, tx, total, expected - stored),
        )
        return Drift(
            kind, f"totals of {collection.kind}", name.replace("\x1f", "/"), str(stored),
            str(expected), totals.version, fix,
        )  # fmt: skip


def _differences(
    counted: Mapping[str, int], stored: Mapping[str, int]
) -> dict[str, tuple[int, int]]:
    """Return stored and counted number of each total that differs."""
    return {
        name: (stored.get(name, 0), counted.get(name, 0))
        for name in counted.keys() | stored.keys()
        if stored.get(name, 0) != counted.get(name, 0)
    }


@dataclass(frozen=True, slots=True)
class Total:
    """Where a total is stored: counters, name, number of shards, and what its names begin with."""

    counter: str
    name: str
    shards: int
    prefix: str = ""


def add_to_total(store: Store, tx: Transaction, total: Total, more: int) -> None:
    """Add a difference to a shard, on the condition that the shard has not changed since."""
    name, version = f"{total.prefix}{total.name}", f"{total.prefix}version"
    keys = [shard_key(total.counter, shard) for shard in range(total.shards)]
    found = store.get_many(keys)
    key = max(keys, key=lambda one: int(found.get(one, {}).get(name, 0)))
    seen = found.get(key, {}).get(version)
    tx.update(
        key,
        "SET #touched = :now ADD #name :more, #version :one",
        condition="attribute_not_exists(#version)" if seen is None else "#version = :seen",
        names={"#name": name, "#version": version, "#touched": f"{total.prefix}touched"},
        values={
            ":more": more,
            ":one": 1,
            ":now": tx.now_ms,
            **({} if seen is None else {":seen": seen}),
        },
    )
