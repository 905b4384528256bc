"""Door of waves."""
