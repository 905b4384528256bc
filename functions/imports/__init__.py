"""Door of imports."""
