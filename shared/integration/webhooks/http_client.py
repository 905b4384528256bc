"""The HTTP client of deliveries: one POST to an untrusted server.

The client limits the total time and the received bytes, connects only to an IP address that it
has just checked, verifies the certificate for the host name, and returns errors as short texts.
"""

import io
import logging
import socket
import ssl
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import cache
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse, IncompleteRead
from typing import TYPE_CHECKING, Any

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.util.ssl_ import ssl_wrap_socket

from shared.integration.webhooks.target_urls import (
    InvalidTarget,
    TargetUrl,
    parse_target,
    resolve_addresses,
)
from shared.kernel.clock import Deadline, now_ms

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer
    from urllib3.response import BaseHTTPResponse

_MAX_BODY = 64 * 1024
_MAX_RECEIVED = 4 * _MAX_BODY
"""Most bytes of a response body, and of all received data: certificates, headers, framing."""
_LOGGED_BYTES = 1024
"""Bytes of the response body that the log keeps."""
_MAX_RETRY_AFTER = 86_400
_RETRY_AFTER_STATUSES = {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}
_OWN_HEADERS = {
    "User-Agent": "Stowage-Webhooks/1",
    "Accept-Encoding": "identity",
    "Connection": "close",
}

_ERROR_TEXTS = [
    (ConnectionRefusedError, "connection refused"),
    (
        ConnectionError | IncompleteRead | ssl.SSLEOFError | ssl.SSLZeroReturnError,
        "the endpoint closed the connection early",
    ),
    (ssl.SSLError, "the TLS connection failed"),
    (HTTPException | HTTPError, "the response is not valid HTTP"),
    (OSError, "the endpoint cannot be reached"),
]
"""Error classes → text for the log. The first match applies."""

# These loggers would write data of the endpoint into the log of the service.
for _name in ("urllib3.connection", "urllib3.response"):
    logging.getLogger(_name).setLevel(logging.ERROR)


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """Result of an attempt.

    Attributes:
        milliseconds: Duration.
        status: HTTP status; None if there was no response.
        error: Why the attempt failed, for the owner of the endpoint; None after a success.
        response: The first 1024 bytes of the response body, without control characters.
        retry_after: Seconds from the Retry-After of a 429 or 503, 0 to 86 400.
    """

    milliseconds: int
    status: int | None = None
    error: str | None = None
    response: str = ""
    retry_after: int | None = None


class _TooMuchReceivedError(Exception):
    """The endpoint sent too much outside the body; the message is the error text of the attempt."""


class _LimitedSocket(socket.socket):
    """A connected socket with a deadline and a limit of received bytes.

    The timeout of each operation is the time until the deadline. An endpoint that sends single
    bytes cannot extend it, neither in the TLS handshake nor in the response.
    """

    def __init__(self, connected: socket.socket, deadline: Deadline) -> None:
        super().__init__(fileno=connected.detach())
        self._deadline = deadline
        self._allowance = _MAX_RECEIVED

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        """Receive; raises TimeoutError or _TooMuchReceivedError at the limits."""
        self.settimeout(_remaining_seconds(self._deadline))
        data = super().recv(size, flags)
        self._count(len(data))
        return data

    def recv_into(self, buffer: "WriteableBuffer", size: int = 0, flags: int = 0, /) -> int:
        """Receive into a buffer; raises as `recv`."""
        self.settimeout(_remaining_seconds(self._deadline))
        received = super().recv_into(buffer, size, flags)
        self._count(received)
        return received

    def sendall(self, data: "ReadableBuffer", flags: int = 0, /) -> None:
        """Send; the timeout covers all of `data`."""
        # TLS calls this before each read, mostly without data.
        if memoryview(data).nbytes:
            self.settimeout(_remaining_seconds(self._deadline))
            super().sendall(data, flags)

    def _count(self, received: int) -> None:
        self._allowance -= received
        if self._allowance < 0:
            raise _TooMuchReceivedError("the response is too large")


class _CompleteLineReader(io.BufferedReader):
    """A reader that rejects truncated lines; http.client takes them for the end of the headers."""

    def readline(self, size: int | None = -1, /) -> bytes:
        """Read a line; IncompleteRead if the connection ends before its line break."""
        line = super().readline(size)
        if not line.endswith(b"\n") and len(line) != size:
            raise IncompleteRead(line)
        return line


class _CompleteResponse(HTTPResponse):
    """A response without truncated lines."""

    def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        self.fp = _CompleteLineReader(self.fp.detach())


@dataclass(slots=True)
class _ReceivedResponse:
    """The part of a response that was received; it stays valid after an error."""

    status: int | None = None
    retry_after: int | None = None
    body: bytearray = field(default_factory=bytearray)

    def read(self, response: "BaseHTTPResponse") -> None:
        """Read a response: its status, and at most 64 kB of its body unless that is encoded."""
        self.status = response.status
        if self.status in _RETRY_AFTER_STATUSES:
            self.retry_after = _retry_after_seconds(response.headers.get("Retry-After", ""))
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            return
        while chunk := response.read1(_MAX_BODY - len(self.body), decode_content=False):
            self.body += chunk
            if len(self.body) == _MAX_BODY:
                return

    @property
    def error(self) -> str | None:
        """Error text of a status other than 2xx; None for 2xx or if there is no status."""
        if self.status is None or HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES:
            return None
        if HTTPStatus.MULTIPLE_CHOICES <= self.status < HTTPStatus.BAD_REQUEST:
            return f"responded with a redirect ({self.status})"
        return f"responded with status {self.status}"


def post_event(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    seconds: float = 10.0,
    localhost: bool = False,
) -> AttemptResult:
    """POST an event; a 2xx status is a success, unless the connection ends before its response.

    Of a response, 64 kB are read; what follows does not matter.

    `seconds` limit the attempt, from the DNS query to the last byte of the response; `localhost`
    allows `http://localhost:PORT`.

    Returns:
        The result. No behavior of the endpoint or its DNS records raises an error.
    """
    deadline = Deadline(seconds * 1000)
    received = _ReceivedResponse()
    try:
        target = parse_target(url, localhost=localhost)
    except InvalidTarget as bad:
        return AttemptResult(milliseconds=0, error=str(bad))
    failure = None
    try:
        with (
            _LimitedSocket(_connect(target, deadline), deadline) as limited_socket,
            closing(_http_connection(target, limited_socket)) as connection,
        ):
            connection.request(
                "POST", target.path, body, {**headers, **_OWN_HEADERS}, preload_content=False
            )
            with closing(connection.getresponse()) as response:
                received.read(response)
    except (InvalidTarget, _TooMuchReceivedError, OSError, HTTPException, HTTPError) as error:
        failure = _error_text(error, target.host, seconds)
    return AttemptResult(
        milliseconds=round((seconds - deadline.remaining) * 1000),
        status=received.status,
        error=received.error or failure,
        response=_printable_text(received.body[:_LOGGED_BYTES]),
        retry_after=received.retry_after,
    )


def _remaining_seconds(deadline: Deadline) -> float:
    """Return the seconds until the deadline; TimeoutError if it has passed."""
    if (left := deadline.remaining) <= 0:
        raise TimeoutError
    return left


def _connect(target: TargetUrl, deadline: Deadline) -> socket.socket:
    """Connect to the first reachable address; raises the error of the last one."""
    *others, last = resolve_addresses(target, seconds=_remaining_seconds(deadline))
    for address in others:
        # Half of the time: an address that does not respond leaves time for the next.
        with suppress(OSError):
            return _connect_to_address(address, target.port, _remaining_seconds(deadline) / 2)
    return _connect_to_address(last, target.port, _remaining_seconds(deadline))


def _connect_to_address(address: str, port: int, seconds: float) -> socket.socket:
    """Connect to an IP address, without a DNS query."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    connected = socket.socket(family, socket.SOCK_STREAM)
    try:
        connected.settimeout(seconds)
        connected.connect((address, port))
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError:
        connected.close()
        raise
    return connected


def _http_connection(target: TargetUrl, limited_socket: _LimitedSocket) -> HTTPConnection:
    """Return an HTTP connection over a socket, for https with a verified certificate."""
    if target.is_local:
        connection = HTTPConnection(target.host, target.port)
        connection.sock = limited_socket
    else:
        connection = HTTPSConnection(target.host, target.port)
        # urllib3's "TLS in TLS" calls the methods of the socket, so that its limits apply. A
        # plain wrap would use the file descriptor directly.
        connection.sock = ssl_wrap_socket(
            limited_socket, ssl_context=_tls_context(), server_hostname=target.host, tls_in_tls=True
        )
    connection.response_class = _CompleteResponse
    # A reconnection would resolve the host name without checking its addresses.
    connection.auto_open = 0
    return connection


@cache
def _tls_context() -> ssl.SSLContext:
    """Return a context for TLS 1.2 or later with the certificate authorities of the system.

    In Lambda, AWS updates the bundle of Amazon Linux without a deployment. The bundle of botocore
    is meant for AWS endpoints: it lacks some current authorities and contains distrusted ones.
    """
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _error_text(error: Exception, host: str, seconds: float) -> str:
    """Return the text of an error, without internal details."""
    while isinstance(error, HTTPError) and isinstance(error.__cause__, Exception):
        error = error.__cause__
    if isinstance(error, InvalidTarget | _TooMuchReceivedError):
        return str(error)
    if isinstance(error, TimeoutError):
        return f"timed out after {seconds:g} s"
    if isinstance(error, ssl.SSLCertVerificationError):
        return _certificate_error(error.verify_code, host)
    return next(text for classes, text in _ERROR_TEXTS if isinstance(error, classes))


def _certificate_error(verify_code: int, host: str) -> str:
    """Return the text of a certificate error, by OpenSSL's X509_V_ERR_* number."""
    errors = {
        9: "is not valid yet",
        10: "has expired",
        18: "is self-signed",
        19: "is not from a trusted authority",
        20: "is not from a trusted authority, or intermediate certificates are missing",
        62: f"is not valid for {host}",
    }
    return f"the certificate {errors.get(verify_code, 'is not valid')}"


def _retry_after_seconds(retry_after: str) -> int | None:
    """Parse a Retry-After header, in seconds or as a date; None if it is invalid."""
    if retry_after.isascii() and retry_after.isdecimal():
        digits = retry_after.lstrip("0")[: len(str(_MAX_RETRY_AFTER)) + 1]
        return min(int(digits or "0"), _MAX_RETRY_AFTER)
    try:
        date = parsedate_to_datetime(retry_after)
        seconds = date.replace(tzinfo=date.tzinfo or UTC).timestamp() - now_ms() / 1000
    except (ValueError, OverflowError):
        return None
    return min(max(round(seconds), 0), _MAX_RETRY_AFTER)


def _printable_text(body: bytearray) -> str:
    """Decode the beginning of a body, without control characters."""
    text = body.decode(errors="replace")
    return "".join(char for char in text if char.isprintable() or char in "\n\t")
