"""Blocks goods past their expiry date, once an hour."""
