"""The HTTP client of deliveries: requests, success and errors."""

import gzip
import logging
import socket
import ssl
from email.utils import formatdate
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.integration.webhooks import http_client
from shared.integration.webhooks.http_client import AttemptResult, post_event
from tests.cases import each_case
from tests.clock import Clock
from tests.unit.webhooks.certificates import CertificateAuthority
from tests.unit.webhooks.fake_internet import ADDRESS, HOST, URL, FakeInternet
from tests.unit.webhooks.loopback_server import ConnectionHandler, read_request, responding, serving

post = partial(post_event, body=b"{}", headers={}, seconds=60.0)


def answer(status: str, *headers: str, body: bytes = b"") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def test_post_sends_the_event_with_its_headers(internet: FakeInternet) -> None:
    requests = []

    def handle(connection: socket.socket) -> None:
        requests.append(read_request(connection))
        connection.sendall(answer("200 OK", body=b"thanks"))

    with internet.endpoint(handle) as endpoint:
        result = post_event(URL, b'{"id": "evt_1"}', {"X-Service-Signature": "t=1,v1=ab"})

    [(head, body)] = requests
    line, *headers = head.decode().split("\r\n")
    assert line == "POST /in?key=1 HTTP/1.1"
    assert sorted(headers) == [
        "Accept-Encoding: identity",
        "Connection: close",
        "Content-Length: 15",
        "Host: hooks.example.com",
        "User-Agent: Stowage-Webhooks/1",
        "X-Service-Signature: t=1,v1=ab",
    ]
    assert body == b'{"id": "evt_1"}'
    assert endpoint.sni_names == [HOST]
    assert internet.connections == [(ADDRESS, 443)]
    assert internet.resolver.queries == [(HOST, 443)]
    assert result == AttemptResult(result.milliseconds, status=200, response="thanks")


def test_port_8443_is_used_and_sent_in_the_host_header(internet: FakeInternet) -> None:
    heads = []

    def handle(connection: socket.socket) -> None:
        heads.append(read_request(connection)[0])
        connection.sendall(answer("204 No Content"))

    with internet.endpoint(handle):
        result = post(f"https://{HOST}:8443")

    assert result.status == 204
    assert result.error is None
    assert internet.connections == [(ADDRESS, 8443)]
    assert heads[0].startswith(b"POST / HTTP/1.1\r\n")
    assert b"\r\nHost: hooks.example.com:8443\r\n" in heads[0]


def test_localhost_is_allowed_in_the_local_run() -> None:
    with serving(responding(answer("200 OK", body=b"seen"))) as endpoint:
        result = post(f"http://localhost:{endpoint.port}/in", localhost=True)

    assert (result.status, result.error, result.response) == (200, None, "seen")


def test_localhost_is_rejected_by_default() -> None:
    with serving(responding(answer("200 OK"))) as endpoint:
        result = post(f"http://localhost:{endpoint.port}/in")

    assert result == AttemptResult(0, error="must start with https://")
    assert endpoint.connections == 0


@pytest.mark.parametrize("status", ["200 OK", "201 Created", "202", "204 No Content", "299 Odd"])
def test_every_2xx_status_is_a_success(internet: FakeInternet, status: str) -> None:
    result = internet.post(responding(answer(status)))

    assert (result.status, result.error) == (int(status[:3]), None)


@each_case("status", [101, 199, 400, 401, 404, 410, 413, 429, 500, 502, 503, 504, 599, 600, 999])
def test_every_other_status_is_a_failure_with_the_status_in_the_error(
    internet: FakeInternet, status: int
) -> None:
    result = internet.post(responding(answer(f"{status} Odd", body=b"reason")))

    assert (result.status, result.error) == (status, f"responded with status {status}")
    assert result.response == ("" if status < 200 else "reason")


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 307, 308])
@pytest.mark.parametrize("location", ["http://169.254.169.254/latest/meta-data/", URL, "/other"])
def test_redirects_are_not_followed(internet: FakeInternet, status: int, location: str) -> None:
    handler = responding(answer(f"{status} Over There", f"Location: {location}"))

    with internet.endpoint(handler) as endpoint:
        result = post(URL)

    assert (result.status, result.error) == (status, f"responded with a redirect ({status})")
    assert endpoint.connections == 1
    assert internet.connections == [(ADDRESS, 443)]
    assert internet.resolver.queries == [(HOST, 443)]


@each_case(
    ("text", "seconds"),
    [
        ("0", 0), ("1", 1), ("120", 120), ("007", 7), ("86400", 86_400), ("86401", 86_400),
        ("9" * 5000, 86_400), ("-1", None), ("1.5", None), ("+5", None), ("5 s", None),
        ("soon", None), ("", None), ("\u0665", None), ("\u00b2", None), ("5, 5", None),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400),
        ("Sat, 32 Dec 2025 00:00:00 GMT", None), ("Thu, 01 Jan 99999999 00:00:00 GMT", None),
        ("Mon, 01 Jan 0001 00:00:00 +2359", 0),
    ],
)  # fmt: skip
def test_retry_after_is_parsed(internet: FakeInternet, text: str, seconds: int | None) -> None:
    header = (
        b"HTTP/1.1 429 Slow\r\nContent-Length: 0\r\nRetry-After: " + text.encode() + b"\r\n\r\n"
    )

    result = internet.post(responding(header))

    assert (result.error, result.retry_after) == ("responded with status 429", seconds)


@pytest.mark.parametrize(
    ("status", "counts"), [(429, True), (503, True), (200, False), (500, False)]
)
def test_retry_after_with_a_date_is_relative_to_now(
    internet: FakeInternet,
    clock: Clock,
    status: int,
    counts: bool,  # noqa: FBT001
) -> None:
    clock.freeze()
    date = formatdate(clock.time() + 90, usegmt=True)

    result = internet.post(responding(answer(f"{status} Odd", f"Retry-After: {date}")))

    assert result.retry_after in ({89, 90} if counts else {None})


def test_response_text_has_the_first_1024_bytes_without_control_characters(
    internet: FakeInternet,
) -> None:
    body = b"\xff\x00a\x1b[31m\r\n\tb\x7f\xc2\x85\xe2\x80\xae" + "\u00fc".encode() + b"." * 5000

    result = internet.post(responding(answer("200 OK", body=body)))

    assert result.response.startswith("\ufffda[31m\n\tb\u00fc....")
    assert result.response.count(".") == 1024 - body.index(b".")
    assert result.error is None


@pytest.mark.parametrize("encoding", ["gzip", "br", "gzip, gzip", "GZIP", "x"])
def test_a_body_with_a_content_encoding_is_not_read(internet: FakeInternet, encoding: str) -> None:
    bomb = gzip.compress(bytes(10_000_000))
    coded = f"Content-Encoding: {encoding}"

    result = internet.post(responding(answer("200 OK", coded, body=bomb)))
    rejected = internet.post(responding(answer("500 Oh", coded, body=bomb)))

    assert (result.status, result.error) == (200, None)
    assert rejected.error == "responded with status 500"
    assert result.response == rejected.response == ""


@pytest.mark.parametrize("size", [65_536, 65_537, 10_000_000])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_success_may_have_a_body_of_which_64_kb_are_read(
    internet: FakeInternet,
    size: int,
    chunked: bool,  # noqa: FBT001
) -> None:
    body = b"." * size
    whole = answer("200 OK", body=body)
    pieces = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"3;x=y\r\n...\r\n%x\r\n%b\r\n0\r\nTrailer: x\r\n\r\n" % (size - 3, body[3:])
    )

    result = internet.post(responding(pieces if chunked else whole))

    assert (result.status, result.error) == (200, None)
    assert result.response == "." * 1024


def reset(connection: socket.socket) -> None:
    read_request(connection)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


@pytest.mark.parametrize(
    "handler",
    [
        lambda _: None,
        reset,
        responding(b""),
        responding(b"HTTP/1.1 2"),
        responding(b"HTTP/1.1 200 OK\r\n"),
        responding(b"HTTP/1.1 200 OK\r\nServer: x"),
        responding(b"HTTP/1.1 200 OK\r\nServer: x\r\n"),
        responding(b"HTTP/1.1 100 Continue\r\n\r\n"),
        responding(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"),
        responding(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"),
        responding(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
        responding(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf"),
        responding(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"),
        responding(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n0\r\n"),
    ],
)
def test_a_truncated_response_is_a_failure(
    internet: FakeInternet, handler: ConnectionHandler
) -> None:
    result = internet.post(handler)

    assert result.error == "the endpoint closed the connection early"
    assert result.response in {"", "half"}


@pytest.mark.parametrize(
    "text",
    [
        b"\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"220 smtp.example.com ESMTP\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 20\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 OK\r\n\r\n",
        b"HTTP/1.1 " + b"9" * 5000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 101 + b"\r\n",
        b"HTTP/1.1 200 OK\r\na: " + b"b" * 65536 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\nab",
    ],
)
def test_an_invalid_http_response_is_a_failure(internet: FakeInternet, text: bytes) -> None:
    result = internet.post(responding(text))

    assert (result.status, result.error) == (None, "the response is not valid HTTP")


@pytest.mark.parametrize(
    ("host", "days", "error"),
    [
        ("www.example.com", (-1, 1), f"the certificate is not valid for {HOST}"),
        ("example.com", (-1, 1), f"the certificate is not valid for {HOST}"),
        ("*.hooks.example.com", (-1, 1), f"the certificate is not valid for {HOST}"),
        (HOST, (-2, -1), "the certificate has expired"),
        (HOST, (1, 2), "the certificate is not valid yet"),
    ],
)
def test_a_certificate_of_another_host_or_date_is_rejected(
    internet: FakeInternet, host: str, days: tuple[int, int], error: str
) -> None:
    received = []

    def handle(connection: socket.socket) -> None:
        received.append(connection.recv(1))

    with serving(handle, internet.authority.server(host, days=days)) as endpoint:
        internet.ports[ADDRESS] = endpoint.port
        result = post(URL)

    assert (result.status, result.error) == (None, error)
    assert b"".join(received) == b""


def test_a_wildcard_certificate_is_accepted(internet: FakeInternet) -> None:
    with internet.endpoint(responding(answer("200 OK")), certified="*.example.com"):
        assert post(URL).error is None


def test_a_certificate_of_an_untrusted_authority_is_rejected(
    internet: FakeInternet, tmp_path_factory: pytest.TempPathFactory
) -> None:
    unknown = CertificateAuthority("unknown", tmp_path_factory.mktemp("unknown"))
    errors = []
    for tls in (unknown.server(HOST), unknown.self_signed_server(HOST)):
        with serving(responding(answer("200 OK")), tls) as endpoint:
            internet.ports[ADDRESS] = endpoint.port
            errors.append(post(URL).error)

    assert errors == [
        "the certificate is not from a trusted authority, or intermediate certificates are missing",
        "the certificate is self-signed",
    ]


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1:DeprecationWarning")
def test_tls_below_1_2_is_rejected(internet: FakeInternet) -> None:
    old = internet.authority.server(HOST)
    old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    old.set_ciphers("ALL:@SECLEVEL=0")

    with serving(responding(answer("200 OK")), old) as endpoint:
        internet.ports[ADDRESS] = endpoint.port
        assert post(URL).error == "the TLS connection failed"


def test_a_server_without_tls_is_rejected(internet: FakeInternet) -> None:
    def handle(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(answer("400 Bad Request"))

    with serving(handle) as endpoint:
        internet.ports[ADDRESS] = endpoint.port
        assert post(URL).error == "the TLS connection failed"


def test_response_data_is_not_written_to_the_service_log(
    internet: FakeInternet, caplog: pytest.LogCaptureFixture
) -> None:
    odd = answer("200 OK", "Transfer-Encoding: chunked", "no header", ": x", body=b"0\r\n\r\n")

    with caplog.at_level(logging.DEBUG):
        internet.post(responding(odd))

    assert caplog.messages == []


LINES = st.sampled_from(
    [
        b"HTTP/1.1 200 OK\r\n", b"HTTP/1.0 503\r\n", b"HTTP/1.1 100 Continue\r\n\r\n", b"\r\n",
        b"\n", b"Content-Length: 3\r\n", b"Content-Length: -1\r\n", b"Retry-After: ",
        b"Content-Encoding: ", b"Transfer-Encoding: chunked\r\n", b"Connection: keep-alive\r\n",
        b"Transfer-Encoding: gzip, chunked\r\n", b" folded\r\n", b"3\r\nabc\r\n", b"0\r\n",
        b"-1\r\n", b"ffffffffffffffffffff\r\n",
    ]
)  # fmt: skip


@settings(max_examples=300)
@given(st.lists(LINES | st.binary(max_size=9), max_size=12).map(b"".join))
def test_no_response_raises_an_error(text: bytes) -> None:
    ours, theirs = socket.socketpair()
    with pytest.MonkeyPatch.context() as patch, theirs:
        patch.setattr(http_client, "_connect_to_address", lambda *_: ours)
        theirs.sendall(text)
        theirs.shutdown(socket.SHUT_WR)
        result = post("http://localhost:1", localhost=True)

    assert result.error is None or result.error in {
        "the endpoint closed the connection early",
        "the response is not valid HTTP",
        "the response has an unsupported Content-Encoding",
        "responded with status 503",
        f"responded with status {result.status}",
    }
    assert result.error or result.status == 200
