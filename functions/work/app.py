"""Handler of the routes of receipts, pickings and transfers."""

from functions.work import pickings, receipts, transfers
from shared.http.api_handler import ApiHandler

lambda_handler = ApiHandler(receipts.routes, pickings.routes, transfers.routes)
