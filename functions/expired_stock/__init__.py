"""Blocks goods past their expiry date, and completes the levels of work that was cut off."""
