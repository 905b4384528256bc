"""Stock: rows, levels and the ledger of movements."""

from shared.db.store import Store
from shared.http.door import Door
from shared.http.operations import ListAnswer, Routes
from shared.http.request import Request
from shared.stock import service, views
from shared.stock.models import (
    Level,
    LevelParameters,
    Movement,
    MovementParameters,
    Stock,
    StockLevel,
    StockParameters,
    StockRow,
)

routes = Routes("stock")

_SCOPE = "stocks:read"


@routes.declare(
    "GET",
    "/stocks",
    "List stock rows",
    scope=_SCOPE,
    answer=Stock,
    parameters=StockParameters,
    description="One row per product, position, batch, serial and inventory status. A row that"
    " has been emptied stays, with the status out and quantity 0.",
)
def list_stock(store: Store, request: Request) -> ListAnswer[StockRow]:
    """Page through the stock rows."""
    page = service.list_stock(store, request.parameters)
    return ListAnswer(page.rows, views.stock_row(page.warehouses))


@routes.declare(
    "GET",
    "/stock-levels",
    "List stock levels",
    scope=_SCOPE,
    answer=StockLevel,
    parameters=LevelParameters,
    description="One row per product and warehouse, or with `totals` one per product. Available"
    " is what is on hand and neither allocated nor in quarantine, damaged or blocked.",
)
def list_levels(store: Store, request: Request) -> ListAnswer[Level]:
    """Page through what is on hand and available."""
    return ListAnswer(service.list_levels(store, request.parameters), views.level)


@routes.declare(
    "GET",
    "/stock-movements",
    "List stock movements",
    scope=_SCOPE,
    answer=Movement,
    parameters=MovementParameters,
    description="The ledger: every change of quantity or status, none of them ever changed.",
)
def list_movements(store: Store, request: Request) -> ListAnswer[Movement]:
    """Page through the ledger."""
    page = service.list_movements(store, request.parameters, request.tenant.timezone)
    return ListAnswer(page, views.movement)


lambda_handler = Door(routes)
