"""Counts: what lies in a warehouse is counted, and the differences are posted."""
