"""Handler of the routes of receipts, pickings, packing, transfers, returns and approvals."""
