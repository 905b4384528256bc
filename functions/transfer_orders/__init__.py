"""Handler of the routes of transfer orders."""
