"""The feed of changes: what the relay appends, in which order, under faults, and its followers."""
