"""Tests of the rules of packing."""
