"""The marks of transactions whose changes of levels are prepared: see `level_book`.

A mark says that the transaction is committed, or that it never will be. Until the changes of a
committed one are added to the figures, its mark names their levels and is in an index, by the time
of its commit.
"""

import hashlib
import json
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import chain, islice
from typing import Literal

from shared.kernel.clock import Instant, instant, now_ms
from shared.kernel.db.indexes import entry
from shared.kernel.db.items import Item, Key, inflate, item_at
from shared.kernel.db.records import HEAD
from shared.kernel.db.store import Store
from shared.kernel.db.table import EXPIRY, PARTITION_KEY, index_keys, index_name
from shared.kernel.db.transaction import Transaction
from shared.kernel.fields import ZERO
from shared.warehouse.stock import level_rules
from shared.warehouse.stock.models import MAX_HOLDS, PendingShares, Place, Shares, StoredLevel

_ABANDONED_MS = 60_000
"""Age from which on pending changes without a mark are dropped: no request lasts so long."""
_LEFT_INDEX = 1
_LEFT = "level_mark"
"""Partition of the index with the marks whose changes are not added to the figures yet."""
_MARK_SECONDS = 86_400
"""Seconds for which a mark is kept after nothing waits for it any more."""
_NAME_CHARACTERS = 32
_USE_CASE_CHARACTERS = 20

type State = Literal["committed", "aborted"]


def use_case_of(tx: Transaction) -> str:
    """Return what the names of all attempts of a use case, and of its repeats, begin with."""
    return hashlib.sha256(tx.use_case_id.encode()).hexdigest()[:_USE_CASE_CHARACTERS]


def new_name(use_case: str) -> str:
    """Return the name of an attempt to commit prepared changes."""
    return (use_case + uuid.uuid4().hex)[:_NAME_CHARACTERS]


def mark_key(name: str) -> Key:
    """Return the key of the mark of a transaction with prepared changes."""
    return (f"level_mark#{name}", HEAD)


def states_of(store: Store, levels: Iterable[StoredLevel]) -> Mapping[str, State]:
    """Return the states of the transactions that have ended and have pending changes in levels."""
    names = {one.name for level in levels for one in level.pending}
    found = store.get_many(map(mark_key, names)) if names else {}
    return {name: found[key]["state"] for name in names if (key := mark_key(name)) in found}


def with_committed(level: StoredLevel, states: Mapping[str, State]) -> StoredLevel:
    """Return a level with its pending changes that are committed in its figures, too."""
    for one in level.pending:
        if states.get(one.name) == "committed":
            level = level_rules.with_amounts(level, shares_of(one))
            level = level_rules.with_holds(level, one.new_holds, one.ended_holds)
    return level


def sellable(
    level: StoredLevel | None,
    states: Mapping[str, State],
    is_ended: Callable[[PendingShares], bool],
    now_ms: int,
) -> tuple[Decimal, Decimal]:
    """Return what can be sold of a level, and what of it if all transactions under way commit.

    One without a mark is under way unless it `is_ended`. A level that does not exist is None.
    """
    if level is None:
        return ZERO, ZERO
    can_be = with_committed(level, states).sellable_at(now_ms)
    others = [one for one in level.pending if one.name not in states and not is_ended(one)]
    return can_be, can_be - sum(one.taken_at(now_ms) for one in others)


def is_full(
    level: StoredLevel | None,
    states: Mapping[str, State],
    is_ended: Callable[[PendingShares], bool],
    now_ms: int,
) -> bool:
    """Return whether a level has all the holds that it may have, if those under way commit."""
    if level is None:
        return False
    others = [one for one in level.pending if one.name not in states and not is_ended(one)]
    holds = chain(with_committed(level, states).holds, *(one.new_holds for one in others))
    return sum(until_ms > now_ms for until_ms, _ in holds) >= MAX_HOLDS


def is_abandoned(pending: PendingShares) -> bool:
    """Return whether pending changes are so old that no request is about to commit them."""
    return pending.at_ms < now_ms() - _ABANDONED_MS


def shares_of(entity: Shares) -> dict[str, Decimal]:
    """Return the shares of a level, or a pending change of them, that are not 0."""
    return {name: qty for name in Shares.model_fields if (qty := getattr(entity, name))}


def new_mark(name: str, now: Instant, places: Iterable[Place]) -> Item:
    """Return the mark of a transaction that is committed now, with the levels that it changes."""
    by_warehouse: dict[int, list[int]] = {}
    for product, warehouse in places:
        by_warehouse.setdefault(warehouse, []).append(product)
    packed = zlib.compress(json.dumps(list(by_warehouse.items())).encode())
    return item_at(mark_key(name), state="committed", places=packed, **left_entry(now))


def left_entry(committed_at: Instant) -> Item:
    """Return the attributes that enter a mark in the index until its changes are added."""
    return entry(_LEFT_INDEX, _LEFT, committed_at)


def places_of(mark: Item) -> list[Place]:
    """Return the levels that a transaction changes; none once its changes are added to them."""
    packed = mark.get("places")
    by_warehouse = json.loads(inflate(packed)) if packed else []
    return [(product, warehouse) for warehouse, products in by_warehouse for product in products]


def left_marks(store: Store, most: int | None = None) -> Iterator[str]:
    """Yield the names of committed transactions whose requests have left their changes pending.

    They come by the time of their commit, at most the first `most`.
    """
    partition, sort = index_keys(_LEFT_INDEX)
    found = store.query_all(
        IndexName=index_name(_LEFT_INDEX),
        KeyConditionExpression=f"{partition} = :left AND {sort} < :before",
        values={":left": _LEFT, ":before": instant(now_ms() - _ABANDONED_MS)},
        ProjectionExpression=PARTITION_KEY,
        **({"Limit": most} if most else {}),
    )
    for item in islice(found, most):
        yield str(item[PARTITION_KEY]).partition("#")[2]


def abort(tx: Transaction, name: str) -> None:
    """Keep a transaction with prepared changes from being committed."""
    expiry = tx.now_ms // 1000 + _MARK_SECONDS
    tx.insert(item_at(mark_key(name), state="aborted", **{EXPIRY: expiry}))


def let_mark_expire(tx: Transaction, name: str) -> None:
    """Let the mark of a committed transaction expire, whose changes are all settled."""
    expiry = tx.now_ms // 1000 + _MARK_SECONDS
    tx.put(item_at(mark_key(name), state="committed", **{EXPIRY: expiry}))
