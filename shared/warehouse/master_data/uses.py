"""What refers to master data: stock, open documents, open counts and pick faces.

- Every open document and count is in the register of `shared.kernel.references`.
- Every position has a count of its stock rows, and with the setting `capacity` at `enforce` one of
  arrivals. Whether a product has stock is a facet of its total.
- Every pick face is recorded at the aliases of its product and its position.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial

from shared.kernel import references
from shared.kernel.db.facets import flag_text, id_text
from shared.kernel.db.items import Item, Key, item_at
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import HEAD
from shared.kernel.db.store import Store
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY, VOLATILE_FACETS
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict
from shared.kernel.references import is_registered, undo_retirement

TOTAL_KIND, STOCKED = "level_total", "stocked"
"""Kind of the totals of products, and their facet that says whether there is stock."""
_ASSIGNMENT = "FACE#"
ASSIGNED = "assigned"
"""Attribute of a position's alias: the set of ids of the products assigned to the position."""

NAMED_ROWS = "stocked"
"""Attribute of the item of a position: the rows that had stock after the last arrival that was
checked, so far as it names them."""
_MAX_IDS = 300
"""Most ids of rows in the item of a position, so that it stays small."""

REFERENCING_KINDS = (
    "entry", "exit", "pick_face", "position", "return", "stock", "stock_count", "transfer",
    "transfer_order",
)  # fmt: skip
"""Kinds that refer to master data and call `Transaction.fence`. Positions refer to their warehouse.

Each costs a retirement one plain update per shard with fences, and no transaction an action."""

retire = partial(references.retire, kinds=REFERENCING_KINDS)
"""Marks master data as being deleted or renamed; see `references.retire`."""
code_refusal = partial(references.code_refusal, users="documents or stock movements")
"""Returns why a code cannot be given to master data; see `references.code_refusal`."""


# Stock


def change_stock_count(tx: Transaction, position_id: int, difference: int) -> None:
    """Change the number of stock rows of a position by `difference`."""
    tx.update(stock_count_key(position_id), "ADD holds :more", values={":more": difference})


@dataclass(frozen=True, slots=True)
class PositionCount:
    """What the item of a position says of its stock.

    `rows` is the number of its rows with stock, `arrivals` a number that has changed whenever goods
    have arrived since; None before the first. `ids` are the rows with stock of the last arrival
    that was checked: a row that got stock otherwise is missing.
    """

    rows: int = 0
    arrivals: int | None = None
    ids: AbstractSet[int] = frozenset()


def position_counts(store: Store, position_ids: Iterable[int]) -> dict[int, PositionCount]:
    """Return the counts of positions."""
    keys = {number: stock_count_key(number) for number in position_ids}
    found = store.get_many(keys.values())
    return {number: _position_count(found.get(key, {})) for number, key in keys.items()}


def _position_count(item: Item) -> PositionCount:
    arrivals = item.get("arrivals")
    ids = frozenset(int(number) for number in item.get(NAMED_ROWS, ()))
    return PositionCount(
        int(item.get("holds", 0)), None if arrivals is None else int(arrivals), ids
    )


def record_arrival(
    tx: Transaction,
    position_id: int,
    difference: int,
    seen: PositionCount | None,
    ids: AbstractSet[int] = frozenset(),
) -> None:
    """Record that goods arrive at a position, whose number of stock rows changes by `difference`.

    If `seen` was read to decide whether they fit, the commit fails when goods have arrived since.
    `ids` are then its rows with stock afterwards.
    """
    expression = "ADD holds :more, arrivals :one"
    values: dict[str, object] = {":more": difference, ":one": 1}
    key = stock_count_key(position_id)
    if seen is None:
        tx.update(key, expression, values=values)
        return
    if len(ids) <= _MAX_IDS:
        expression, values = f"{expression} SET {NAMED_ROWS} = :ids", {**values, ":ids": {*ids}}
    else:
        expression += f" REMOVE {NAMED_ROWS}"
    condition = "attribute_not_exists(arrivals)"
    if seen.arrivals is not None:
        condition, values = "arrivals = :seen", {**values, ":seen": seen.arrivals}
    tx.update(key, expression, values=values, condition=condition, as_read=True)


def _has_stock(store: Store, facet: str, number: int) -> bool:
    """Return whether a product or a position has stock."""
    is_product = facet == "product"
    key = (f"{TOTAL_KIND}#{id_text(number)}", HEAD) if is_product else stock_count_key(number)
    # An item that was read before the fences were invalidated does not show the last creations.
    item = store.get_many([key], uncached=True).get(key, {})
    if is_product:
        stocked: str | None = item.get(VOLATILE_FACETS, {}).get(STOCKED)
        return stocked == flag_text(True)
    return int(item.get("holds", 0)) > 0


def without_stock(store: Store, numbers: Iterable[int]) -> set[int]:
    """Return those of the positions that held no stock row, at most some milliseconds ago."""
    keys = {number: stock_count_key(number) for number in numbers}
    found = store.get_eventually(keys.values())
    return {number for number, key in keys.items() if not int(found.get(key, {}).get("holds", 0))}


def stock_count_key(position_id: int) -> Key:
    """Return the key of the item with the number of stock rows of a position."""
    return (f"held#position#{position_id}", "COUNT")


# Pick faces


def assignment_key(product: Key, position: Key) -> Key:
    """Return the key of the item that records the assignment of a product to a position.

    Both are given by the keys of their aliases. The item is in the partition of the product's
    alias, so that one Query finds all assignments of a product.
    """
    return (product[0], f"{_ASSIGNMENT}{position[0]}")


def assign(
    tx: Transaction, product: Key, position: Key, *, product_id: int, pick_face_id: int
) -> None:
    """Record that the pick face with the id `pick_face_id` assigns a product to a position.

    The commit raises StaleRead when the assignment exists. The change must call
    `Transaction.fence` before it reads the product and the position.
    """
    tx.insert(item_at(assignment_key(product, position), id=pick_face_id))
    tx.add_to_set(position, ASSIGNED, product_id)


def unassign(tx: Transaction, product: Key, position: Key, *, product_id: int) -> None:
    """Remove an assignment."""
    tx.delete(assignment_key(product, position))
    tx.update(
        position,
        "DELETE #assigned :product",
        names={"#assigned": ASSIGNED},
        values={":product": {product_id}},
    )


def _has_assignment(store: Store, alias: Key) -> bool:
    """Return whether the product or position with the key `alias` of its alias has a pick face."""
    page = store.query(
        KeyConditionExpression=f"{PARTITION_KEY} = :partition",
        values={":partition": alias[0]},
        ConsistentRead=True,
        Limit=2,
    )
    return any(ASSIGNED in item or item[SORT_KEY] != alias[1] for item in page.items)


# Retirement


def retire_unused(tx: Transaction, alias: Key, *, facet: str, number: int, refusal: str) -> str:
    """Retire master data that nothing refers to, and return the mark.

    `facet` is `product`, `warehouse` or `position`; `refusal` is the message of the Conflict, with
    `{use}` for the kind of reference.

    Raises:
        Conflict: Something refers to it; the mark is removed again.
    """
    mark = retire(tx, alias)
    stocked, documented, assigned = run_all(
        lambda: _has_stock(tx.store, facet, number),
        lambda: is_registered(tx.store, facet, number),
        lambda: _has_assignment(tx.store, alias),
    )
    use = None
    if stocked:
        use = "in stock" if facet == "product" else "in use by stock"
    elif documented:
        use = "on open documents or counts"
    elif assigned:
        use = "in use by pick faces"
    if use:
        undo_retirement(tx, alias, mark)
        raise Conflict(refusal.format(use=use))
    return mark
