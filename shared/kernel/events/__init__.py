"""Events: their kinds, and the outbox that stores them until they are relayed."""
