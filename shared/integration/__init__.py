"""What connects to the outside: imports and webhooks."""
