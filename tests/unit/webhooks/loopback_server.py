"""Servers on loopback with correct and hostile behavior."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

type ConnectionHandler = Callable[[socket.socket], None]
"""Handles a connection after the TLS handshake, if any; the server closes it afterwards."""

_TRICKLE_SECONDS = 90
_TIMEOUT_SECONDS = 120
"""Seconds after which a server gives up; longer than any deadline of a test."""


class LoopbackServer:
    """A server with one thread per connection."""

    def __init__(self, handler: ConnectionHandler, tls: ssl.SSLContext | None) -> None:
        self._handler = handler
        self._tls = tls
        self._stopping = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.connections = 0
        self.sni_names: list[str | None] = []
        """Server names from the TLS handshakes."""
        self._threads = [threading.Thread(target=self._listen, daemon=True)]
        self._threads[0].start()

    def close(self) -> None:
        """Stop listening and wait for all connections."""
        self._stopping.set()
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for thread in self._threads:
            thread.join(_TIMEOUT_SECONDS)
            assert not thread.is_alive()

    def _listen(self) -> None:
        while not self._stopping.is_set():
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self.connections += 1
            thread = threading.Thread(target=self._serve, args=[connection], daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(_TIMEOUT_SECONDS)
        # In most tests the client closes the connection early.
        with connection, suppress(OSError):
            if self._tls is None:
                self._handler(connection)
                return
            self._tls.sni_callback = lambda _socket, name, _context: self.sni_names.append(name)
            with self._tls.wrap_socket(connection, server_side=True) as secure:
                self._handler(secure)


@contextmanager
def serving(
    handler: ConnectionHandler, tls: ssl.SSLContext | None = None
) -> Iterator[LoopbackServer]:
    """Run a server during the block."""
    server = LoopbackServer(handler, tls)
    try:
        yield server
    finally:
        server.close()


def read_request(connection: socket.socket) -> tuple[bytes, bytes]:
    """Read a request; return its head and its body."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += _receive(connection)
    head, _, body = received.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    while len(body) < length:
        body += _receive(connection)
    return head, body


def _receive(connection: socket.socket) -> bytes:
    data = connection.recv(65536)
    if not data:
        raise ConnectionResetError
    return data


def responding(answer: bytes) -> ConnectionHandler:
    """Return a handler that reads the request, sends a response and closes."""

    def handle(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(answer)

    return handle


def hanging(answer: bytes = b"") -> ConnectionHandler:
    """Return a handler that reads the request and sends only the start of a response."""

    def handle(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(answer)
        connection.recv(1)

    return handle


def trickle(connection: socket.socket, chunk: bytes, seconds: float) -> None:
    """Send a chunk at intervals, for longer than any deadline."""
    for _ in range(round(_TRICKLE_SECONDS / seconds)):
        time.sleep(seconds)
        connection.sendall(chunk)


def trickling(beginning: bytes, chunk: bytes, seconds: float = 0.01) -> ConnectionHandler:
    """Return a handler that sends the start of a response and then a chunk at intervals."""

    def handle(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(beginning)
        trickle(connection, chunk, seconds)

    return handle


def flooding(beginning: bytes, chunk: bytes) -> ConnectionHandler:
    """Return a handler that sends data without end, as fast as the client reads it."""

    def handle(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(beginning)
        while True:
            connection.sendall(chunk)

    return handle
