"""Products and product categories."""
