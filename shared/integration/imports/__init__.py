"""Bulk imports: spreadsheets of products, documents, transfer orders, returns and pick faces."""
