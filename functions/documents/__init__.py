"""Door of entry and exit documents."""
