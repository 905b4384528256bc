"""ApiHandler of the warehouses."""
