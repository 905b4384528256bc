"""Tests of packing orders and handling units over HTTP."""
