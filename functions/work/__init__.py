"""Handler of the routes of receipts, pickings, packing, transfers, returns, RFID and approvals."""
