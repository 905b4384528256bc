"""Worker of imports."""
