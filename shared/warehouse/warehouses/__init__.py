"""Warehouses and their positions."""
