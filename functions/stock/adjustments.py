"""Adjustments of stock."""

from shared.http.request import Request
from shared.http.routes import ResourceResponse, Routes
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
from shared.warehouse.picking.holders import holders_of
from shared.warehouse.stock import adjustments
from shared.warehouse.stock.adjustment_models import Adjustment, AdjustmentDraft, AdjustmentLines
from shared.warehouse.stock.bulk_adjustments import adjust_lines

routes = Routes()


@routes.write(
    "POST",
    "/stock-adjustments",
    "Adjust stock",
    scope="stocks:write",
    permission="inventory.manage",
    response=Adjustment,
    other_response=AdjustmentLines,
    other_response_with="lines",
    body=AdjustmentDraft,
    statuses=(200, 201),
    errors=("conflict", "stale_state", "approval_required"),
    description="Set a counted quantity, add or remove a quantity, or change the inventory status."
    " Status 200 means that the counted quantity equals the stock and nothing changed. Goods that"
    " have expired can be added in quarantine, damaged or blocked, and do not become available."
    " Without a quantity or status, `item_code`, `batch` and `expiry_date` correct the expiry date"
    " of all stock of the batch, with status 200; no other field but `reason` is allowed then."
    " An adjustment of more units than `approval_adjustment_qty` is refused with"
    " `approval_required`, and one whose `expected_qty` is not in stock with `stale_state`."
    " `lines` are several adjustments with status 201 and a response of their own: all of them are"
    " checked before the first one is applied, and one that another request makes impossible"
    " meanwhile is `stale`. A repeat with the same Idempotency-Key continues where the request"
    " ended.",
)
def adjust_stock(tx: Transaction, request: Request[Checked[AdjustmentDraft]]) -> ResourceResponse:
    """Adjust the stock of one product at one position."""
    body, holders = request.body, lambda row: holders_of(tx.store, row)
    if "lines" in body.model_fields_set:
        return ResourceResponse(adjust_lines(tx, body, holders), 201)
    made = adjustments.adjust_stock(tx, body, holders)
    if made.movement_id is None:
        return ResourceResponse(made)
    return ResourceResponse(made, 201, f"/stock-movements/{made.movement_id}")
