"""Webhooks on the stack: subscriptions, the relay, deliveries, faults."""
