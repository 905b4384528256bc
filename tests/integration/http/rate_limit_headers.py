"""What answers tell of the limit of requests."""

from tests.gateway import Response

LIMIT = 120
"""Requests per minute of the plan Essentials."""
ERP = "client#erp"
"""How the ERP of tests is counted."""


def read_rate_limit(answer: Response) -> tuple[int, int, int]:
    """What an answer tells of the limit: limit, remaining, seconds to the end of the window."""
    limit, remaining, reset = (
        int(answer.headers[f"RateLimit-{name}"]) for name in ("Limit", "Remaining", "Reset")
    )
    return limit, remaining, reset


def assert_refused(answer: Response, *, seconds: int) -> None:
    assert (answer.status, answer.code) == (429, "rate_limited"), answer.text
    assert answer.headers["Retry-After"] == str(seconds)
    assert read_rate_limit(answer) == (LIMIT, 0, seconds)
