"""A webhook endpoint on this machine that records requests and returns given responses.

The demo and the end-to-end tests use it. `examples/webhooks` has a real receiver.
"""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.message import Message
from http.server import ThreadingHTTPServer
from typing import Any

from local.request_checks import LocalRequestHandler

_MAX_HANG_SECONDS = 60
"""Seconds after which a hanging response is sent."""


@dataclass(frozen=True, slots=True)
class CannedResponse:
    """A response to send; one that `hangs` is delayed until the endpoint closes."""

    status: int = 204
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    hangs: bool = False


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A received request; `at` is the time in Unix seconds."""

    headers: Message
    body: bytes
    at: float

    @property
    def event(self) -> dict[str, Any]:
        """The parsed body."""
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed


class LocalEndpoint(ThreadingHTTPServer):
    """Listens on a free port of 127.0.0.1 and records all requests in order.

    It sends the responses in turn and repeats the last one.
    """

    request_queue_size = 128

    def __init__(self, *responses: CannedResponse) -> None:
        self.requests: list[ReceivedRequest] = []
        self.closing = threading.Event()
        self._responses = list(responses) or [CannedResponse()]
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _RequestHandler)

    @property
    def url(self) -> str:
        """URL for a subscription."""
        return f"http://localhost:{self.server_port}/hooks?from=stowage"

    def respond_next(self, *responses: CannedResponse) -> None:
        """Send these responses before the remaining ones."""
        with self._lock:
            self._responses[:0] = responses

    def record(self, request: ReceivedRequest) -> CannedResponse:
        """Record a request; return its response."""
        with self._lock:
            self.requests.append(request)
            return self._responses.pop(0) if len(self._responses) > 1 else self._responses[0]


class _RequestHandler(LocalRequestHandler):
    server: LocalEndpoint

    def do_POST(self) -> None:  # noqa: N802
        body = self.rfile.read(int(self.headers["Content-Length"]))
        response = self.server.record(ReceivedRequest(self.headers, body, time.time()))
        if response.hangs:
            self.server.closing.wait(_MAX_HANG_SECONDS)
        with suppress(OSError):  # the client has closed the connection
            self.send_response(response.status)
            for name, value in {
                "Content-Length": str(len(response.body)),
                **response.headers,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(response.body.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""


@contextmanager
def running_endpoint(*responses: CannedResponse) -> Iterator[LocalEndpoint]:
    """Run an endpoint during the block."""
    endpoint = LocalEndpoint(*responses)
    threading.Thread(target=endpoint.serve_forever, args=(0.1,), daemon=True).start()
    try:
        yield endpoint
    finally:
        endpoint.closing.set()
        endpoint.shutdown()
        endpoint.server_close()
