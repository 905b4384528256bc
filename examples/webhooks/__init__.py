"""How to receive the events of a company."""
