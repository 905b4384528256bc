"""Master data that open work names must not disappear under it.

Every open document has one small item that lists the ids it names; what holds stock has a
count of the rows; a product that is assigned to a position as its pick face is noted with the
aliases of both. Whoever deletes (or
renames) master data first *retires* it: marks its alias and overtakes every document that
is being created right now. What was committed before is then in the register, and what
comes later sees the mark. A mark left by a crash runs out by itself.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from shared.kernel.db.items import Item, Key
from shared.kernel.db.store import Store
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from shared.kernel.db.transaction import StaleRead, Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Conflict, ServiceUnavailable

_REGISTER = "open"
_ASSIGNMENT = "FACE#"
ASSIGNED = "assigned"
"""Attribute of the alias of a position: ids of the products that are assigned to it, a set that
is not there when there are none."""
_MARK_MS = 30_000
"""Longer than any invocation, so that a mark outlives the use case that set it."""
_PATIENCE_MS = 3_000
"""How long a use case waits for the outcome; only a retirement that died takes longer."""

REFERENCING_KINDS = ("entry", "exit", "position", "transfer", "transfer_order", "stock")
"""Kinds that name master data and are guarded with `Transaction.guard`: work, stock, and
positions, which name their warehouse. A retirement has one action per kind and shard of its
totals, and one for the mark: with six kinds and 16 shards 97 of the 100 that a transaction
takes."""


def register_references(tx: Transaction, holder: str, named: Mapping[str, Iterable[int]]) -> None:
    """Stage the entry of an open document: facet (product, warehouse, position) → ids."""
    ids = {facet: set(numbers) for facet, numbers in named.items()}
    present = {facet: numbers for facet, numbers in ids.items() if numbers}
    tx.put({PARTITION_KEY: _REGISTER, SORT_KEY: holder, **present})


def release_references(tx: Transaction, holder: str) -> None:
    """Stage the removal of the entry when the document is no longer open."""
    tx.delete((_REGISTER, holder))


def change_stock_count(tx: Transaction, facet: str, number: int, difference: int) -> None:
    """Stage that so many more (or fewer) stock rows hold something."""
    tx.update(_hold_key(facet, number), "ADD holds :more", values={":more": difference})


def has_stock(store: Store, facet: str, number: int) -> bool:
    """Tell whether anything is in stock of a product, or at a position."""
    found = store.get_many([_hold_key(facet, number)])
    return any(int(item["holds"]) > 0 for item in found.values())


def _hold_key(facet: str, number: int) -> Key:
    return (f"held#{facet}#{number}", "COUNT")


def is_on_open_document(store: Store, facet: str, number: int) -> bool:
    """Tell whether any open document names it; reads the whole register (rare operations)."""
    start = None
    while True:
        more: dict[str, Any] = {"ExclusiveStartKey": start} if start else {}
        page = store.query(
            KeyConditionExpression=f"{PARTITION_KEY} = :register",
            FilterExpression="contains(#facet, :number)",
            ExpressionAttributeNames={"#facet": facet},
            values={":register": _REGISTER, ":number": number},
            ConsistentRead=True,
            **more,
        )
        if page.items:
            return True
        start = page.last_key
        if start is None:
            return False


def assignment_key(product: Key, position: Key) -> Key:
    """Key of the item that notes a product's assignment to a position; of both the aliases.

    It lies beside the alias of the product, whose partition so tells all its assignments. Codes
    make good keys: they cannot change while there is one.
    """
    return (product[0], f"{_ASSIGNMENT}{position[0]}")


def assign(tx: Transaction, product: Key, position: Key, *, product_id: int, holder: int) -> None:
    """Stage that a product is assigned to a position, by the entity with the id `holder`.

    StaleRead when it is already. The change must be bound to both (`Transaction.guard`).
    """
    partition, sort = assignment_key(product, position)
    tx.insert({PARTITION_KEY: partition, SORT_KEY: sort, "id": holder})
    tx.add_to_set(position, ASSIGNED, product_id)


def unassign(tx: Transaction, product: Key, position: Key, *, product_id: int) -> None:
    """Stage the end of an assignment."""
    tx.delete(assignment_key(product, position))
    tx.update(
        position,
        "DELETE #assigned :product",
        names={"#assigned": ASSIGNED},
        values={":product": {product_id}},
    )


def has_assignment(store: Store, alias: Key) -> bool:
    """Tell whether a product is assigned to any position, or a position to any product."""
    page = store.query(
        KeyConditionExpression=f"{PARTITION_KEY} = :partition",
        values={":partition": alias[0]},
        ConsistentRead=True,
        Limit=2,
    )
    return any(ASSIGNED in item or item[SORT_KEY] != alias[1] for item in page.items)


def alias_key(facet: str, code: str) -> Key:
    """Key of the alias item that a unique code leads through."""
    return (f"{facet}#{code}", "ALIAS")


class _NotOurs(Exception):
    """The mark was taken back already, or ran out and was set by someone else."""


def retire(tx: Transaction, alias: Key) -> str:
    """Mark master data as about to go, at once; return the mark.

    Committed apart from `tx`, before the check that nothing names it; harmless by itself
    and repeatable. Raises StaleRead while someone else's mark stands or the alias is gone.
    """
    mark = tx.attempt_id
    marking = Transaction(tx.store)
    marking.update(
        alias,
        "SET retired_by = :mark, retired_until = :until",
        condition=(
            f"attribute_exists({PARTITION_KEY}) AND (attribute_not_exists(retired_by)"
            " OR retired_by = :mark OR retired_until < :now)"
        ),
        values={":mark": mark, ":until": marking.now_ms + _MARK_MS, ":now": marking.now_ms},
    )
    for kind in REFERENCING_KINDS:
        marking.invalidate_fences(kind)
    marking.commit()
    return mark


def retire_unused(tx: Transaction, alias: Key, *, facet: str, number: int, refusal: str) -> str:
    """Retire master data that nothing names and no stock holds; return the mark.

    `refusal` is the message with `{use}` for what stands against it. Raises Conflict
    with it; then nothing has changed.
    """
    mark = retire(tx, alias)
    use = None
    if has_stock(tx.store, facet, number):
        use = "in stock" if facet == "product" else "in use by stock"
    elif is_on_open_document(tx.store, facet, number):
        use = "on open documents"
    elif has_assignment(tx.store, alias):
        use = "in use by pick faces"
    if use:
        undo_retirement(tx, alias, mark)
        raise Conflict(refusal.format(use=use))
    return mark


def undo_retirement(tx: Transaction, alias: Key, mark: str) -> None:
    """Take a mark back, at once, since the master data stays."""

    def undo(unmarking: Transaction) -> None:
        unmarking.update(
            alias,
            "REMOVE retired_by, retired_until",
            condition="retired_by = :mark",
            values={":mark": mark},
            on_condition_failed=_NotOurs,
        )

    with suppress(_NotOurs):
        run_transaction(tx.store, undo)


def ensure_not_retired(tx: Transaction, aliases: Iterable[Item]) -> None:
    """Wait for the outcome, by deciding again, when something named is about to go.

    Raises ServiceUnavailable when there is no outcome within seconds.
    """
    until = max((int(alias.get("retired_until", 0)) for alias in aliases), default=0)
    if until < tx.now_ms:
        return
    if tx.elapsed_ms > _PATIENCE_MS:
        raise ServiceUnavailable(1 + (until - tx.now_ms) // 1000)
    raise StaleRead
