"""ApiHandler of the partners."""
