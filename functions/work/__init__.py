"""Handler of the routes of receipts, pickings and transfers."""
