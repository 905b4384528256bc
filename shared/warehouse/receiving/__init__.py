"""Receipts: receive goods and put them away."""
