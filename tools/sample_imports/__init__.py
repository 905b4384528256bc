"""Generates the files of `sample/imports`: products, orders, purchases, orders with errors."""
