"""Replenishment: pick faces that have less than their minimum, and the transfers to them."""
