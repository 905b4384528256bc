"""New codes and names of products, warehouses and positions in stock rows and levels.

Changes are committed in transactions of their own, before the rename itself: a repeated request
does the rest. Something that gets another code has no stock, so that its rows and levels are empty
and nothing else changes them. Those of a warehouse or position are found by the index of the old
code, and leave it when they are changed. Each step keeps the new code from others.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from shared.kernel.db import steps
from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import id_text
from shared.kernel.db.items import Key, item_at
from shared.kernel.db.lists.entity_pages import id_pages
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.steps import commit_in_steps
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.references import reserve_code
from shared.kernel.validation import Checked
from shared.warehouse.catalog import service as catalog
from shared.warehouse.catalog.models import Product, ProductChange, StoredProduct
from shared.warehouse.stock.models import StockRow
from shared.warehouse.stock.repository import LEVELS, STOCK, TOTALS, level_id, row_key
from shared.warehouse.warehouses import service as warehouses
from shared.warehouse.warehouses.models import (
    Position,
    PositionChange,
    StoredPosition,
    StoredWarehouse,
    Warehouse,
    WarehouseChange,
)

_ACTIONS_PER_STEP = 3
"""The new code that is kept, and the counters of the two warehouse codes of levels."""
_PASSES = 3
"""Times that the rows of a product are looked through for an old name, unless none is left: a row
may have been made of one that still had it. Another change of the name must not go on for ever."""
_ACTIONS_PER_MOVED_ROW = 3
"""A row that gets another key, its old and its new alias."""

type _Entity = tuple[Collection[Any], int]
"""A collection of stock, and the id of a row, level or total in it."""
type _Found = tuple[Collection[Any], Record[Any]]
type _Change = Callable[[Transaction, Sequence[_Found]], None]
"""Adds the changes of some entities, of those among them that have the old code or name."""


def change_product(
    tx: Transaction, number: int, change: Checked[ProductChange]
) -> Record[StoredProduct]:
    """Change a product, also in its stock; see `catalog.service.change_product`."""
    return catalog.change_product(tx, number, change, rename_product)


def change_warehouse(
    tx: Transaction, number: int, change: Checked[WarehouseChange]
) -> Record[Warehouse]:
    """Change a warehouse, also in its stock; see `warehouses.service.change_warehouse`."""
    return warehouses.change_warehouse(tx, number, change, _rename_warehouse)


def change_position(
    tx: Transaction, number: int, change: Checked[PositionChange]
) -> Record[Position]:
    """Change a position, also in its stock; see `warehouses.service.change_position`."""
    return warehouses.change_position(tx, number, change, _rename_position)


def rename_product(
    tx: Transaction, before: Product, after: Product, write_name: Callable[[], None]
) -> None:
    """Commit the new code and name of a product to its rows, levels and total.

    Unless the code changes, stock may move meanwhile. `write_name` is called before the first row
    is changed: stock that arrives afterwards has the new name.
    """
    if after.item_code != before.item_code:
        _rename_code(tx, before, after)
        return
    changed = 0

    def change(own: Transaction, found: Sequence[_Found]) -> None:
        nonlocal changed
        rows = [record for _, record in found if record.entity.product_name != after.name]
        if rows and not changed:
            write_name()
        changed += len(rows)
        for record in rows:
            STOCK.update(own, record, {"product_name": after.name})

    for _ in range(_PASSES):
        before_pass = changed
        _commit(tx, None, _pages(tx.store, STOCK, "product_id", id_text(before.id)), change)
        if changed == before_pass:
            return


def _rename_code(tx: Transaction, before: Product, after: Product) -> None:
    def change(own: Transaction, found: Sequence[_Found]) -> None:
        for collection, record in found:
            if record.entity.item_code != after.item_code:
                name = {"product_name": after.name} if collection is STOCK else {}
                collection.update(own, record, {"item_code": after.item_code, **name})

    # Not by the old code: an interrupted rename may have given a third one.
    rows = _pages(tx.store, STOCK, "product_id", id_text(before.id))
    levels = _pages(tx.store, LEVELS, "product_id", id_text(before.id))
    first_rows, first_levels = run_all(lambda: next(rows), lambda: next(levels))
    pages = chain([[(TOTALS, before.id), *first_levels, *first_rows]], levels, rows)
    _commit(tx, (catalog.product_key(after.item_code), before.id), pages, change)


def _rename_warehouse(tx: Transaction, before: StoredWarehouse, after: StoredWarehouse) -> None:
    """Commit the new code of a warehouse to its levels, in steps.

    Its rows are shown with the present code, and get it when stock comes to them. Levels of a
    deleted warehouse that had the code keep it.
    """

    def change(own: Transaction, found: Sequence[_Found]) -> None:
        for collection, record in found:
            level = record.entity
            is_own = record.id == level_id(level.product_id, before.id)
            if is_own and level.whs_code == before.whs_code:
                collection.update(own, record, {"whs_code": after.whs_code})

    levels = _pages(tx.store, LEVELS, "whs_code", before.whs_code)
    _commit(tx, (warehouses.warehouse_key(after.whs_code), before.id), levels, change)


def _rename_position(tx: Transaction, before: StoredPosition, after: StoredPosition) -> None:
    """Commit the new code of a position to its rows, in steps."""

    def change(own: Transaction, found: Sequence[_Found]) -> None:
        rows = [record for _, record in found if record.entity.position_id == before.id]
        _move_rows(own, rows, after.bin_code)

    rows = _pages(
        tx.store, STOCK, "bin_code", before.bin_code, warehouse_id=id_text(before.warehouse_id)
    )
    alias = warehouses.position_key(after.whs_code, after.bin_code)
    _commit(tx, (alias, before.id), rows, change, _ACTIONS_PER_MOVED_ROW)


def _move_rows(tx: Transaction, records: Sequence[Record[StockRow]], bin_code: str) -> None:
    """Add the new code of their position to rows, and to their keys.

    A row stays if there is another one with the new key: an interrupted rename was followed by
    stock, and the other row has it.
    """
    moved = [record.entity.model_copy(update={"bin_code": bin_code}) for record in records]
    taken = tx.store.get_many(row_key(row.key) for row in moved)
    for record, row in zip(records, moved, strict=True):
        old, new = row_key(record.entity.key), row_key(row.key)
        # The key of a serial has no position.
        if record.entity.bin_code == bin_code or (new != old and new in taken):
            continue
        STOCK.update(tx, record, {"bin_code": bin_code})
        if new != old:
            tx.delete(old)
            tx.insert(item_at(new, id=record.id))


def _commit(
    tx: Transaction,
    new_code: tuple[Key, int] | None,
    pages: Iterable[list[_Entity]],
    change: _Change,
    actions: int = 1,
) -> None:
    """Commit the changes of entities in steps, apart from `tx`.

    `new_code` has the key of the alias that each step keeps from others, and the id of its owner.
    `actions` is what an entity takes of a transaction.
    """
    own = Transaction(tx.store.uncached(), caller=tx.caller)
    most = max(1, (steps.STEP_ACTIONS - _ACTIONS_PER_STEP) // actions)

    def step(left: Sequence[_Entity]) -> int:
        part = left[:most]
        items = own.store.get_many(collection.key(one) for collection, one in part)
        records = [(collection, collection.from_items(items, one)) for collection, one in part]
        change(own, [(collection, record) for collection, record in records if record])
        if new_code and not own.is_empty:
            reserve_code(own, *new_code)
        return len(part)

    for page in pages:
        commit_in_steps(own, page, step)


def _pages(
    store: Store, collection: Collection[Any], facet: str, value: str, **equal: str
) -> Iterator[list[_Entity]]:
    """Yield the entities with the value of a facet, page by page of its index."""
    for numbers in id_pages(store, collection, facet, value, **equal):
        yield [(collection, number) for number in numbers]
