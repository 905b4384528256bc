"""Master data that requests name, and what refers to it."""
