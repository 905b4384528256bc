"""A small receiver of webhooks: verifies, answers at once, drops repeats, keeps the order.

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

from examples.webhooks.verify import BadSignatureError, verify

MAX_BODY_BYTES = 64 * 1024  # bytes; an event has at most 20 kB
MAX_QUEUED = 1_000  # events that may wait to be worked off
MAX_REMEMBERED = 10_000  # ids of events, and resources, that are remembered

type Classification = Literal["new", "late", "repeated", "refused"]


@dataclass(frozen=True, slots=True)
class WebhookEvent:
    """What happened to a resource, as far as this receiver cares.

    `sequence` rises from one event of a resource to the next. `attributes` are those of
    its list; None when they are too large to send: get the resource from `href` then.
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
        """Take what is needed from the parsed body; what else it has may grow.

        Raises:
            ValueError: Something is missing or is of another kind.
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
            raise ValueError(f"the body is no event: {missing!r}") from missing
        texts = (event.id, event.type, event.created_at, event.object, event.href)
        numbers = (event.sequence, event.object_id)
        if not (
            all(isinstance(each, str) for each in texts)
            and all(isinstance(each, int) for each in numbers)
            and isinstance(event.status, str | None)
            and isinstance(event.attributes, dict | None)
        ):
            raise ValueError("the body is no event: something in it is of another kind")
        return event


@dataclass(frozen=True, slots=True)
class ReceivedDelivery:
    """What came, and what became of it: an event, or the reason why it was refused."""

    event: WebhookEvent | None
    reason: str = ""


@dataclass
class Inbox:
    """What has been there before. In earnest this is a table beside the data it protects.

    Its memory is bounded: of `remembered` ids, and of as many resources.
    """

    remembered: int = MAX_REMEMBERED
    _seen: OrderedDict[str, None] = field(default_factory=OrderedDict)
    _newest: OrderedDict[tuple[str, int], int] = field(default_factory=OrderedDict)

    def classify(self, arrival: ReceivedDelivery) -> Classification:
        """Tell whether to apply an event; `late`: a newer one of its resource was there before."""
        event = arrival.event
        if event is None:
            return "refused"
        if event.id in self._seen:
            return "repeated"
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
    """Listens on this machine alone; whatever arrives lies in `arrivals`.

    Raises:
        OSError: The port is taken.
    """

    request_queue_size = 128  # connections that may wait: events come in bursts

    def __init__(self, port: int, secret: str) -> None:
        self.secret = secret
        self.deliveries: queue.Queue[ReceivedDelivery] = queue.Queue(MAX_QUEUED)
        super().__init__(("127.0.0.1", port), _DeliveryHandler)

    def report_rejection(self, reason: str) -> None:
        """Let it be seen that something was refused, unless there is too much to see."""
        with suppress(queue.Full):
            self.deliveries.put_nowait(ReceivedDelivery(None, reason))

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """Say in a line that a sender hung up, instead of a traceback."""
        self.report_rejection(f"the connection broke: {sys.exception()!r}")

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Answer, in threads of its own, as long as the block lasts."""
        threading.Thread(target=self.serve_forever, args=(0.1,), daemon=True).start()
        try:
            yield
        finally:
            self.shutdown()
            self.server_close()


class _DeliveryHandler(BaseHTTPRequestHandler):
    """One request: refused, or put where it is worked off after it has been answered."""

    server: Receiver
    timeout = 10  # seconds for each read: who says nothing holds no thread

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not (length.isdecimal() and len(length) <= 12):  # noqa: PLR2004
            self._reject(HTTPStatus.LENGTH_REQUIRED, "there is no Content-Length")
        elif int(length) > MAX_BODY_BYTES:
            self._reject(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"{length} bytes are too many")
        else:
            body = self.rfile.read(int(length))
            if len(body) == int(length):  # else the sender hung up
                self._accept_delivery(body)

    def _accept_delivery(self, body: bytes) -> None:
        signature = self.headers.get("X-Service-Signature")
        try:
            event = WebhookEvent.parse(verify(self.server.secret, signature, body))
            self.server.deliveries.put_nowait(ReceivedDelivery(event))
        except BadSignatureError as problem:
            self._reject(HTTPStatus.UNAUTHORIZED, str(problem))
        except (ValueError, RecursionError) as problem:
            self._reject(HTTPStatus.BAD_REQUEST, str(problem))
        except queue.Full:
            self._reject(HTTPStatus.SERVICE_UNAVAILABLE, "too much is waiting", retry_after=5)
        else:
            self._answer(HTTPStatus.NO_CONTENT)

    def _reject_method(self) -> None:
        self._reject(HTTPStatus.METHOD_NOT_ALLOWED, f"{self.command}: events come by POST")

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
        """Keep quiet: what arrives is told elsewhere."""


def format_line(verdict: Classification, arrival: ReceivedDelivery) -> str:
    """Tell of an arrival in one line."""
    event = arrival.event
    if event is None:
        return printable(f"{verdict:9} {arrival.reason}")
    resource = f"{event.object} {event.object_id}"
    state = event.status or "-"
    return printable(
        f"{verdict:9} {event.type:24} {resource:20} {state:12} #{event.sequence:<4}"
        f" {event.created_at} {event.id}"
    )


def printable(text: str) -> str:
    """Replace what could move the cursor: whoever names a product does not write the terminal."""
    return "".join(each if each.isprintable() else "?" for each in text)


def main() -> int:
    """Receive until Ctrl-C."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=8787, help="on 127.0.0.1 (default: 8787)")
    parser.add_argument(
        "--secret",
        default=os.environ.get("STOWAGE_WEBHOOK_SECRET"),
        help="of the subscription; in STOWAGE_WEBHOOK_SECRET other users do not see it",
    )
    arguments = parser.parse_args()
    if not arguments.secret:
        parser.error("no secret: set STOWAGE_WEBHOOK_SECRET")
    try:
        receiver = Receiver(arguments.port, arguments.secret)
    except (OSError, OverflowError) as problem:
        parser.error(f"port {arguments.port}: {problem}")
    for end in (signal.SIGINT, signal.SIGTERM):
        signal.signal(end, signal.default_int_handler)
    inbox = Inbox()
    with suppress(KeyboardInterrupt), receiver.serving():
        _write(f"Waiting for events on http://127.0.0.1:{receiver.server_port}; Ctrl-C ends.")
        while True:
            arrival = receiver.deliveries.get()
            _write(format_line(inbox.classify(arrival), arrival))
    return 0


def _write(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
