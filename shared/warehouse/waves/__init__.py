"""Waves: pickings that are released and worked together."""
