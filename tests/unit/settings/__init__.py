"""Unit tests of the settings."""
