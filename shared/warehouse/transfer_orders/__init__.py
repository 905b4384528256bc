"""Transfer orders: goods ordered from one warehouse to another."""
