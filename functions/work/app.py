"""Handler of the routes of receipts, pickings, transfers, returns and approvals."""

from functions.work import approvals, pickings, receipts, returns, transfers
from shared.http.api_handler import ApiHandler

lambda_handler = ApiHandler(
    receipts.routes, pickings.routes, transfers.routes, returns.routes, approvals.routes
)
