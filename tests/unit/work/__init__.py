"""Tests of what the kinds of work share."""
