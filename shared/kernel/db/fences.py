"""Fences: a change that names master data fails when the master data is retired meanwhile.

A creation reads the fence of its kind (`Transaction.fence`), then the master data, and commits on
the condition that the fence is the same. The condition is part of the counter update that the
creation makes anyway, so a fence costs it no write. Retiring is rare and pays instead: it
invalidates all fences of every kind that names master data.

A creation may read its fence and the master data in one call, which reads them in any order. If the
fence was invalidated before it was read, and the master data had been read before that, the commit
would not fail. So a fence says when it was invalidated last, and after one of a moment ago the
master data is read once more.
"""

from collections.abc import Iterable

from shared.kernel.clock import now_ms
from shared.kernel.db.counters import FenceValue, fenced_shards, shard_key
from shared.kernel.db.items import Key
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.store import Store, key_attributes

_MOMENT_MS = 60_000
"""Longer than clocks differ, and than the call that reads a fence with master data may take."""


def read_fence(store: Store, key: Key, ahead: Iterable[Key]) -> FenceValue:
    """Return the fence of a shard; `ahead` are keys of master data that is read with it."""
    named = list(ahead)
    if not named:
        return FenceValue((store.get(key) or {}).get("epoch"))
    item = store.get_many([key, *named]).get(key, {})
    if now_ms() - int(item.get("retired", 0)) < _MOMENT_MS:
        store.get_many(named, uncached=True)
    return FenceValue(item.get("epoch"))


def invalidate_fences(store: Store, kinds: Iterable[str]) -> None:
    """Make every uncommitted change that called `fence` with one of `kinds` fail with StaleRead.

    Each fence is a plain update, which costs half of one in a transaction and conflicts with at
    most one creation. An update that is lost, repeated or made by a request that then ends does no
    harm: a creation is retried once more.

    Raises:
        ServiceUnavailable: Conflicts or throttling lasted until the deadline.
    """
    keys = [shard_key(kind, shard) for kind in kinds for shard in fenced_shards()]
    map_concurrently(lambda key: _invalidate(store, key), keys)


def _invalidate(store: Store, key: Key) -> None:
    store.retry_transient_errors(
        lambda: store.client.update_item(
            TableName=store.table,
            Key=key_attributes(key),
            UpdateExpression="SET #retired = :now ADD #epoch :one",
            ExpressionAttributeNames={"#epoch": "epoch", "#retired": "retired"},
            ExpressionAttributeValues={":one": {"N": "1"}, ":now": {"N": str(now_ms())}},
        )
    )
