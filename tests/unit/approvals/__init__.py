"""Tests of the rules of approvals."""
