"""A client that repeats, doubles, gives up and abandons its requests at random."""

import random
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.soak.request_log import RequestLog

_PATIENT = httpx.Timeout(60)
_GIVE_UP_SECONDS = 300
"""Time until a request whose repetitions never succeed is a finding."""
_CALM = ("once", "once", "once", "once", "repeated", "twice", "hang_up")
"""How a write is sent, each with the same probability."""
_TOKEN_SECONDS = 600
_REPLAYED = "Idempotent-Replayed"


@dataclass(slots=True)
class Company:
    """A tenant of the run, and the token that its clients or its supervisors share."""

    slug: str
    base_url: str
    login: Mapping[str, str]
    """The form of a token request."""
    auth: tuple[str, str] | None = None
    """Id and secret of an API client."""
    _token: str = ""
    _requested: float = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def token(self, request: Callable[[], httpx.Response]) -> str:
        """Return a token, which `request` requests if the last one is old."""
        with self._lock:
            if time.monotonic() - self._requested > _TOKEN_SECONDS or not self._token:
                self._token = request().json()["access_token"]
                self._requested = time.monotonic()
            return self._token


@dataclass(slots=True)
class Caller:
    """Sends requests of one thread."""

    company: Company
    log: RequestLog
    rng: random.Random
    http: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=_PATIENT))
    _sent: int = 0

    def read(self, path: str, **params: Any) -> httpx.Response:
        """Send a GET until there is a response; sometimes give it up first."""
        if self.rng.random() < 1 / 20:
            self._give_up("GET", path, {"params": params}, {})
        return self._until_answered("GET", path, {"params": params}, {})

    def each(self, path: str, **params: Any) -> list[dict[str, Any]]:
        """Return all rows of a list."""
        page = self.read(path, per_page=100, **params).json()
        rows: list[dict[str, Any]] = page["data"]
        while page["links"]["next"]:
            page = self._until_answered("GET", page["links"]["next"], {}, {}).json()
            rows += page["data"]
        return rows

    def write(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        form: Mapping[str, Any] | None = None,
        allowed: tuple[int, ...] = (),
    ) -> Any:
        """Send a write, in one of several ways, until there is a response.

        Args:
            method: The method.
            path: The path.
            body: JSON body.
            form: Options of httpx in place of a JSON body.
            allowed: Statuses of errors that are no finding.

        Returns:
            `data` of the response; None for an error.
        """
        sent = dict(form) if form else ({} if body is None else {"json": body})
        return self._data(self.exchange(method, path, sent, self.new_key()), allowed)

    def exchange(self, method: str, path: str, sent: Mapping[str, Any], key: str) -> httpx.Response:
        """Send a write with an Idempotency-Key, in one of several ways; return its response."""
        keyed = {"Idempotency-Key": key}
        way = self.rng.choice(_CALM)
        if way == "twice":
            self.log.count("twice")
            with ThreadPoolExecutor(2) as pool:
                ends = [
                    pool.submit(self._until_answered, method, path, sent, keyed) for _ in range(2)
                ]
                first, second = (end.result() for end in ends)
            self._compare(first, second, way)
        elif way == "hang_up":
            self._give_up(method, path, sent, keyed)
            first = self._until_answered(method, path, sent, keyed)
        else:
            first = self._until_answered(method, path, sent, keyed)
            if way == "repeated":
                self.log.count("repeated")
                self._compare(first, self._until_answered(method, path, sent, keyed), way)
        return first

    def abandon(self, path: str, body: Any) -> None:
        """POST, give it up and do not repeat it."""
        self.log.count("abandoned")
        self._give_up("POST", path, {"json": body}, {"Idempotency-Key": self.new_key()})

    def new_key(self) -> str:
        """Return an Idempotency-Key that no other request has."""
        self._sent += 1
        return f"{self.rng.getrandbits(64):016x}-{self._sent}"

    def _data(self, answer: httpx.Response, allowed: tuple[int, ...]) -> Any:
        if answer.is_success:
            return answer.json()["data"] if answer.content else {}
        if answer.status_code not in allowed:
            request = answer.request
            self.log.found(
                f"{self.company.slug}: {request.method} {request.url.path} was refused: "
                f"{answer.status_code} {answer.text[:300]}"
            )
        return None

    def _compare(self, first: httpx.Response, second: httpx.Response, way: str) -> None:
        """Record a finding unless both responses to the same request are the same success."""
        if not (first.is_success or second.is_success):
            return
        bodies = [answer.json() for answer in (first, second)]
        replayed = [_REPLAYED in answer.headers for answer in (first, second)]
        if bodies[0] != bodies[1] or not any(replayed):
            request = first.request
            self.log.found(
                f"{self.company.slug}: {request.method} {request.url.path} sent {way}: responses "
                f"{first.status_code} and {second.status_code} differ or none is a replay: "
                f"{first.text[:200]} / {second.text[:200]}"
            )

    def _until_answered(
        self, method: str, path: str, sent: Mapping[str, Any], headers: Mapping[str, str]
    ) -> httpx.Response:
        """Repeat a request with the same key until there is a final response."""
        deadline = time.monotonic() + _GIVE_UP_SECONDS
        wait = 0.2
        while True:
            answer = self._send(method, path, sent, headers, _PATIENT)
            if answer is not None and not _is_temporary(answer):
                return answer
            if time.monotonic() > deadline:
                last = f"{answer.status_code} {answer.text[:300]}" if answer else "no response"
                self.log.found(f"{self.company.slug}: {method} {path} never succeeded: {last}")
                return answer or httpx.Response(504, request=httpx.Request(method, path))
            asked = answer.headers.get("Retry-After", "") if answer is not None else ""
            time.sleep(min(60, int(asked)) if asked.isdecimal() else wait)
            wait = min(5, 2 * wait)

    def _give_up(
        self, method: str, path: str, sent: Mapping[str, Any], headers: Mapping[str, str]
    ) -> None:
        """Send a request and close the connection after a short time."""
        seconds = self.rng.choice((0.002, 0.02, 0.1, 0.3))
        self._send(method, path, sent, headers, httpx.Timeout(60, read=seconds))

    def _send(
        self,
        method: str,
        path: str,
        sent: Mapping[str, Any],
        headers: Mapping[str, str],
        timeout: httpx.Timeout,
    ) -> httpx.Response | None:
        url = path if path.startswith("http") else self.company.base_url + path
        bearer = {"Authorization": f"Bearer {self.company.token(self._request_token)}"}
        began = time.monotonic()
        try:
            answer = self.http.request(
                method, url, headers={**headers, **bearer}, timeout=timeout, **sent
            )
        except httpx.TransportError:
            self.log.count("unanswered" if timeout is _PATIENT else "hang_ups")
            return None
        self.log.answered(f"{method} {_route(answer)}", answer.status_code, _code(answer), began)
        return answer

    def _request_token(self) -> httpx.Response:
        company = self.company
        while True:
            began = time.monotonic()
            try:
                answer = self.http.post(
                    f"{company.base_url}/oauth/token",
                    data=company.login,
                    auth=httpx.BasicAuth(*company.auth) if company.auth else httpx.Auth(),
                )
            except httpx.TransportError:
                self.log.count("unanswered")
                continue
            self.log.answered("POST /oauth/token", answer.status_code, _code(answer), began)
            if answer.is_success:
                return answer
            time.sleep(0.5)


def _is_temporary(answer: httpx.Response) -> bool:
    """Whether the same request may succeed later."""
    return answer.status_code in {429, 502, 503, 504} or _code(answer) == "duplicate_in_flight"


def _code(answer: httpx.Response) -> str:
    if not answer.is_error or "json" not in answer.headers.get("Content-Type", ""):
        return ""
    error = answer.json().get("error", "")
    return str(error.get("code", "") if isinstance(error, dict) else error)


def _route(answer: httpx.Response) -> str:
    """Return the path below the base address with numbers replaced."""
    path = answer.request.url.path.rpartition("/v1")[2]
    return "/".join("{id}" if part.isdecimal() else part for part in path.split("/"))
