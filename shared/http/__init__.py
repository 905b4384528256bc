"""The HTTP floor: request handler, routes, idempotency, paging, rate limit."""
