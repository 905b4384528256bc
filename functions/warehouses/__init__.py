"""Door of the warehouses."""
