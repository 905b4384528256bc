"""Tests of the rules and the drawing of maps."""
