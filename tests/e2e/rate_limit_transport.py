"""A client that keeps to the limit of requests, as the interface asks its clients to."""

import time

import httpx

_MINUTES = 5
"""Many may wait for the same minute."""


class RateLimitTransport(httpx.HTTPTransport):
    """Sends a request again after the minute whose requests are used up.

    Not after any 429: the token route has limits of its own, which tests look at.
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
