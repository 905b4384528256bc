"""The routes of entry and exit documents, and dispatch."""
