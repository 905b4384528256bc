"""ApiHandler of entry and exit documents."""
