"""Transfers: stock moves between positions."""
