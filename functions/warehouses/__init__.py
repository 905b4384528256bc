"""The routes of warehouses, positions, pick faces and maps."""
