"""ApiHandler of waves."""
