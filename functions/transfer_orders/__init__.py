"""ApiHandler of transfer orders."""
