"""Packing: packing orders, and the handling units into which staged goods are packed."""
