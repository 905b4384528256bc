"""Events and the feed of changes."""
