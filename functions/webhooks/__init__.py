"""Subscriptions to events, and the log of their deliveries."""
