"""Pickings: allocate stock, pick it and dispatch it."""
