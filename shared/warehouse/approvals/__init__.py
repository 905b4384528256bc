"""Approvals: what a rule refuses, a supervisor may grant once."""
