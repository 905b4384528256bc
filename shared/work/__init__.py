"""Work records: receipts, pickings and transfers."""
