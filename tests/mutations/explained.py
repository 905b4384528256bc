"""Mutants that no test can kill, or that need none, each with the reason."""

EXPLAINED: dict[str, str] = {}
"""Name of a mutant → why it may survive."""
