"""The whole stack on one machine, for development."""
