"""Hands events of the outbox on to the queue of deliveries."""
