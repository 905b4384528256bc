"""The handler of paths that no other function has; it responds with 404."""
