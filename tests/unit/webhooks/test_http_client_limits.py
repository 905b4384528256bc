"""Hostile endpoints and DNS: limits of time, memory and IP addresses."""

import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.client import NotConnected
from pathlib import Path

import pytest

from shared.integration.webhooks import http_client
from shared.integration.webhooks.http_client import AttemptResult, post_event
from shared.integration.webhooks.target_urls import TargetUrl
from shared.kernel.clock import Deadline
from tests.subprocesses import output_of
from tests.unit.webhooks.fake_internet import ADDRESS, HOST, URL, FakeInternet
from tests.unit.webhooks.loopback_server import (
    ConnectionHandler,
    flooding,
    hanging,
    responding,
    serving,
    trickle,
    trickling,
)

SECONDS = 0.05
LONGEST = 10.0
"""Seconds after which a slow machine gets no longer deadline."""
TIMED_OUT = "timed out after {:g} s"
AMPLE = 60.0
"""Seconds that no machine needs for an attempt that does not time out."""
SECOND_ADDRESS = "93.184.216.35"
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
THANKS = OK + b"Content-Length: 0\r\n\r\n"

post = partial(post_event, body=b"{}", headers={}, seconds=AMPLE)


def silent(connection: socket.socket) -> None:
    """Read everything and send nothing."""
    while connection.recv(4096):
        pass


def trickling_handshake(connection: socket.socket) -> None:
    """Send a long TLS handshake message byte by byte."""
    connection.recv(4096)
    connection.sendall(b"\x16\x03\x03\x3f\xff\x02\x00\x3f\xfb\x03\x03")
    trickle(connection, b"\0", 0.01)


def not_reading(connection: socket.socket, hung_up: threading.Event) -> None:
    """Do not read the request until the client has hung up."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    hung_up.wait(AMPLE)


@pytest.mark.parametrize(
    "handler",
    [
        hanging(),
        hanging(b"HTTP/1.1 "),
        hanging(OK),
        trickling(b"", b"H"),
        trickling(b"HTTP/1.1 200 ", b"O"),
        trickling(OK + b"a: ", b"b"),
        trickling(OK, b"a: b\r\n", 0.05),
        trickling(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
)
def test_a_response_without_end_of_headers_times_out(
    internet: FakeInternet, handler: ConnectionHandler
) -> None:
    in_time(lambda seconds: internet.post(handler, seconds=seconds), TIMED_OUT)


@pytest.mark.parametrize(
    ("handler", "beginning"),
    [
        (hanging(OK + b"Content-Length: 99\r\n\r\nhalf"), "half"),
        (trickling(OK + b"\r\n", b"."), "."),
        (trickling(OK + b"Content-Length: 9999\r\n\r\n", b"."), "."),
        (trickling(CHUNKED, b"1\r\n.\r\n"), "."),
        (trickling(CHUNKED + b"0\r\n", b"a: b\r\n"), ""),
    ],
)
def test_a_body_without_end_times_out(
    internet: FakeInternet, handler: ConnectionHandler, beginning: str
) -> None:
    in_time(lambda seconds: internet.post(handler, seconds=seconds), TIMED_OUT, 200, beginning)


def test_a_body_without_end_from_localhost_times_out() -> None:
    with serving(trickling(OK + b"\r\n", b".")) as endpoint:
        url = f"http://localhost:{endpoint.port}"
        in_time(lambda seconds: post(url, localhost=True, seconds=seconds), TIMED_OUT, 200)


def test_an_error_status_is_reported_although_its_body_times_out(internet: FakeInternet) -> None:
    response = b"HTTP/1.1 410 Gone\r\nContent-Length: 9999\r\n\r\n"

    in_time(
        lambda seconds: internet.post(trickling(response, b"."), seconds=seconds),
        "responded with status 410",
        410,
    )


@pytest.mark.parametrize("handler", [silent, trickling_handshake])
def test_a_tls_handshake_without_end_times_out(
    internet: FakeInternet, handler: ConnectionHandler
) -> None:
    with serving(handler) as endpoint:
        internet.ports[ADDRESS] = endpoint.port
        in_time(lambda seconds: post(URL, seconds=seconds), TIMED_OUT)


def test_an_endpoint_that_does_not_read_times_out(internet: FakeInternet) -> None:
    hung_up = threading.Event()
    with internet.endpoint(partial(not_reading, hung_up=hung_up)):
        in_time(lambda seconds: post(URL, body=bytes(20_000_000), seconds=seconds), TIMED_OUT)
        hung_up.set()


def test_an_unresponsive_resolver_times_out(internet: FakeInternet) -> None:
    with internet.resolver.paused():
        in_time(lambda seconds: post(URL, seconds=seconds), f"host {HOST} does not resolve in time")
    internet.resolver.wait_for_pending_queries()


def test_an_unresponsive_address_times_out(internet: FakeInternet) -> None:
    with unreachable_port() as port:
        internet.ports[ADDRESS] = port
        in_time(lambda seconds: post(URL, seconds=seconds), TIMED_OUT)


def test_an_unresponsive_address_leaves_time_for_the_next(internet: FakeInternet) -> None:
    internet.resolver.set_addresses(HOST, SECOND_ADDRESS, ADDRESS)
    for seconds in (0.2, LONGEST):  # a slow machine needs more for the second address
        with unreachable_port() as port, internet.endpoint(responding(THANKS)):
            internet.ports[SECOND_ADDRESS] = port
            result = post(URL, seconds=seconds)
        if result.error is None:
            break

    assert result.error is None
    assert internet.connections[-2:] == [(SECOND_ADDRESS, 443), (ADDRESS, 443)]


def test_addresses_are_tried_in_order_until_one_connects(internet: FakeInternet) -> None:
    internet.resolver.set_addresses(HOST, "93.184.216.37", SECOND_ADDRESS, ADDRESS, "93.184.216.36")

    with internet.endpoint(responding(THANKS)):
        assert post(URL).error is None

    tried = [address for address, _ in internet.connections]
    assert tried == ["93.184.216.37", SECOND_ADDRESS, ADDRESS]


def test_ipv6_addresses_are_not_tried(internet: FakeInternet) -> None:
    """After a refused connection, their error would hide the reason."""
    internet.resolver.set_addresses(HOST, "2606:4700::1", ADDRESS, "2606:4700::2")

    assert post(URL).error == "connection refused"
    assert internet.connections == [(ADDRESS, 443)]


def test_a_refused_connection_is_reported(internet: FakeInternet) -> None:
    internet.resolver.set_addresses(HOST, ADDRESS, SECOND_ADDRESS)

    assert post(URL).error == "connection refused"
    assert len(internet.connections) == 2


@pytest.mark.usefixtures("internet")
def test_an_unreachable_network_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(*_: object) -> socket.socket:
        raise OSError(101, "Network is unreachable")

    monkeypatch.setattr(http_client, "_connect_to_address", connect)

    assert post(URL).error == "the endpoint cannot be reached"


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_connecting_to_an_address_makes_no_dns_query(
    internet: FakeInternet, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(socket, "getaddrinfo", internet.resolver.getaddrinfo)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.create_server((address, 0), family=family) as server:
        port = server.getsockname()[1]
        with http_client._connect_to_address(address, port, 1.0) as dialled:
            assert dialled.getpeername()[:2] == (address, port)

    assert internet.resolver.queries == []


def test_each_attempt_resolves_and_checks_the_host(internet: FakeInternet) -> None:
    internet.resolver.set_address_sequence(HOST, ADDRESS, "169.254.169.254")

    with internet.endpoint(responding(THANKS)) as endpoint:
        first, second = post(URL), post(URL)

    assert first.error is None
    assert second.error == f"host {HOST} resolves to a cloud metadata address"
    assert internet.resolver.queries == [(HOST, 443)] * 2
    assert internet.connections == [(ADDRESS, 443)]
    assert endpoint.connections == 1


@pytest.mark.parametrize(
    ("addresses", "error"),
    [
        (["127.0.0.1"], f"host {HOST} resolves to a loopback address"),
        ([ADDRESS, "10.0.0.1"], f"host {HOST} resolves to a private address"),
        (["fe80::1%2", ADDRESS], f"host {HOST} resolves to a link-local address"),
        ([], f"host {HOST} does not resolve"),
    ],
)
def test_no_connection_is_made_to_a_non_public_address(
    internet: FakeInternet, addresses: list[str], error: str
) -> None:
    internet.resolver.set_addresses(HOST, *addresses)

    assert post(URL).error == error
    assert internet.connections == []


def test_a_closed_connection_does_not_reconnect_by_host_name() -> None:
    ours, theirs = socket.socketpair()
    with theirs, http_client._LimitedSocket(ours, Deadline(1000)) as limited_socket:
        connection = http_client._http_connection(
            TargetUrl("http", "localhost", 1, "/"), limited_socket
        )
        connection.close()
        with pytest.raises(NotConnected):
            connection.request("POST", "/")


def test_proxy_environment_variables_are_ignored(
    internet: FakeInternet, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(silent) as proxy, internet.endpoint(responding(THANKS)):
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
            monkeypatch.setenv(name.lower(), f"http://127.0.0.1:{proxy.port}")
        assert post(URL).error is None

    assert proxy.connections == 0


PIECE = bytes(1 << 20)
FLOODS = {
    "a gigabyte": flooding(OK + b"Content-Length: 1000000000\r\n\r\n", PIECE),
    "a body without end": flooding(OK + b"\r\n", PIECE),
    "a chunk without end": flooding(CHUNKED + b"ffffffffff\r\n", PIECE),
    "chunks without end": flooding(CHUNKED, b"1\r\n.\r\n" * 100_000),
    "trailers without end": flooding(CHUNKED + b"0\r\n", b"a: b\r\n" * 100_000),
    "informational answers without end": flooding(b"", b"HTTP/1.1 100 Go\r\n\r\n" * 100_000),
    "long headers": flooding(OK, b"a: " + b"b" * 65_000 + b"\r\n"),
}


OF_BODIES = {"a gigabyte", "a body without end", "a chunk without end"}
"""Floods of which 64 kB are read; the status is enough."""
TOO_LARGE = "the response is too large"


@pytest.mark.parametrize("flood", FLOODS)
def test_a_response_that_is_too_large_is_cut_off(internet: FakeInternet, flood: str) -> None:
    tracemalloc.start()
    try:
        result = internet.post(FLOODS[flood], seconds=AMPLE)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert result.error == (None if flood in OF_BODIES else TOO_LARGE)
    # PIECE was allocated before the measurement.
    assert peak < 1_500_000


def test_a_response_from_localhost_that_is_too_large_is_cut_off() -> None:
    with serving(FLOODS["trailers without end"]) as endpoint:
        result = post(f"http://localhost:{endpoint.port}", localhost=True)

    assert result.error == TOO_LARGE


@pytest.mark.parametrize("flood", [b"H", b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 101, b"x\r\n"])
def test_endless_data_that_is_not_http_is_cut_off(internet: FakeInternet, flood: bytes) -> None:
    result = internet.post(flooding(b"", flood * (1 << 16)), seconds=AMPLE)

    assert result.error == "the response is not valid HTTP"


def test_endless_tls_messages_are_cut_off(internet: FakeInternet) -> None:
    """TLS session tickets count as received bytes, although they are not part of the response."""
    tls = internet.authority.server(HOST)
    tls.num_tickets = 1 << 30
    with serving(responding(THANKS), tls) as endpoint:
        internet.ports[ADDRESS] = endpoint.port
        result = post(URL)

    assert result.error == TOO_LARGE


def test_no_file_descriptors_and_threads_leak(internet: FakeInternet) -> None:
    def count() -> tuple[int, int]:
        return len(list(Path("/proc/self/fd").iterdir())), threading.active_count()

    half = OK + b"\r\nhalf"
    hostile = [hanging(), hanging(half), responding(b""), FLOODS["a gigabyte"]]
    for handler in hostile:
        internet.post(handler, seconds=0.05)
    before = count()
    errors = {internet.post(hostile[n % 4], seconds=0.03).error for n in range(20)}

    assert "timed out after 0.03 s" in errors
    assert eventually(lambda: count() <= before)


def test_peak_memory_is_bounded(internet: FakeInternet) -> None:
    """The test measures the process, because tracemalloc does not include the memory of OpenSSL."""
    tls = internet.authority.server(HOST)
    long_headers, gigabyte = FLOODS["long headers"], FLOODS["a gigabyte"]
    with serving(long_headers, tls) as first, serving(gigabyte, tls) as second:
        ports = [str(first.port), str(second.port)]
        probe = ("-m", "tests.unit.webhooks.peak_memory", *ports)
        shown = output_of(*probe, SSL_CERT_FILE=str(internet.authority.file))

    errors, grown = shown.splitlines()
    assert errors == f"{TOO_LARGE}; None"
    assert int(grown) < 4_000


def in_time(
    attempt: Callable[[float], AttemptResult],
    error: str,
    status: int | None = None,
    beginning: str = "",
) -> None:
    """Assert that an attempt fails at its deadline, with this beginning of a response.

    A slow machine gets as far as that by a later deadline than SECONDS.
    """
    seconds = SECONDS
    while True:
        result = attempt(seconds)
        found = result.error, result.status, result.response[: len(beginning)]
        expected = error.format(seconds), status, beginning
        assert seconds <= result.milliseconds / 1000 < seconds + AMPLE
        if found == expected or seconds > LONGEST:
            break
        seconds *= 4
    assert found == expected


def eventually(holds: Callable[[], bool]) -> bool:
    """Return whether a condition becomes true within AMPLE seconds."""
    ends = time.monotonic() + AMPLE
    while time.monotonic() < ends:
        if holds():
            return True
        time.sleep(0.02)
    return False


@contextmanager
def unreachable_port() -> Iterator[int]:
    """Yield a port that does not respond, because its connection backlog is full."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        port = server.getsockname()[1]
        waiting = [socket.socket() for _ in range(3)]
        for dialling in waiting:
            dialling.setblocking(False)
            with suppress(BlockingIOError):
                dialling.connect(("127.0.0.1", port))
        yield port
        for dialling in waiting:
            dialling.close()
