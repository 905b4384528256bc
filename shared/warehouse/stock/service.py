"""Use cases of stock."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from shared.kernel.db.items import AttributeMap
from shared.kernel.db.page import Page
from shared.kernel.db.parallel import run_all
from shared.kernel.db.store import Store
from shared.warehouse.stock import repository, rules
from shared.warehouse.stock.models import (
    FreeRow,
    StockParameters,
    StockRow,
)
from shared.warehouse.stock.repository import MOVEMENTS
from shared.warehouse.warehouses import service as warehouses
from shared.warehouse.warehouses.models import KnownWarehouse

_NO_WAREHOUSE = 0
FREE_PAGE = 300
"""Rows that an allocation considers at once."""


@dataclass(frozen=True, slots=True)
class StockPage:
    """A page of stock rows, and all warehouses by id."""

    rows: Page[StockRow]
    warehouses: Mapping[int, KnownWarehouse]


def list_stock(store: Store, parameters: StockParameters) -> StockPage:
    """Return a page of stock rows."""
    if parameters.warehouse is None:
        page, known = run_all(
            lambda: repository.list_stock(store, parameters, parameters.warehouse_id),
            lambda: warehouses.all_warehouses(store),
        )
        return StockPage(page, known)
    one, wanted = warehouses.find_warehouse(store, parameters.warehouse), parameters.warehouse_id
    found = one.id if one and wanted in {None, one.id} else _NO_WAREHOUSE
    return StockPage(repository.list_stock(store, parameters, found), {one.id: one} if one else {})


list_levels = repository.list_levels
list_movements = repository.list_movements
get_movement = MOVEMENTS.get


def free_rows(
    store: Store, product_id: int, warehouse_id: int, start: AttributeMap | None
) -> tuple[list[FreeRow], AttributeMap | None]:
    """Return a page of the rows with available stock, and the key `start` of the next page.

    They come from an index that can lag behind: load the rows before allocating from them.
    """
    return repository.free_rows(store, product_id, warehouse_id, FREE_PAGE, start)


rows_of_serials = repository.rows_of_serials


def choose_rows(
    rows: Iterable[StockRow],
    pick_faces: Mapping[int, bool],
    qty: Decimal,
    batch: str | None = None,
) -> list[tuple[StockRow, Decimal]]:
    """Return the rows to allocate `qty` from, each with its quantity.

    Stock that expires first comes first, then stock at a pick face, then the oldest receipt.
    The quantities sum to less than `qty` if there is less available.

    Args:
        rows: Rows to choose from.
        pick_faces: Ids of the positions that can be picked from, and whether each is a pick face.
        qty: Quantity to allocate.
        batch: Only allocate stock of this batch.
    """
    candidates = [
        rules.Candidate(row, pick_faces[row.position_id])
        for row in rows
        if row.inventory_status == "available"
        and row.position_id is not None
        and row.position_id in pick_faces
    ]
    return rules.choose_rows(candidates, qty, batch)
