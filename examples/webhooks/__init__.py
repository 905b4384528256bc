"""Examples of webhook receivers."""
