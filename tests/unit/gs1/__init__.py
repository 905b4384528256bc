"""Tests of the numbers of GS1."""
