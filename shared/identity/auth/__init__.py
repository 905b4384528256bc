"""Tokens, integration clients, and what a caller may do."""
