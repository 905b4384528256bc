"""What the kinds of work share: receipts, pickings, transfers and others that people carry out."""
