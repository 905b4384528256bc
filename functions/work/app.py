"""Handler of the routes of receipts, pickings, packing, transfers, returns, RFID and approvals."""

from shared.http.api_handler import ApiHandler
from shared.http.routes import DeferredRoutes

lambda_handler = ApiHandler(
    DeferredRoutes("functions.work.receipts", ("/receipts",)),
    DeferredRoutes("functions.work.pickings", ("/pickings",)),
    DeferredRoutes("functions.work.packing", ("/packing-orders", "/handling-units")),
    DeferredRoutes("functions.work.transfers", ("/transfers",)),
    DeferredRoutes("functions.work.returns", ("/returns",)),
    DeferredRoutes("functions.work.rfid", ("/rfid-validations",)),
    DeferredRoutes("functions.work.approvals", ("/approvals",)),
)
