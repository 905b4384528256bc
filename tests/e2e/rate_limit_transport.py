"""An HTTP transport that waits when the rate limit is exhausted."""

import time

import httpx

_MINUTES = 5
"""Number of minutes to wait, since parallel tests share the limit."""


class RateLimitTransport(httpx.HTTPTransport):
    """Repeats a request in the next minute when the rate limit is exhausted.

    Other 429 responses are returned: tests check the limits of the token route.
    """

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        for _ in range(_MINUTES):
            answer = super().handle_request(request)
            is_used_up = answer.status_code == httpx.codes.TOO_MANY_REQUESTS
            if not (is_used_up and "RateLimit-Limit" in answer.headers):
                return answer
            answer.close()
            time.sleep(int(answer.headers["Retry-After"]))
        return super().handle_request(request)
