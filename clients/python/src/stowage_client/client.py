"""Requests with tokens, keys and retries; pages; changes."""

import gzip
import json
import random
import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from stowage_client.interface import AuthenticatedClient

ATTEMPTS = 7  # They take 31 s or more; a request that failed may hold its key for up to 30 s.
LONGEST_WAIT = 60  # Maximum seconds between two attempts, also if Retry-After is longer.


class StowageError(Exception):
    """An error response: `status`, `code`, `problems` (field → message), `request_id`, `answer`."""

    def __init__(self, answer: httpx.Response) -> None:
        error = _error(answer)
        self.answer, self.status = answer, answer.status_code
        self.code: str = error.get("code", f"http_{self.status}")
        self.problems = {each["field"]: each["message"] for each in error.get("errors", ())}
        self.request_id = answer.headers.get("X-Request-Id")
        message = error.get("message", answer.reason_phrase)
        super().__init__(f"{self.status} {self.code}: {message} (request {self.request_id})")


@dataclass(frozen=True)
class Page:
    """Changes (`object`, `id`, `version`, `resource`, None if deleted), and the next position.

    A snapshot has all rows instead.
    """

    position: str
    changes: Iterator[dict[str, Any]]
    is_snapshot: bool = False


@dataclass
class Stowage:
    """The API at `base_url`, which ends in /api/v1. Threads may share one instance.

    Pass `http` to set a proxy, certificates or timeouts; `sleep` and `clock` are for tests.
    """

    base_url: str
    client_id: str
    client_secret: str = field(repr=False)
    http: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=35))
    sleep: Callable[[float], object] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _bearer: str = field(default="", init=False, repr=False)
    _expires_at: float = field(default=0, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @cached_property
    def api(self) -> "AuthenticatedClient":
        """The `client` of the generated functions that are not asynchronous.

        Their requests are sent as those of `send`, but an error of the service is returned.
        """
        from stowage_client.interface import AuthenticatedClient  # noqa: PLC0415 - only in a wheel

        http = httpx.Client(
            base_url=self.base_url, timeout=self.http.timeout, transport=_Sender(self._send)
        )
        return AuthenticatedClient(self.base_url, token="").set_httpx_client(http)

    def get(self, path: str, **params: Any) -> Any:
        """Return `data` of a resource, or of one page of a list."""
        return self.send("GET", path, params=params).json()["data"]

    def each(self, path: str, **params: Any) -> Iterator[dict[str, Any]]:
        """Yield all rows of a list, page by page along `links.next`."""
        page = self.send("GET", path, params={"per_page": 100, **params}).json()
        yield from page["data"]
        while page["links"]["next"]:
            page = self.send("GET", page["links"]["next"]).json()
            yield from page["data"]

    def follow(self, position: str | None, objects: Collection[str]) -> Iterator[Page]:
        """Yield what changed in the lists of objects since a position, page by page.

        `objects` are names such as product and stock_level. Store the rows and the position of a
        page in one transaction. Without a position, and when it is too old or the company was
        restored, the first page is a snapshot: it has all rows, in place of those that you have.

        Raises:
            RuntimeError: The company was restored while its snapshot was made or read: undo what
                the page has changed, and follow again.
        """
        while True:
            if position is None:
                export = self.export(objects)
                position = f"{export['epoch']}:{export['position']}"
                yield Page(position, self._rows(export), is_snapshot=True)
            epoch, _, after = position.partition(":")
            query = {"after": after, "epoch": epoch, "objects": ",".join(objects)}
            query |= {"include": "resource", "per_page": "500"}
            try:
                page = self.send("GET", "/changes", params=query).json()
            except StowageError as error:
                if error.code != "gone":
                    raise
                position = None
                continue
            meta = page["meta"]
            position = f"{meta['epoch']}:{meta['last']}"
            changes = (one for entry in page["data"] for one in entry["changes"])
            yield Page(position, map(self._with_row, changes))
            if meta["last"] == meta["latest"]:
                return

    def _with_row(self, change: dict[str, Any]) -> dict[str, Any]:
        """Return a change with its row, which one of a very large transaction has not."""
        if "resource" in change:
            return change
        path, _, query = change["href"].partition("?")
        if not query:
            path, query = path.rpartition("/")[0], f"ids={change['id']}"
        name, _, value = query.partition("=")
        rows = self.each(path, include="version", **{name: value})
        return {
            **change,
            "resource": next((one for one in rows if one["id"] == change["id"]), None),
        }

    def export(self, objects: Collection[str]) -> dict[str, Any]:
        """Export the lists of objects, and return the completed export.

        Raises:
            StowageError: 409 conflict while another export of the company is made: try again later.
            RuntimeError: The export has failed or was cancelled.
        """
        export: dict[str, Any] = self.post("/exports", {"objects": list(objects)})
        while export["status"] in {"pending", "running"}:
            self.sleep(1)
            export = self.get(f"/exports/{export['id']}")
        if export["status"] != "completed":
            raise RuntimeError(f"{export['code']} is {export['status']}: {export['failure']}")
        return export

    def _rows(self, export: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for number, file in enumerate(export["files"]):
            link = self.get(f"/exports/{export['id']}")["files"][number]["url"]  # valid for minutes
            if link is None:  # Nobody can follow from there any more.
                raise RuntimeError(f"the files of {export['code']} are gone: export again")
            request = self.http.build_request("GET", link)
            content = _raise_for_error(self._send_with_retries(request)).content
            for row in map(json.loads, gzip.decompress(content).splitlines()):
                known = {"object": file["object"], "id": row["id"], "version": row["version"]}
                yield {**known, "resource": row}

    def post(self, path: str, body: Any = None, *, key: str | None = None) -> Any:
        """Send a POST and return `data`; within 24 hours, the same `key` takes effect only once."""
        return self.send("POST", path, key=key, json=body).json()["data"]

    def patch(self, path: str, body: Any, *, etag: str | None = None) -> Any:
        """Change fields; `etag` of an earlier read prevents overwriting (409 stale_state)."""
        headers = {"If-Match": etag} if etag else {}
        return self.send("PATCH", path, json=body, headers=headers).json()["data"]

    def send(self, method: str, path: str, key: str | None = None, **more: Any) -> httpx.Response:
        """Send one request with retries; `more` are options of httpx: json, params, headers.

        Raises:
            StowageError: The response is an error, or the service was busy at every attempt.
            httpx.TransportError: There was no response. A write may have taken effect: repeat it
                with the same key.
        """
        url = path if path.startswith("http") else self.base_url + path
        request = self.http.build_request(method, url, **more)
        request.headers["Accept"] = "application/json"
        if key:
            request.headers["Idempotency-Key"] = key
        return _raise_for_error(self._send(request))

    def _send(self, request: httpx.Request) -> httpx.Response:
        request.read()  # All attempts send the same bytes.
        if request.method not in {"GET", "HEAD"}:
            request.headers.setdefault("Idempotency-Key", str(uuid.uuid4()))
        self._authorize(request)
        answer = self._send_with_retries(request)
        if answer.status_code == httpx.codes.UNAUTHORIZED:
            self._authorize(request)
            answer = self._send_with_retries(request)
        return answer

    def _authorize(self, request: httpx.Request) -> None:
        with self._lock:  # Threads share one new token.
            rejected = request.headers.get("Authorization", "") == self._bearer
            if rejected or self.clock() >= self._expires_at:
                form = {"client_id": self.client_id, "client_secret": self.client_secret}
                form["grant_type"] = "client_credentials"
                token_request = self.http.build_request(
                    "POST", f"{self.base_url}/oauth/token", data=form
                )
                grant = _raise_for_error(self._send_with_retries(token_request)).json()
                self._bearer = f"Bearer {grant['access_token']}"
                self._expires_at = self.clock() + grant["expires_in"] - 60
            request.headers["Authorization"] = self._bearer

    def _send_with_retries(self, request: httpx.Request) -> httpx.Response:
        for attempt in range(ATTEMPTS - 1):
            wait = random.uniform(0.5, 1) * 2**attempt  # noqa: S311 - jitter, not security
            try:
                answer = self.http.send(request)
            except (httpx.TimeoutException, httpx.NetworkError, httpx.RemoteProtocolError):
                answer = httpx.Response(504)  # The outcome is unknown: retry.
            busy = answer.status_code in {429, 500, 502, 503, 504}
            if not busy and _error(answer).get("code") != "duplicate_in_flight":
                return answer
            retry_after = answer.headers.get("Retry-After", "")[:9]
            wait += int(retry_after) if retry_after.isdecimal() else 0
            self.sleep(min(wait, LONGEST_WAIT))
        return self.http.send(request)


@dataclass
class _Sender(httpx.BaseTransport):
    """Sends the requests of another client."""

    send: Callable[[httpx.Request], httpx.Response]

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self.send(request)


def _raise_for_error(answer: httpx.Response) -> httpx.Response:
    if answer.is_error:
        raise StowageError(answer)
    return answer


def _error(answer: httpx.Response) -> dict[str, Any]:
    if not (answer.is_error and "json" in answer.headers.get("Content-Type", "")):
        return {}  # From a proxy or gateway, not from the service.
    body = answer.json()
    if isinstance(body.get("error"), str):  # error format of OAuth
        return {"code": body["error"], "message": body.get("error_description")}
    return {**body.get("error", {}), "errors": body.get("errors", ())}
