"""Tenants, their lookup by requests, their revocations and the access to their data."""
