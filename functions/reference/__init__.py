"""ApiHandler of the description of the interface."""
