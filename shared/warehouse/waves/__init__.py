"""Waves: pickings that are released and picked together."""
