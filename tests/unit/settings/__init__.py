"""Decisions about settings."""
