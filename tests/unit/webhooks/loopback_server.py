"""Servers on loopback that behave as an endpoint may, well or badly."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

type ConnectionHandler = Callable[[socket.socket], None]
"""What an endpoint does with a connection, after TLS if it has any; then it closes it."""

_TRICKLE_SECONDS = 10
_TIMEOUT_SECONDS = 30
"""Seconds after which an endpoint gives up, far beyond any deadline of a test."""


class LoopbackServer:
    """One server; it serves each connection in a thread of its own."""

    def __init__(self, behaviour: ConnectionHandler, tls: ssl.SSLContext | None) -> None:
        self._behaviour = behaviour
        self._tls = tls
        self._stopping = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.connections = 0
        self.sni_names: list[str | None] = []
        """Names that callers asked for in the TLS handshake."""
        self._threads = [threading.Thread(target=self._listen, daemon=True)]
        self._threads[0].start()

    def close(self) -> None:
        """Stop listening, and wait until the last connection is done with."""
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
        # A caller that goes away in the middle is what most tests are about.
        with connection, suppress(OSError):
            if self._tls is None:
                self._behaviour(connection)
                return
            self._tls.sni_callback = lambda _socket, name, _context: self.sni_names.append(name)
            with self._tls.wrap_socket(connection, server_side=True) as secure:
                self._behaviour(secure)


@contextmanager
def serving(
    behaviour: ConnectionHandler, tls: ssl.SSLContext | None = None
) -> Iterator[LoopbackServer]:
    """Run an endpoint meanwhile."""
    endpoint = LoopbackServer(behaviour, tls)
    try:
        yield endpoint
    finally:
        endpoint.close()


def read_request(connection: socket.socket) -> tuple[bytes, bytes]:
    """Read a request with its body: (head, body)."""
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
    """Read the request, send this, close."""

    def behave(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(answer)

    return behave


def hanging(answer: bytes = b"") -> ConnectionHandler:
    """Read the request, send the beginning of an answer and nothing more."""

    def behave(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(answer)
        connection.recv(1)

    return behave


def trickle(connection: socket.socket, drop: bytes, seconds: float) -> None:
    """Send a drop now and then, for much longer than anybody should wait."""
    for _ in range(round(_TRICKLE_SECONDS / seconds)):
        time.sleep(seconds)
        connection.sendall(drop)


def trickling(beginning: bytes, drop: bytes, seconds: float = 0.01) -> ConnectionHandler:
    """Read the request, send the beginning of an answer and then a drop now and then."""

    def behave(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(beginning)
        trickle(connection, drop, seconds)

    return behave


def flooding(beginning: bytes, flood: bytes) -> ConnectionHandler:
    """Read the request and send without end, as fast as the caller takes it."""

    def behave(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(beginning)
        while True:
            connection.sendall(flood)

    return behave
