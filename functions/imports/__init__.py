"""ApiHandler of imports."""
