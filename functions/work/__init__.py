"""Door of work records."""
