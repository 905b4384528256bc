"""Exact totals of collections, kept inside the transactions that change them.

A collection's totals are spread over SHARDS items so that concurrent writers rarely
meet; a reader sums them with one Query. Attributes of a shard:

- `n`: entries in all; `FACET=VALUE`: entries of one partition, such as `status=open`
- `version`: rises with every change of the collection, so that what was derived
  from the list (bookmarks, snapshots) is known to be stale
- `touched`: milliseconds of the last change; indexes may lag behind it
- `epoch`: see `Transaction.guard`
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from shared.kernel.db.items import Item, Key, encode
from shared.kernel.db.store import Store
from shared.kernel.db.table import PARTITION_KEY

SHARDS = 16

_OWN = frozenset({"version", "touched", "epoch"})


def random_shard() -> int:
    """Choose the shard of a transaction.

    It is the same for every collection that the transaction changes: were each on a shard of
    its own, two writers would meet in almost every case instead of in one of SHARDS.
    """
    return random.randrange(SHARDS)  # noqa: S311


def shard_key(kind: str, shard: int) -> Key:
    """Key of one shard of a collection's totals."""
    return (f"count#{kind}", f"{shard:02d}")


@dataclass(frozen=True, slots=True)
class FenceValue:
    """The epoch that a change has read; None when the shard had none."""

    value: int | None


@dataclass(slots=True)
class CounterChange:
    """What one transaction changes in the totals of one collection, on one shard."""

    shard: int
    changes: dict[str, int] = field(default_factory=dict)
    fence: FenceValue | None = None
    has_changes: bool = False
    """Whether anything changed; a guard alone binds nothing."""

    def add(self, changes: Mapping[str, int]) -> None:
        """Add differences; several of one name add up."""
        self.has_changes = True
        for name, difference in changes.items():
            self.changes[name] = self.changes.get(name, 0) + difference

    def expressions(self, now_ms: int) -> dict[str, Any]:
        """Return the expressions of the one Update action that makes the change."""
        differences = {name: value for name, value in self.changes.items() if value}
        names = {"#version": "version", "#touched": "touched"}
        values: dict[str, Any] = {":one": 1, ":now": now_ms}
        additions = ["#version :one"]
        for number, (name, value) in enumerate(differences.items()):
            names[f"#d{number}"] = name
            values[f":d{number}"] = value
            additions.append(f"#d{number} :d{number}")
        body: dict[str, Any] = {
            "UpdateExpression": f"SET #touched = :now ADD {', '.join(additions)}"
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
        """Entries in all (None) or in one partition such as `status=open`."""
        return self.counts.get(partition or "n", 0)


def read_totals(store: Store, kind: str) -> Totals:
    """Read the totals of a collection, strongly consistent: SHARDS small items.

    One Query reads them all, unless a collection has so many partitions (positions of more
    than a thousand warehouses) that they fill its 1 MB.
    """
    counts: dict[str, int] = {}
    version = touched = 0
    for item in _shards(store, kind):
        version += int(item.get("version", 0))
        touched = max(touched, int(item.get("touched", 0)))
        for name, value in item.items():
            if name not in _OWN and not isinstance(value, str):
                counts[name] = counts.get(name, 0) + int(value)
    return Totals(counts, version, touched)


def _shards(store: Store, kind: str) -> Iterator[Item]:
    more: dict[str, Any] = {}
    while True:
        page = store.query(
            KeyConditionExpression=f"{PARTITION_KEY} = :kind",
            values={":kind": f"count#{kind}"},
            ConsistentRead=True,
            **more,
        )
        yield from page.items
        if page.last_key is None:
            return
        more = {"ExclusiveStartKey": page.last_key}
