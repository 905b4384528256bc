"""Door of the catalog."""
