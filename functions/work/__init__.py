"""ApiHandler of work records."""
