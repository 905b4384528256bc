"""The map of a warehouse: what is published, and its drawing."""
