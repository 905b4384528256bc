"""A client of the Stowage REST interface. Copy this file; it needs httpx and nothing else."""

import random
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx

ATTEMPTS = 7  # their waits last 31 s or more: a request that died holds its key for up to 30 s
LONGEST_WAIT = 60  # seconds between two attempts, whatever Retry-After says


class StowageError(Exception):
    """A refusal: `code`, `status`, `problems` (field → message), `request_id`, the `answer`."""

    def __init__(self, answer: httpx.Response) -> None:
        error = _error(answer)
        self.answer, self.status = answer, answer.status_code
        self.code: str = error.get("code", f"http_{self.status}")
        self.problems = {each["field"]: each["message"] for each in error.get("errors", ())}
        self.request_id = answer.headers.get("X-Request-Id")
        message = error.get("message", answer.reason_phrase)
        super().__init__(f"{self.status} {self.code}: {message} (request {self.request_id})")


@dataclass
class Stowage:
    """The interface at `base_url` (it ends in /api/v1); make one and share it between threads.

    `http` brings a proxy, certificates or other time-outs; `sleep` and `clock` are for tests.
    """

    base_url: str
    client_id: str
    client_secret: str = field(repr=False)
    http: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=35))
    sleep: Callable[[float], object] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _bearer: str = field(default="", init=False, repr=False)
    _good_until: float = field(default=0, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def get(self, path: str, **params: Any) -> Any:
        """Read `data` of a resource, or of one page of a list."""
        return self.send("GET", path, params=params).json()["data"]

    def each(self, path: str, **params: Any) -> Iterator[dict[str, Any]]:
        """Walk a whole list, page by page along `links.next`."""
        page = self.send("GET", path, params={"per_page": 100, **params}).json()
        yield from page["data"]
        while page["links"]["next"]:
            page = self.send("GET", page["links"]["next"]).json()
            yield from page["data"]

    def post(self, path: str, body: Any = None, *, key: str | None = None) -> Any:
        """Create or do; return `data`. With the same `key`, within 24 hours, only once."""
        return self.send("POST", path, key=key, json=body).json()["data"]

    def patch(self, path: str, body: Any, *, etag: str | None = None) -> Any:
        """Change fields; with the ETag of a read, unless changed since (409 stale_state)."""
        headers = {"If-Match": etag} if etag else {}
        return self.send("PATCH", path, json=body, headers=headers).json()["data"]

    def send(self, method: str, path: str, key: str | None = None, **more: Any) -> httpx.Response:
        """Send one request until it is answered; `more` as in httpx: json, params, headers.

        Raises:
            StowageError: It is refused, or the service is still busy at the last attempt.
            httpx.TransportError: No answer. A write may have happened: repeat it with its key.
        """
        url = path if path.startswith("http") else self.base_url + path
        made = self.http.build_request(method, url, **more)  # once: attempts repeat its bytes
        made.headers["Accept"] = "application/json"
        if method != "GET":
            made.headers["Idempotency-Key"] = key or str(uuid.uuid4())
        self._authorize(made)
        answer = self._insist(made)
        if answer.status_code == httpx.codes.UNAUTHORIZED:
            self._authorize(made)
            answer = self._insist(made)
        return _accepted(answer)

    def _authorize(self, made: httpx.Request) -> None:
        with self._lock:  # threads whose token ends share the next one
            rejected = made.headers.get("Authorization", "") == self._bearer
            if rejected or self.clock() >= self._good_until:
                form = {"client_id": self.client_id, "client_secret": self.client_secret}
                form["grant_type"] = "client_credentials"
                ask = self.http.build_request("POST", f"{self.base_url}/oauth/token", data=form)
                grant = _accepted(self._insist(ask)).json()
                self._bearer = f"Bearer {grant['access_token']}"
                self._good_until = self.clock() + grant["expires_in"] - 60
            made.headers["Authorization"] = self._bearer

    def _insist(self, made: httpx.Request) -> httpx.Response:
        for attempt in range(ATTEMPTS - 1):
            wait = random.uniform(0.5, 1) * 2**attempt  # noqa: S311 - only spreads the senders
            try:
                answer = self.http.send(made)
            except (httpx.TimeoutException, httpx.NetworkError, httpx.RemoteProtocolError):
                answer = httpx.Response(504)  # nobody knows what happened: repeat
            busy = answer.status_code in {429, 500, 502, 503, 504}
            if not busy and _error(answer).get("code") != "duplicate_in_flight":
                return answer
            advised = answer.headers.get("Retry-After", "")[:9]
            wait += int(advised) if advised.isdecimal() else 0
            self.sleep(min(wait, LONGEST_WAIT))
        return self.http.send(made)


def _accepted(answer: httpx.Response) -> httpx.Response:
    if answer.is_error:
        raise StowageError(answer)
    return answer


def _error(answer: httpx.Response) -> dict[str, Any]:
    if not (answer.is_error and "json" in answer.headers.get("Content-Type", "")):
        return {}  # of something on the way, not of the service
    body = answer.json()
    if isinstance(body.get("error"), str):  # the token route refuses as OAuth prescribes
        return {"code": body["error"], "message": body.get("error_description")}
    return {**body.get("error", {}), "errors": body.get("errors", ())}
