"""Use cases of stock."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from shared.kernel.db.lists.page import Page
from shared.kernel.db.parallel import run_all
from shared.kernel.db.store import Store
from shared.kernel.fields import plain
from shared.warehouse.stock import batches, level_marks, level_settling, repository, rules
from shared.warehouse.stock.models import (
    LevelParameters,
    StockParameters,
    StockRow,
    StoredLevel,
)
from shared.warehouse.stock.repository import MOVEMENTS, STOCK
from shared.warehouse.warehouses import service as warehouses
from shared.warehouse.warehouses.models import KnownWarehouse

_NO_WAREHOUSE = 0
_MOST_PLACES = 10


def list_stock(
    store: Store, parameters: StockParameters
) -> tuple[Page[StockRow], Mapping[int, KnownWarehouse]]:
    """Return a page of stock rows, and their warehouses by id."""
    if parameters.warehouse is None:
        return run_all(
            lambda: repository.list_stock(store, parameters, parameters.warehouse_id),
            lambda: warehouses.all_warehouses(store),
        )
    one, wanted = warehouses.find_warehouse(store, parameters.warehouse), parameters.warehouse_id
    found = one.id if one and wanted in {None, one.id} else _NO_WAREHOUSE
    return repository.list_stock(store, parameters, found), {one.id: one} if one else {}


def rows_by_id(store: Store, numbers: Iterable[int]) -> dict[int, StockRow]:
    """Return stock rows by their ids."""
    return {record.id: record.entity for record in STOCK.get_many(store, numbers)}


level_keys = level_settling.level_keys


def list_levels(store: Store, parameters: LevelParameters, now_ms: int) -> Page[StoredLevel]:
    """Return a page of levels per warehouse, or of totals over all warehouses, as they are now."""
    page = repository.list_levels(store, parameters, now_ms)
    states = level_marks.states_of(store, (record.entity for record in page.records))
    if not states:
        return page
    records = [
        replace(record, entity=level_marks.with_committed(record.entity, states))
        for record in page.records
    ]
    return replace(page, records=records)


def places_text(store: Store, row: StockRow) -> str:
    """Return where the stock of the product of a row is, of its batch and serial if it has some.

    It reads a list, which may lag behind by moments, and shows the first 10 rows.
    """
    parameters = StockParameters(
        product_id=row.product_id, batch=row.batch_num, serial=row.serial_number, status="in",
        per_page=_MOST_PLACES,
    )  # fmt: skip
    page = repository.list_stock(store, parameters, None)
    shown = [_place_text(record.entity) for record in page.records]
    more = page.total - len(shown)
    return ", ".join([*shown, *([f"{more} more"] if more else [])]) or "nowhere"


def _place_text(row: StockRow) -> str:
    place = f"{plain(row.qty)} {row.inventory_status} at {row.whs_code} {row.bin_code}"
    if row.bin_code is None:
        place = f"{plain(row.qty)} in transit to {row.whs_code}"
    is_shown = row.allocated and row.inventory_status != "staged"
    return f"{place} ({plain(row.allocated)} allocated)" if is_shown else place


list_movements = repository.list_movements
get_movement = MOVEMENTS.get
free_rows = repository.free_rows
rows_of_serials = repository.rows_of_serials
serial_rows = repository.serial_rows
choose_rows = rules.choose_rows
other_dates = batches.other_dates
batch_dates = batches.batch_dates
date_refusal = batches.date_refusal
