"""Returns: receive what customers send back, and decide what happens to it."""
