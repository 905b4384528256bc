"""The routes of imports."""
