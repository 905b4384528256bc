"""Use cases of stock."""

from collections.abc import Mapping

from shared.kernel.db.lists.page import Page
from shared.kernel.db.parallel import run_all
from shared.kernel.db.store import Store
from shared.warehouse.stock import repository, rules
from shared.warehouse.stock.models import StockParameters, StockRow
from shared.warehouse.stock.repository import MOVEMENTS
from shared.warehouse.warehouses import service as warehouses
from shared.warehouse.warehouses.models import KnownWarehouse

_NO_WAREHOUSE = 0


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


list_levels = repository.list_levels
list_movements = repository.list_movements
get_movement = MOVEMENTS.get
free_rows = repository.free_rows
rows_of_serials = repository.rows_of_serials
choose_rows = rules.choose_rows
