"""Work records: receipts, pickings and transfers."""

from functions.work import pickings, receipts, transfers
from shared.http.api_handler import Door

lambda_handler = Door(receipts.routes, pickings.routes, transfers.routes)
