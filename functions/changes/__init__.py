"""Handler of the routes of the feed of changes."""
