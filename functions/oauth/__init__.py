"""Tokens over HTTP: OAuth 2.0 for integration clients."""
