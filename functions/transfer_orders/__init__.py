"""Door of transfer orders."""
