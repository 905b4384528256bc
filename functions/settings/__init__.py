"""How a company works, and who may use its instance."""
