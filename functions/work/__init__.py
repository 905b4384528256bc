"""Handler of the routes of receipts, pickings, transfers and returns."""
