"""The rate limit headers of responses."""

from tests.gateway import Response

LIMIT = 120
"""Requests per minute of the plan Essentials."""
TOTAL = 600
"""Requests per minute of all credentials together in the plan Essentials."""
ERP = "client#erp"
"""Key under which requests of the test ERP are counted."""


def read_rate_limit(answer: Response) -> tuple[int, int, int]:
    """Return limit, remaining requests, and seconds until there are requests again."""
    limit, remaining, reset = (
        int(answer.headers[f"RateLimit-{name}"]) for name in ("Limit", "Remaining", "Reset")
    )
    return limit, remaining, reset


def assert_refused(answer: Response, *, seconds: int, limit: int = LIMIT) -> None:
    assert (answer.status, answer.code) == (429, "rate_limited"), answer.text
    assert answer.headers["Retry-After"] == str(seconds)
    assert read_rate_limit(answer) == (limit, 0, seconds)
