"""Between the gateway and the subjects."""
