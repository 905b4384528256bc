"""Addresses, signatures and decisions of webhooks."""
