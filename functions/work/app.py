"""Handler of the routes of receipts, pickings, transfers and approvals."""

from functions.work import approvals, pickings, receipts, transfers
from shared.http.api_handler import ApiHandler

lambda_handler = ApiHandler(receipts.routes, pickings.routes, transfers.routes, approvals.routes)
