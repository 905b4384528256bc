"""Door of the description of the interface."""
