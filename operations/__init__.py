"""Operator tasks, run through the command line only; not shipped in any Lambda layer."""
