"""Fences: a change that names master data fails when the master data is retired meanwhile.

A creation reads the fence of its kind (`Transaction.fence`), then the master data, and commits on
the condition that the fence is the same. The condition is part of the counter update that the
creation makes anyway, so a fence costs it no write. Retiring is rare and pays instead: it
invalidates all fences of every kind that names master data.
"""

from collections.abc import Iterable

from shared.kernel.db.counters import fenced_shards, shard_key
from shared.kernel.db.items import Key
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.store import Store, key_attributes


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
            UpdateExpression="ADD #epoch :one",
            ExpressionAttributeNames={"#epoch": "epoch"},
            ExpressionAttributeValues={":one": {"N": "1"}},
        )
    )
