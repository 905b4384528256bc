"""Stock: rows, levels and movements. The routes of other subjects are in modules of their own."""

from shared.http.api_handler import ApiHandler
from shared.http.request import Request
from shared.http.routes import DeferredRoutes, ListResponse, ResourceResponse, Routes
from shared.kernel.clock import now_ms
from shared.kernel.db.store import Store
from shared.warehouse.stock import service, views
from shared.warehouse.stock.models import (
    LevelParameters,
    Movement,
    MovementParameters,
    Stock,
    StockLevel,
    StockParameters,
    StockRow,
    StoredLevel,
)

routes = Routes()

_SCOPE = "stocks:read"


@routes.read(
    "/stocks",
    "List stock rows",
    scope=_SCOPE,
    response=Stock,
    parameters=StockParameters,
    description="One row per product, position, batch, serial and inventory status. An empty row"
    " is kept with status `out` and quantity 0.",
)
def list_stock(store: Store, request: Request[None, StockParameters]) -> ListResponse[StockRow]:
    """Return a page of stock rows."""
    page, warehouses = service.list_stock(store, request.parameters)
    return ListResponse(page, views.stock_row(warehouses))


@routes.read(
    "/stock-levels",
    "List stock levels",
    scope=_SCOPE,
    response=StockLevel,
    parameters=LevelParameters,
    description="One row per product and warehouse, or per product with `totals`. `available`"
    " is `on_hand` minus the allocated, quarantine, damaged and blocked quantities, `sellable` is"
    " `available` minus what is ordered and not allocated yet (`committed`), and minus what active"
    " holds hold (`held`).",
)
def list_levels(store: Store, request: Request[None, LevelParameters]) -> ListResponse[StoredLevel]:
    """Return a page of stock levels."""
    now = now_ms()
    page = service.list_levels(store, request.parameters, now)
    return ListResponse(page, views.level(store.version, now), lambda level: level.event_id)


@routes.read(
    "/stock-movements",
    "List stock movements",
    scope=_SCOPE,
    response=Movement,
    parameters=MovementParameters,
    description="The stock ledger: one immutable entry per change of quantity or status.",
)
def list_movements(
    store: Store, request: Request[None, MovementParameters]
) -> ListResponse[Movement]:
    """Return a page of stock movements."""
    page = service.list_movements(store, request.parameters)
    return ListResponse(page, views.movement)


@routes.read("/stock-movements/{id}", "Get a stock movement", scope=_SCOPE, response=Movement)
def get_movement(store: Store, request: Request) -> ResourceResponse:
    """Return a stock movement."""
    return ResourceResponse(service.get_movement(store, request.id).entity)


lambda_handler = ApiHandler(
    routes,
    DeferredRoutes("functions.stock.adjustments", ("/stock-adjustments",)),
    DeferredRoutes("functions.stock.counts", ("/counts",)),
    DeferredRoutes("functions.stock.putaway", ("/putaway-suggestions",)),
    DeferredRoutes("functions.stock.replenishments", ("/replenishments",)),
)
