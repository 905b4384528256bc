"""Putaway: where arriving goods can be put."""
