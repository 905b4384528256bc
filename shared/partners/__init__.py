"""Clients and providers."""
