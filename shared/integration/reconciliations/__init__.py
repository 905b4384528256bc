"""Comparisons of the quantities of another system with the stock here."""
