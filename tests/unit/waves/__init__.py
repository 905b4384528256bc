"""Decisions about waves."""
