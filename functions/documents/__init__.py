"""The routes of entry and exit documents, dispatch, and holds."""
