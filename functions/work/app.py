"""Handler of the routes of receipts, pickings, packing, transfers, returns, RFID and approvals."""

from functions.work import approvals, packing, pickings, receipts, returns, rfid, transfers
from shared.http.api_handler import ApiHandler

lambda_handler = ApiHandler(
    receipts.routes,
    pickings.routes,
    packing.routes,
    transfers.routes,
    returns.routes,
    rfid.routes,
    approvals.routes,
)
