"""An address on this machine that events are sent to, and that answers as it is told.

The demonstration and the end-to-end tests look at what arrives; `examples/webhooks` shows how
to receive in earnest.
"""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_MAX_HANG_SECONDS = 60
"""Seconds after which an answer that hangs comes all the same."""


@dataclass(frozen=True, slots=True)
class CannedResponse:
    """What is answered; one that `hangs` is not until the endpoint closes."""

    status: int = 204
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    hangs: bool = False


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request that came in, and when, in Unix seconds."""

    headers: Message
    body: bytes
    at: float

    @property
    def event(self) -> dict[str, Any]:
        """The body, parsed."""
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed


class LocalEndpoint(ThreadingHTTPServer):
    """Listens at a free port of 127.0.0.1 and keeps all that arrives, in order.

    It gives its replies in turn, and the last one from then on.
    """

    request_queue_size = 128

    def __init__(self, *replies: CannedResponse) -> None:
        self.requests: list[ReceivedRequest] = []
        self.closing = threading.Event()
        self._responses = list(replies) or [CannedResponse()]
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _RequestHandler)

    @property
    def url(self) -> str:
        """Its address, as it may be subscribed."""
        return f"http://localhost:{self.server_port}/hooks?from=stowage"

    def respond_next(self, *replies: CannedResponse) -> None:
        """Give these replies before those that are left."""
        with self._lock:
            self._responses[:0] = replies

    def record(self, arrival: ReceivedRequest) -> CannedResponse:
        """Keep an arrival; return what to answer."""
        with self._lock:
            self.requests.append(arrival)
            return self._responses.pop(0) if len(self._responses) > 1 else self._responses[0]


class _RequestHandler(BaseHTTPRequestHandler):
    server: LocalEndpoint

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        reply = self.server.record(ReceivedRequest(self.headers, body, time.time()))
        if reply.hangs:
            self.server.closing.wait(_MAX_HANG_SECONDS)
        with suppress(OSError):  # the sender has hung up
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep quiet: what arrives is told elsewhere."""


@contextmanager
def running_endpoint(*replies: CannedResponse) -> Iterator[LocalEndpoint]:
    """Let an endpoint answer as long as the block lasts."""
    endpoint = LocalEndpoint(*replies)
    threading.Thread(target=endpoint.serve_forever, args=(0.1,), daemon=True).start()
    try:
        yield endpoint
    finally:
        endpoint.closing.set()
        endpoint.shutdown()
        endpoint.server_close()
