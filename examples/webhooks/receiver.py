"""A small webhook receiver: verifies deliveries, drops duplicates and out-of-order events.

STOWAGE_WEBHOOK_SECRET=whsec_… python -m examples.webhooks.receiver [--port 8787]
"""

import argparse
import os
import queue
import signal
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self

from stowage_client import BadSignatureError, verify_delivery

MAX_BODY_BYTES = 64 * 1024  # bytes; an event has at most 20 kB
MAX_QUEUED = 1_000  # deliveries waiting to be processed
MAX_REMEMBERED = 10_000  # event ids, and resources, in memory

type Classification = Literal["new", "late", "duplicate", "rejected"]


@dataclass(frozen=True, slots=True)
class WebhookEvent:
    """The fields of an event that this receiver uses.

    `sequence` increases with each event of a resource. `attributes` is the resource as its list
    shows it; None if it is too large to send: get the resource from `href` then.
    """

    id: str
    type: str
    created_at: str
    sequence: int
    object: str
    object_id: int
    status: str | None
    href: str
    attributes: dict[str, Any] | None

    @classmethod
    def parse(cls, body: Any) -> Self:
        """Parse an event and ignore unknown fields.

        Args:
            body: The parsed JSON.

        Raises:
            ValueError: A field is missing or has another type.
        """
        try:
            data = body["data"]
            event = cls(
                id=body["id"],
                type=body["type"],
                created_at=body["created_at"],
                sequence=body["sequence"],
                object=data["object"],
                object_id=data["id"],
                status=data["status"],
                href=data["href"],
                attributes=data["attributes"],
            )
        except (KeyError, TypeError) as missing:
            raise ValueError(f"the body is not an event: {missing!r}") from missing
        texts = (event.id, event.type, event.created_at, event.object, event.href)
        numbers = (event.sequence, event.object_id)
        if not (
            all(isinstance(each, str) for each in texts)
            and all(isinstance(each, int) for each in numbers)
            and isinstance(event.status, str | None)
            and isinstance(event.attributes, dict | None)
        ):
            raise ValueError("the body is not an event: a field has the wrong type")
        return event


@dataclass(frozen=True, slots=True)
class ReceivedDelivery:
    """A delivery: its event, or the reason why it was rejected."""

    event: WebhookEvent | None
    reason: str = ""


@dataclass
class Inbox:
    """Detects duplicates and out-of-order events.

    It keeps the last `remembered` event ids and resources in memory. A production receiver
    stores them in its database, in the transaction that applies the event.
    """

    remembered: int = MAX_REMEMBERED
    _seen: OrderedDict[str, None] = field(default_factory=OrderedDict)
    _newest: OrderedDict[tuple[str, int], int] = field(default_factory=OrderedDict)

    def classify(self, delivery: ReceivedDelivery) -> Classification:
        """Return whether to apply an event; `late`: a newer event of its resource came before."""
        event = delivery.event
        if event is None:
            return "rejected"
        if event.id in self._seen:
            return "duplicate"
        self._remember(self._seen, event.id, None)
        resource = (event.object, event.object_id)
        newest = self._newest.get(resource)
        if newest is not None and event.sequence < newest:
            return "late"
        self._remember(self._newest, resource, event.sequence)
        return "new"

    def _remember[K, V](self, memory: OrderedDict[K, V], key: K, value: V) -> None:
        memory[key] = value
        memory.move_to_end(key)
        if len(memory) > self.remembered:
            memory.popitem(last=False)


class Receiver(ThreadingHTTPServer):
    """An HTTP server on the loopback interface; it puts each delivery into `deliveries`.

    Raises:
        OSError: The port is in use.
    """

    request_queue_size = 128  # waiting connections: events come in bursts

    def __init__(
        self, port: int, secret: str, handler: "type[DeliveryHandler] | None" = None
    ) -> None:
        self.secret = secret
        self.deliveries: queue.Queue[ReceivedDelivery] = queue.Queue(MAX_QUEUED)
        super().__init__(("127.0.0.1", port), handler or DeliveryHandler)

    def report_rejection(self, reason: str) -> None:
        """Queue a rejected request for display; dropped if the queue is full."""
        with suppress(queue.Full):
            self.deliveries.put_nowait(ReceivedDelivery(None, reason))

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """Report a broken connection instead of printing a traceback."""
        self.report_rejection(f"the connection broke: {sys.exception()!r}")

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Serve requests in background threads during the block."""
        threading.Thread(target=self.serve_forever, args=(0.1,), daemon=True).start()
        try:
            yield
        finally:
            self.shutdown()
            self.server_close()


class DeliveryHandler(BaseHTTPRequestHandler):
    """Handles one request: rejects it, or queues its event and responds at once."""

    server: Receiver
    timeout = 10  # seconds for each read, so that an idle client does not hold a thread

    def do_POST(self) -> None:
        """Handle a delivery."""
        length = self.headers.get("Content-Length", "")
        if not (length.isdecimal() and len(length) <= 12):  # noqa: PLR2004
            self._reject(
                HTTPStatus.LENGTH_REQUIRED, "the Content-Length header is missing or invalid"
            )
        elif int(length) > MAX_BODY_BYTES:
            self._reject(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"{length} bytes, at most {MAX_BODY_BYTES} are allowed",
            )
        else:
            body = self.rfile.read(int(length))
            if len(body) == int(length):  # otherwise the client closed the connection
                self._accept_delivery(body)

    def _accept_delivery(self, body: bytes) -> None:
        signature = self.headers.get("X-Service-Signature")
        try:
            event = WebhookEvent.parse(verify_delivery(self.server.secret, signature, body))
            self.server.deliveries.put_nowait(ReceivedDelivery(event))
        except BadSignatureError as problem:
            self._reject(HTTPStatus.UNAUTHORIZED, str(problem))
        except (ValueError, RecursionError) as problem:
            self._reject(HTTPStatus.BAD_REQUEST, str(problem))
        except queue.Full:
            self._reject(
                HTTPStatus.SERVICE_UNAVAILABLE, "too many deliveries are waiting", retry_after=5
            )
        else:
            self._answer(HTTPStatus.NO_CONTENT)

    def _reject_method(self) -> None:
        self._reject(HTTPStatus.METHOD_NOT_ALLOWED, f"{self.command} is not allowed; use POST")

    do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = _reject_method  # noqa: N815

    def _reject(self, status: HTTPStatus, reason: str, retry_after: int | None = None) -> None:
        self.server.report_rejection(reason)
        self._answer(status, f"{reason}\n".encode(), retry_after)

    def _answer(
        self, status: HTTPStatus, body: bytes = b"", retry_after: int | None = None
    ) -> None:
        self.send_response(status)
        if status is HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "POST")
        if retry_after is not None:
            self.send_header("Retry-After", str(retry_after))
        if status is not HTTPStatus.NO_CONTENT:
            self.send_header("Content-Type", "text/plain; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing: the main loop prints each delivery."""


def format_line(classification: Classification, delivery: ReceivedDelivery) -> str:
    """Return a delivery as one line of text."""
    event = delivery.event
    if event is None:
        return printable(f"{classification:9} {delivery.reason}")
    resource = f"{event.object} {event.object_id}"
    state = event.status or "-"
    return printable(
        f"{classification:9} {event.type:24} {resource:20} {state:12} #{event.sequence:<4}"
        f" {event.created_at} {event.id}"
    )


def printable(text: str) -> str:
    """Replace control characters, which could manipulate the terminal."""
    return "".join(each if each.isprintable() else "?" for each in text)


def main() -> int:
    """Print deliveries until Ctrl-C."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=8787, help="port on 127.0.0.1 (default: 8787)")
    parser.add_argument(
        "--secret",
        default=os.environ.get("STOWAGE_WEBHOOK_SECRET"),
        help="secret of the subscription; STOWAGE_WEBHOOK_SECRET hides it from other users",
    )
    arguments = parser.parse_args()
    if not arguments.secret:
        parser.error("the secret is missing: set STOWAGE_WEBHOOK_SECRET")
    try:
        receiver = Receiver(arguments.port, arguments.secret)
    except (OSError, OverflowError) as problem:
        parser.error(f"port {arguments.port}: {problem}")
    for end in (signal.SIGINT, signal.SIGTERM):
        signal.signal(end, signal.default_int_handler)
    inbox = Inbox()
    with suppress(KeyboardInterrupt), receiver.serving():
        _write(f"Listening on http://127.0.0.1:{receiver.server_port}. Press Ctrl-C to stop.")
        while True:
            delivery = receiver.deliveries.get()
            _write(format_line(inbox.classify(delivery), delivery))
    return 0


def _write(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
