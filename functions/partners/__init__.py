"""Door of the partners."""
