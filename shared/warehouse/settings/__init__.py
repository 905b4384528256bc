"""The settings of a company and its modules."""
