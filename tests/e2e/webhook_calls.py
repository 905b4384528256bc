"""What end-to-end tests of webhooks do: stand for endpoints, subscribe, and read the log."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

from tests.e2e.answers import data
from tests.e2e.import_calls import eventually

UNRAISED = "rfid_validation.completed"
"""Nothing raises it: who asks for it alone is sent only what is meant for it."""

_ENDED = {"succeeded", "failed", "cancelled"}
_LONGEST_WAIT = 60
"""Seconds that an endpoint that hangs waits for the test to let it go."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What an endpoint answers; one that `hangs` says nothing until the test is over."""

    status: int = 204
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    hangs: bool = False


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request that came in, and when (monotonic seconds)."""

    headers: Message
    body: bytes
    at: float

    @property
    def event(self) -> dict[str, Any]:
        """The body, parsed."""
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed


class Endpoint(ThreadingHTTPServer):
    """A server on this machine that gives its replies in turn, the last one from then on."""

    request_queue_size = 128

    def __init__(self, *replies: Reply) -> None:
        self.arrivals: list[Arrival] = []
        self.ended = threading.Event()
        self._replies = replies or (Reply(),)
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Answering)

    @property
    def url(self) -> str:
        """Its address, as it may be subscribed."""
        return f"http://localhost:{self.server_port}/hooks?from=stowage"

    def next_reply(self, arrival: Arrival) -> Reply:
        """Note an arrival; return what to answer."""
        with self._lock:
            self.arrivals.append(arrival)
            return self._replies[min(len(self.arrivals), len(self._replies)) - 1]

    def of(self, wanted: Callable[[dict[str, Any]], bool]) -> list[Arrival]:
        """Return what has arrived of some events, in the order of arrival."""
        return [arrival for arrival in list(self.arrivals) if wanted(arrival.event)]


class _Answering(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        reply = self.server.next_reply(Arrival(self.headers, body, time.monotonic()))
        if reply.hangs:
            self.server.ended.wait(_LONGEST_WAIT)
        with suppress(OSError):  # the sender has hung up
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep quiet."""


@contextmanager
def listening(*replies: Reply) -> Iterator[Endpoint]:
    """Let an endpoint answer as long as the block lasts."""
    endpoint = Endpoint(*replies)
    threading.Thread(target=endpoint.serve_forever, args=(0.1,), daemon=True).start()
    try:
        yield endpoint
    finally:
        endpoint.ended.set()
        endpoint.shutdown()
        endpoint.server_close()


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription of a test, and what is said of it."""

    client: httpx.Client
    id: int
    secret: str
    path: str

    def show(self) -> dict[str, Any]:
        """Read it."""
        shown: dict[str, Any] = data(self.client.get(self.path))
        return shown

    def test(self) -> str:
        """Ask for a test event; return the id of its delivery."""
        delivery: dict[str, Any] = data(self.client.post(f"{self.path}/test"), 202)
        return str(delivery["id"])

    def delivery(self, event: str) -> dict[str, Any]:
        """Read a delivery."""
        read: dict[str, Any] = data(self.client.get(f"{self.path}/deliveries/{event}"))
        return read

    def ended(self, event: str, *, attempts: int = 1) -> dict[str, Any]:
        """Wait until a delivery has ended, after so many attempts or more."""

        def look() -> dict[str, Any] | None:
            read = self.delivery(event)
            over = read["status"] in _ENDED and len(read["attempts"]) >= attempts
            return read if over else None

        return eventually(look, f"the end of the delivery of {event}")


@contextmanager
def subscribed(client: httpx.Client, url: str, *events: str) -> Iterator[Subscription]:
    """Subscribe, to nothing that happens unless events are named, as long as the block lasts."""
    answer = client.post("/webhooks", json={"url": url, "events": events or [UNRAISED]})
    made = data(answer, 201)
    one = Subscription(client, made["id"], made["secret"], f"/webhooks/{made['id']}")
    try:
        yield one
    finally:
        client.delete(one.path)


def try_out(client: httpx.Client, *replies: Reply) -> tuple[dict[str, Any], list[Arrival]]:
    """Send a test event to an endpoint with such replies; its delivery, and what arrived."""
    with listening(*replies) as endpoint, subscribed(client, endpoint.url) as one:
        return one.ended(one.test()), endpoint.arrivals
