"""Exact totals of collections, updated in the transactions that change the collections.

The totals of a collection are spread over SHARDS items, so that concurrent writers rarely update
the same item; a reader sums them with one Query. Attributes of a shard:

- `n`: number of entities; `FACET=VALUE`: entities of one partition, such as `status=open`. A facet
  with thousands of values, such as the warehouse, has counters of its own for each value instead
  (`own_kind`), because every shard is written and read as a whole.
- `version`: rises with every change of a total, so that bookmarks and snapshots of the lists can
  be recognized as stale
- `touched`: time of the last such change in milliseconds; indexes may lag behind it
- `epoch`: the fence value, `retired`: when it changed last, in milliseconds; see
  `shared.kernel.db.fences`

Collections that the same transactions change can share these items, so that a transaction pays one
write for all of them. The attributes of a collection in the items of another one are prefixed by
its kind, as in `movement:n`.
"""

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from shared.kernel.db.items import Item, Key, encode
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.store import Store
from shared.kernel.db.table import PARTITION_KEY

SHARDS = 16

_OWN = frozenset({"version", "touched", "epoch", "retired"})


def random_shard() -> int:
    """Return a random shard for a transaction.

    A transaction uses the same shard for every collection that it changes. With a shard per
    collection, two transactions that change several collections would nearly always conflict.
    """
    return random.randrange(SHARDS)  # noqa: S311


def fenced_shards() -> range:
    """Return the shards that a change with a fence may use.

    They are half of all, so that invalidating the fences of a kind takes half the writes. Changes
    with fences create something; all other changes use every shard.
    """
    return range((SHARDS + 1) // 2)


def own_kind(kind: str, partition: str) -> str:
    """Return the name of the counters of one partition that has its own."""
    return f"{kind}#{partition}"


def shard_key(kind: str, shard: int) -> Key:
    """Return the key of one shard of a collection's totals."""
    return (f"count#{kind}", f"{shard:02d}")


@dataclass(frozen=True, slots=True)
class FenceValue:
    """The fence value that a change has read; None when the shard has none."""

    value: int | None


def prefix_of(kind: str, within: str | None) -> str:
    """Return what the names of a kind's totals begin with, which are in the items of `within`."""
    return f"{kind}:" if within else ""


@dataclass(slots=True)
class CounterChange:
    """The changes of one transaction to one shard."""

    shard: int
    changes: dict[str, int] = field(default_factory=dict)
    fence: FenceValue | None = None
    prefixes: set[str] = field(default_factory=set)
    """Of the collections whose totals change; a fence alone causes no action."""

    def add(self, kind: str, changes: Mapping[str, int], within: str | None) -> None:
        """Add differences to the totals of a kind; differences of the same name add up."""
        prefix = prefix_of(kind, within)
        self.prefixes.add(prefix)
        for name, difference in changes.items():
            self.changes[prefix + name] = self.changes.get(prefix + name, 0) + difference

    def expressions(self, now_ms: int) -> dict[str, Any]:
        """Return the expressions of the Update action."""
        differences = {name: value for name, value in self.changes.items() if value}
        names: dict[str, str] = {}
        values: dict[str, Any] = {":one": 1, ":now": now_ms}
        times, additions = [], []
        for number, prefix in enumerate(sorted(self.prefixes)):
            names |= {f"#v{number}": f"{prefix}version", f"#t{number}": f"{prefix}touched"}
            times.append(f"#t{number} = :now")
            additions.append(f"#v{number} :one")
        for number, (name, value) in enumerate(differences.items()):
            names[f"#d{number}"] = name
            values[f":d{number}"] = value
            additions.append(f"#d{number} :d{number}")
        body: dict[str, Any] = {
            "UpdateExpression": f"SET {', '.join(times)} ADD {', '.join(additions)}"
        }
        if self.fence:
            names["#epoch"] = "epoch"
            if self.fence.value is None:
                body["ConditionExpression"] = "attribute_not_exists(#epoch)"
            else:
                values[":epoch"] = self.fence.value
                body["ConditionExpression"] = "#epoch = :epoch"
        body["ExpressionAttributeNames"] = names
        body["ExpressionAttributeValues"] = {name: encode(value) for name, value in values.items()}
        return body


@dataclass(frozen=True, slots=True)
class Totals:
    """The sums over all shards at one moment."""

    counts: Mapping[str, int]
    version: int
    touched_ms: int

    def of(self, partition: str | None) -> int:
        """Return the number of entities, of all (None) or of one partition."""
        return self.counts.get(partition or "n", 0)


def read_totals(
    store: Store, kind: str, own: Iterable[str] = (), *, within: str | None = None
) -> Totals:
    """Read the totals of a collection, strongly consistent.

    `own` are partitions with counters of their own (`own_kind`) to be read, too; `within` is the
    kind whose items hold the totals, if not its own.
    """
    names = list(own)
    places = [(within or kind, prefix_of(kind, within))]
    places += [(own_kind(kind, name), "") for name in names]
    totals, *others = map_concurrently(
        lambda place: _sum(_shards(store, place[0]), place[1]), places
    )
    counts = {name: one.of(None) for name, one in zip(names, others, strict=True)}
    return Totals({**totals.counts, **counts}, totals.version, totals.touched_ms)


def _sum(shards: Iterable[Item], prefix: str) -> Totals:
    counts: dict[str, int] = {}
    version = touched = 0
    for item in shards:
        version += int(item.get(f"{prefix}version", 0))
        touched = max(touched, int(item.get(f"{prefix}touched", 0)))
        for attribute, value in item.items():
            of_kind, name = _split(attribute)
            if of_kind == prefix and name not in _OWN and not isinstance(value, str):
                counts[name] = counts.get(name, 0) + int(value)
    return Totals(counts, version, touched)


def _split(attribute: str) -> tuple[str, str]:
    """Return the prefix and the name of a total; the value in a name may contain a colon."""
    kind, colon, name = attribute.partition(":")
    return (f"{kind}:", name) if colon and "=" not in kind else ("", attribute)


def _shards(store: Store, kind: str) -> Iterator[Item]:
    return store.query_all(
        KeyConditionExpression=f"{PARTITION_KEY} = :kind",
        values={":kind": f"count#{kind}"},
        ConsistentRead=True,
    )
