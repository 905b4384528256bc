"""Pickings: stock is allocated, picked and dispatched."""
