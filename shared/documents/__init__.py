"""Entry and exit documents."""
