"""Use cases of stock."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from shared.kernel.db.collection import Record
from shared.kernel.db.listing import Page
from shared.kernel.db.parallel import run_both
from shared.kernel.db.store import Store
from shared.warehouse.stock import repository, rules
from shared.warehouse.stock.models import (
    FreeRow,
    Level,
    LevelParameters,
    Movement,
    MovementParameters,
    StockParameters,
    StockRow,
)
from shared.warehouse.stock.repository import MOVEMENTS
from shared.warehouse.warehouses import service as warehouses
from shared.warehouse.warehouses.models import KnownWarehouse

_NO_WAREHOUSE = 0
_CANDIDATES = 300
"""Rows among which an allocation chooses."""


@dataclass(frozen=True, slots=True)
class StockPage:
    """A page of rows, and the warehouses in which they lie by id."""

    rows: Page[StockRow]
    warehouses: Mapping[int, KnownWarehouse]


def list_stock(store: Store, parameters: StockParameters) -> StockPage:
    """Read a page of stock rows."""
    if parameters.warehouse is None:
        page, known = run_both(
            lambda: repository.list_stock(store, parameters, parameters.warehouse_id),
            lambda: warehouses.all_warehouses(store),
        )
        return StockPage(page, known)
    known = warehouses.all_warehouses(store)
    numbers = [number for number, one in known.items() if one.whs_code == parameters.warehouse]
    wanted = parameters.warehouse_id
    found = numbers[0] if numbers and wanted in {None, numbers[0]} else _NO_WAREHOUSE
    return StockPage(repository.list_stock(store, parameters, found), known)


def list_levels(store: Store, parameters: LevelParameters) -> Page[Level]:
    """Read a page of stock levels."""
    return repository.list_levels(store, parameters)


def list_movements(store: Store, parameters: MovementParameters, timezone: str) -> Page[Movement]:
    """Read a page of the ledger; `from` and `to` are days in the time zone."""
    return repository.list_movements(store, parameters, timezone)


def get_movement(store: Store, number: int) -> Record[Movement]:
    """Read an entry of the ledger; NotFound when there is none."""
    return MOVEMENTS.get(store, number)


def free_rows(store: Store, product_id: int, warehouse_id: int) -> list[FreeRow]:
    """Find the rows among which an allocation chooses, 300 at most.

    They come from an index: read them again before promising anything.
    """
    return repository.free_rows(store, product_id, warehouse_id, _CANDIDATES)


def choose_rows(
    rows: Iterable[StockRow],
    pick_faces: Mapping[int, bool],
    qty: Decimal,
    batch: str | None = None,
) -> list[tuple[StockRow, Decimal]]:
    """Choose what to promise: first expired, then pick faces, then first received.

    `pick_faces` has the ids of all positions that may be picked from, and whether they are
    pick faces. Returns rows with quantities, together `qty` or what there is.
    """
    candidates = [
        rules.Candidate(row, pick_faces[row.position_id])
        for row in rows
        if row.inventory_status == "available"
        and row.position_id is not None
        and row.position_id in pick_faces
    ]
    return rules.choose_rows(candidates, qty, batch)
