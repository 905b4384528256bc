"""Receipts: goods arrive and are put away."""
