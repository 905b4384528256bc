"""Stock: rows, levels, movements and adjustments."""

from shared.http.api_handler import ApiHandler
from shared.http.request import Request
from shared.http.routes import ListResponse, ResourceResponse, Routes
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
from shared.warehouse.settings.values import settings_of
from shared.warehouse.stock import adjustments, service, views
from shared.warehouse.stock.models import (
    Adjustment,
    AdjustmentDraft,
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
    page = service.list_stock(store, request.parameters)
    return ListResponse(page.rows, views.stock_row(page.warehouses))


@routes.read(
    "/stock-levels",
    "List stock levels",
    scope=_SCOPE,
    response=StockLevel,
    parameters=LevelParameters,
    description="One row per product and warehouse, or per product with `totals`. `available`"
    " is `on_hand` minus the allocated, quarantine, damaged and blocked quantities.",
)
def list_levels(store: Store, request: Request[None, LevelParameters]) -> ListResponse[StoredLevel]:
    """Return a page of stock levels."""
    return ListResponse(service.list_levels(store, request.parameters), views.level)


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
    page = service.list_movements(store, request.parameters, request.tenant.timezone)
    return ListResponse(page, views.movement)


@routes.read("/stock-movements/{id}", "Get a stock movement", scope=_SCOPE, response=Movement)
def get_movement(store: Store, request: Request) -> ResourceResponse:
    """Return a stock movement."""
    return ResourceResponse(service.get_movement(store, request.id).entity)


@routes.write(
    "POST",
    "/stock-adjustments",
    "Adjust stock",
    scope="stocks:write",
    permission="inventory.manage",
    response=Adjustment,
    body=AdjustmentDraft,
    statuses=(200, 201),
    errors=("conflict", "approval_required"),
    description="Set a counted quantity, add or remove a quantity, or change the inventory status."
    " Status 200 means that the counted quantity equals the stock and nothing changed. Goods that"
    " have expired can be added in quarantine, damaged or blocked, and do not become available."
    " Without a quantity or status, `item_code`, `batch` and `expiry_date` correct the expiry date"
    " of all stock of the batch, with status 200; no other field but `reason` is allowed then."
    " An adjustment of more units than `approval_adjustment_qty` is refused with"
    " `approval_required`.",
)
def adjust_stock(tx: Transaction, request: Request[Checked[AdjustmentDraft]]) -> ResourceResponse:
    """Adjust the stock of one product at one position."""
    limit = settings_of(request.tenant).approval_adjustment_qty
    made = adjustments.adjust_stock(tx, request.body, request.tenant.timezone, limit)
    if made.movement_id is None:
        return ResourceResponse(made)
    return ResourceResponse(made, 201, f"/stock-movements/{made.movement_id}")


lambda_handler = ApiHandler(routes)
