"""Bulk imports: spreadsheets of products, documents, transfer orders and pick faces."""
