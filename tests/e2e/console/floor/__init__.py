"""Tests of the floor in a browser, against the deployed stack."""
