"""ApiHandler of the catalog."""
