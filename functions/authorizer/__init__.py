"""Authorizer: API Gateway calls it once per token and host, and caches the result."""
