"""Bulk imports: spreadsheets of products, documents, orders, returns, counts and pick faces."""
