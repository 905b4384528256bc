"""One attempt to deliver: an HTTP POST to somebody else's server, which may do its worst.

Whatever that server does, an attempt ends at its deadline, keeps little in memory and says in a
few words what went wrong. It connects to an address that was checked a moment ago, under the
name that the certificate must carry.
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
    Target,
    parse_target,
    resolve_addresses,
)
from shared.kernel.clock import Deadline, now_ms

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer
    from urllib3.response import BaseHTTPResponse

_MAX_BODY = 64 * 1024
_MAX_RECEIVED = 4 * _MAX_BODY
"""Bytes of an answer's body, and of all that an endpoint sends: certificates, headers, framing."""
_TOO_LARGE = "answered more than 64 kB"
_LOGGED_BYTES = 1024
"""Bytes of the body that the log keeps."""
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
        "closed the connection early",
    ),
    (ssl.SSLError, "the TLS connection failed"),
    (HTTPException | HTTPError, "the answer is not HTTP"),
    (OSError, "cannot be reached"),
]
"""The first that fits an error says what it means."""

# They would write what an endpoint sends into the log of the service, as often as it likes.
for _name in ("urllib3.connection", "urllib3.response"):
    logging.getLogger(_name).setLevel(logging.ERROR)


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """What became of an attempt, in words for the owner of the endpoint.

    `status` is None without an answer, `error` None after a success; `response` is the beginning
    of the answer's body, at most 1024 bytes of it; `retry_after` are the seconds that a 429 or
    503 asks to wait, 0 to 86 400.
    """

    milliseconds: int
    status: int | None = None
    error: str | None = None
    response: str = ""
    retry_after: int | None = None


class _ResponseRejectedError(Exception):
    """An answer that is more or other than was asked for; the message is for the log."""


class _LimitedSocket(socket.socket):
    """A connected socket with a deadline and a limit to what it hands out.

    Each single wait is cut to the time that is left, so an endpoint that sends a byte now and
    then gains nothing: neither in the TLS handshake, nor before, in or after the headers.
    """

    def __init__(self, connected: socket.socket, deadline: Deadline) -> None:
        super().__init__(fileno=connected.detach())
        self._deadline = deadline
        self._allowance = _MAX_RECEIVED

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        """As of any socket; TimeoutError at the deadline, _Unacceptable beyond the limit."""
        self.settimeout(_remaining_seconds(self._deadline))
        data = super().recv(size, flags)
        self._count(len(data))
        return data

    def recv_into(self, buffer: "WriteableBuffer", size: int = 0, flags: int = 0, /) -> int:
        """As `recv`."""
        self.settimeout(_remaining_seconds(self._deadline))
        received = super().recv_into(buffer, size, flags)
        self._count(received)
        return received

    def sendall(self, data: "ReadableBuffer", flags: int = 0, /) -> None:
        """As of any socket, whose time-out is for the whole of `data`."""
        # TLS sends what it has before each read, and that is mostly nothing.
        if memoryview(data).nbytes:
            self.settimeout(_remaining_seconds(self._deadline))
            super().sendall(data, flags)

    def _count(self, received: int) -> None:
        self._allowance -= received
        if self._allowance < 0:
            raise _ResponseRejectedError(_TOO_LARGE)


class _CompleteLineReader(io.BufferedReader):
    """Reads lines that do end: http.client takes the end of a connection for that of the head."""

    def readline(self, size: int | None = -1, /) -> bytes:
        """As of any file; IncompleteRead when the connection ends within the line or before."""
        line = super().readline(size)
        if not line.endswith(b"\n") and len(line) != size:
            raise IncompleteRead(line)
        return line


class _CompleteResponse(HTTPResponse):
    """An answer whose every line must be whole."""

    def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        self.fp = _CompleteLineReader(self.fp.detach())


@dataclass(slots=True)
class _ReceivedResponse:
    """What has arrived so far."""

    status: int | None = None
    retry_after: int | None = None
    body: bytearray = field(default_factory=bytearray)

    def read(self, response: "BaseHTTPResponse") -> None:
        """Read an answer; _Unacceptable when it is more or other than was asked for."""
        self.status = response.status
        if self.status in _RETRY_AFTER_STATUSES:
            self.retry_after = _retry_after_seconds(response.headers.get("Retry-After", ""))
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise _ResponseRejectedError("answered in a content encoding that was not asked for")
        while piece := response.read1(_MAX_BODY + 1 - len(self.body), decode_content=False):
            self.body += piece
            if len(self.body) > _MAX_BODY:
                raise _ResponseRejectedError(_TOO_LARGE)

    @property
    def error(self) -> str | None:
        """What the status says against the attempt; None as long as it says nothing."""
        if self.status is None or HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES:
            return None
        if HTTPStatus.MULTIPLE_CHOICES <= self.status < HTTPStatus.BAD_REQUEST:
            return f"answered with a redirect ({self.status})"
        return f"answered {self.status}"


def post_event(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    seconds: float = 10.0,
    localhost: bool = False,
) -> AttemptResult:
    """POST `body` to `url`; a status 2xx with a complete answer succeeds, all else fails.

    `seconds` are for everything together, from the name to the last byte of the answer. Nothing
    that the endpoint or its name does raises. `localhost`: as for `parse_target`.
    """
    deadline = Deadline(seconds * 1000)
    answer = _ReceivedResponse()
    try:
        target = parse_target(url, localhost=localhost)
    except InvalidTarget as bad:
        return AttemptResult(milliseconds=0, error=str(bad))
    failure = None
    try:
        with (
            _LimitedSocket(_connect(target, deadline), deadline) as wire,
            closing(_http_connection(target, wire)) as connection,
        ):
            connection.request(
                "POST", target.path, body, {**headers, **_OWN_HEADERS}, preload_content=False
            )
            with closing(connection.getresponse()) as response:
                answer.read(response)
    except (InvalidTarget, _ResponseRejectedError, OSError, HTTPException, HTTPError) as error:
        failure = _error_text(error, target.host, seconds)
    return AttemptResult(
        milliseconds=round((seconds - deadline.remaining) * 1000),
        status=answer.status,
        error=answer.error or failure,
        response=_printable_text(answer.body[:_LOGGED_BYTES]),
        retry_after=answer.retry_after,
    )


def _remaining_seconds(deadline: Deadline) -> float:
    """Seconds left, more than 0; TimeoutError when there are none."""
    if (left := deadline.remaining) <= 0:
        raise TimeoutError
    return left


def _connect(target: Target, deadline: Deadline) -> socket.socket:
    """Connect to the first address of a target that lets us; the error of the last if none."""
    *others, last = resolve_addresses(target, seconds=_remaining_seconds(deadline))
    for address in others:
        # One that is silent must leave time for the next.
        with suppress(OSError):
            return _connect_to_address(address, target.port, _remaining_seconds(deadline) / 2)
    return _connect_to_address(last, target.port, _remaining_seconds(deadline))


def _connect_to_address(address: str, port: int, seconds: float) -> socket.socket:
    """Connect to an IP address, never to a name."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    dialled = socket.socket(family, socket.SOCK_STREAM)
    try:
        dialled.settimeout(seconds)
        dialled.connect((address, port))
        dialled.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError:
        dialled.close()
        raise
    return dialled


def _http_connection(target: Target, wire: _LimitedSocket) -> HTTPConnection:
    """Speak HTTP over a wire, for https inside TLS with whoever proves to have the name."""
    if target.is_local:
        connection = HTTPConnection(target.host, target.port)
        connection.sock = wire
    else:
        connection = HTTPSConnection(target.host, target.port)
        # What urllib3 takes for TLS in TLS works on top of a socket's methods. A plain wrap
        # takes the descriptor away from the wire, and its deadline and limit with it.
        connection.sock = ssl_wrap_socket(
            wire, ssl_context=_tls_context(), server_hostname=target.host, tls_in_tls=True
        )
    connection.response_class = _CompleteResponse
    # It must not connect anew, which would be by name.
    connection.auto_open = 0
    return connection


@cache
def _tls_context() -> ssl.SSLContext:
    """Trust the authorities of the operating system, from TLS 1.2 on.

    In Lambda that is the bundle of Amazon Linux, which comes with the runtime and is kept up to
    date there without a deployment. The bundle of botocore is meant for AWS: it lacks authorities
    that many endpoints use today, and keeps others that browsers have long ceased to trust.
    """
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _error_text(error: Exception, host: str, seconds: float) -> str:
    """Say in a few words what an attempt failed of, without anything of ours."""
    while isinstance(error, HTTPError) and isinstance(error.__cause__, Exception):
        error = error.__cause__
    if isinstance(error, InvalidTarget | _ResponseRejectedError):
        return str(error)
    if isinstance(error, TimeoutError):
        return f"timed out after {seconds:g} s"
    if isinstance(error, ssl.SSLCertVerificationError):
        return _certificate_error(error.verify_code, host)
    return next(text for kinds, text in _ERROR_TEXTS if isinstance(error, kinds))


def _certificate_error(verify_code: int, host: str) -> str:
    """Say what is wrong with a certificate, by OpenSSL's X509_V_ERR_* number."""
    flaws = {
        9: "is not valid yet",
        10: "has expired",
        18: "is self-signed",
        19: "is not from a known authority",
        20: "is not from a known authority, or intermediate certificates are missing",
        62: f"is not valid for {host}",
    }
    return f"the certificate {flaws.get(verify_code, 'is not valid')}"


def _retry_after_seconds(retry_after: str) -> int | None:
    """Read a Retry-After, seconds or date; None when it is neither."""
    if retry_after.isascii() and retry_after.isdecimal():
        digits = retry_after.lstrip("0")[: len(str(_MAX_RETRY_AFTER)) + 1]
        return min(int(digits or "0"), _MAX_RETRY_AFTER)
    try:
        moment = parsedate_to_datetime(retry_after)
        seconds = moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() - now_ms() / 1000
    except (ValueError, OverflowError):
        return None
    return min(max(round(seconds), 0), _MAX_RETRY_AFTER)


def _printable_text(body: bytearray) -> str:
    """Make the beginning of a body readable, without what would disturb a terminal or a log."""
    text = body.decode(errors="replace")
    return "".join(sign for sign in text if sign.isprintable() or sign in "\n\t")
