"""Handler of the routes of waves."""
