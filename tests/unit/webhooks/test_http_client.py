"""One attempt to deliver: what arrives, what counts as success, and why it failed."""

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
from tests.clock import Clock
from tests.unit.webhooks.certificates import CertificateAuthority
from tests.unit.webhooks.fake_internet import ADDRESS, HOST, URL, FakeInternet
from tests.unit.webhooks.loopback_server import ConnectionHandler, read_request, responding, serving

post = partial(post_event, body=b"{}", headers={}, seconds=5.0)


def answer(status: str, *headers: str, body: bytes = b"") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def test_an_event_arrives_as_it_was_sent(internet: FakeInternet) -> None:
    requests = []

    def receive(connection: socket.socket) -> None:
        requests.append(read_request(connection))
        connection.sendall(answer("200 OK", body=b"thanks"))

    with internet.endpoint(receive) as endpoint:
        outcome = post_event(URL, b'{"id": "evt_1"}', {"X-Service-Signature": "t=1,v1=ab"})

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
    assert outcome == AttemptResult(outcome.milliseconds, status=200, response="thanks")


def test_the_other_port_is_named_to_the_endpoint(internet: FakeInternet) -> None:
    heads = []

    def receive(connection: socket.socket) -> None:
        heads.append(read_request(connection)[0])
        connection.sendall(answer("204 No Content"))

    with internet.endpoint(receive):
        outcome = post(f"https://{HOST}:8443")

    assert outcome.status == 204
    assert outcome.error is None
    assert internet.connections == [(ADDRESS, 8443)]
    assert heads[0].startswith(b"POST / HTTP/1.1\r\n")
    assert b"\r\nHost: hooks.example.com:8443\r\n" in heads[0]


def test_the_local_run_delivers_to_this_machine() -> None:
    with serving(responding(answer("200 OK", body=b"seen"))) as endpoint:
        outcome = post(f"http://localhost:{endpoint.port}/in", localhost=True)

    assert (outcome.status, outcome.error, outcome.response) == (200, None, "seen")


def test_elsewhere_this_machine_is_refused() -> None:
    with serving(responding(answer("200 OK"))) as endpoint:
        outcome = post(f"http://localhost:{endpoint.port}/in")

    assert outcome == AttemptResult(0, error="must start with https://")
    assert endpoint.connections == 0


@pytest.mark.parametrize("status", ["200 OK", "201 Created", "202", "204 No Content", "299 Odd"])
def test_every_status_that_says_yes_succeeds(internet: FakeInternet, status: str) -> None:
    outcome = internet.post(responding(answer(status)))

    assert (outcome.status, outcome.error) == (int(status[:3]), None)


@pytest.mark.parametrize(
    "status", [101, 199, 400, 401, 404, 410, 413, 429, 500, 502, 503, 504, 599, 600, 999]
)
def test_every_other_status_fails_and_is_named(internet: FakeInternet, status: int) -> None:
    outcome = internet.post(responding(answer(f"{status} Odd", body=b"reason")))

    assert (outcome.status, outcome.error) == (status, f"responded with status {status}")
    assert outcome.response == ("" if status < 200 else "reason")


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 307, 308])
@pytest.mark.parametrize("location", ["http://169.254.169.254/latest/meta-data/", URL, "/other"])
def test_a_redirect_is_not_followed(internet: FakeInternet, status: int, location: str) -> None:
    behaviour = responding(answer(f"{status} Over There", f"Location: {location}"))

    with internet.endpoint(behaviour) as endpoint:
        outcome = post(URL)

    assert (outcome.status, outcome.error) == (status, f"responded with a redirect ({status})")
    assert endpoint.connections == 1
    assert internet.connections == [(ADDRESS, 443)]
    assert internet.resolver.queries == [(HOST, 443)]


@pytest.mark.parametrize(
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
def test_an_endpoint_may_ask_for_patience(
    internet: FakeInternet, text: str, seconds: int | None
) -> None:
    header = (
        b"HTTP/1.1 429 Slow\r\nContent-Length: 0\r\nRetry-After: " + text.encode() + b"\r\n\r\n"
    )

    outcome = internet.post(responding(header))

    assert (outcome.error, outcome.retry_after) == ("responded with status 429", seconds)


@pytest.mark.parametrize(
    ("status", "counts"), [(429, True), (503, True), (200, False), (500, False)]
)
def test_patience_until_a_date_counts_from_now(
    internet: FakeInternet,
    clock: Clock,
    status: int,
    counts: bool,  # noqa: FBT001
) -> None:
    clock.freeze()
    date = formatdate(clock.time() + 90, usegmt=True)

    outcome = internet.post(responding(answer(f"{status} Odd", f"Retry-After: {date}")))

    assert outcome.retry_after in ({89, 90} if counts else {None})


def test_the_log_keeps_the_beginning_of_an_answer(internet: FakeInternet) -> None:
    body = b"\xff\x00a\x1b[31m\r\n\tb\x7f\xc2\x85\xe2\x80\xae" + "\u00fc".encode() + b"." * 5000

    outcome = internet.post(responding(answer("200 OK", body=body)))

    assert outcome.response.startswith("\ufffda[31m\n\tb\u00fc....")
    assert outcome.response.count(".") == 1024 - body.index(b".")
    assert outcome.error is None


@pytest.mark.parametrize("encoding", ["gzip", "br", "gzip, gzip", "GZIP", "x"])
def test_an_encoded_answer_is_not_unpacked(internet: FakeInternet, encoding: str) -> None:
    bomb = gzip.compress(bytes(10_000_000))
    coded = f"Content-Encoding: {encoding}"

    outcome = internet.post(responding(answer("200 OK", coded, body=bomb)))
    refusal = internet.post(responding(answer("500 Oh", coded, body=bomb)))

    assert outcome.error == "the response has an unsupported Content-Encoding"
    assert refusal.error == "responded with status 500"
    assert outcome.response == refusal.response == ""


@pytest.mark.parametrize(
    ("size", "error"), [(65536, None), (65537, "the response is larger than 64 kB")]
)
@pytest.mark.parametrize("chunked", [False, True])
def test_an_answer_has_at_most_64_kb(
    internet: FakeInternet,
    size: int,
    error: str | None,
    chunked: bool,  # noqa: FBT001
) -> None:
    body = b"." * size
    whole = answer("200 OK", body=body)
    pieces = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"3;x=y\r\n...\r\n%x\r\n%b\r\n0\r\nTrailer: x\r\n\r\n" % (size - 3, body[3:])
    )

    outcome = internet.post(responding(pieces if chunked else whole))

    assert (outcome.status, outcome.error) == (200, error)
    assert outcome.response == "." * 1024


def reset(connection: socket.socket) -> None:
    read_request(connection)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


@pytest.mark.parametrize(
    "behaviour",
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
def test_an_endpoint_that_closes_early_has_not_answered(
    internet: FakeInternet, behaviour: ConnectionHandler
) -> None:
    outcome = internet.post(behaviour)

    assert outcome.error == "the endpoint closed the connection early"
    assert outcome.response in {"", "half"}


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
def test_what_is_no_http_is_no_answer(internet: FakeInternet, text: bytes) -> None:
    outcome = internet.post(responding(text))

    assert (outcome.status, outcome.error) == (None, "the response is not valid HTTP")


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
def test_a_certificate_must_be_that_of_the_name(
    internet: FakeInternet, host: str, days: tuple[int, int], error: str
) -> None:
    heard = []

    def receive(connection: socket.socket) -> None:
        heard.append(connection.recv(1))

    with serving(receive, internet.authority.server(host, days=days)) as endpoint:
        internet.ports[ADDRESS] = endpoint.port
        outcome = post(URL)

    assert (outcome.status, outcome.error) == (None, error)
    assert b"".join(heard) == b""


def test_a_certificate_for_all_names_of_a_domain_is_good(internet: FakeInternet) -> None:
    with internet.endpoint(responding(answer("200 OK")), certified="*.example.com"):
        assert post(URL).error is None


def test_a_certificate_must_come_from_a_known_authority(
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
def test_old_tls_is_refused(internet: FakeInternet) -> None:
    old = internet.authority.server(HOST)
    old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    old.set_ciphers("ALL:@SECLEVEL=0")

    with serving(responding(answer("200 OK")), old) as endpoint:
        internet.ports[ADDRESS] = endpoint.port
        assert post(URL).error == "the TLS connection failed"


def test_an_endpoint_without_tls_is_refused(internet: FakeInternet) -> None:
    def receive(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(answer("400 Bad Request"))

    with serving(receive) as endpoint:
        internet.ports[ADDRESS] = endpoint.port
        assert post(URL).error == "the TLS connection failed"


def test_nothing_an_endpoint_says_gets_into_the_log_of_the_service(
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
def test_whatever_is_answered_nothing_is_raised(text: bytes) -> None:
    ours, theirs = socket.socketpair()
    with pytest.MonkeyPatch.context() as patch, theirs:
        patch.setattr(http_client, "_connect_to_address", lambda *_: ours)
        theirs.sendall(text)
        theirs.shutdown(socket.SHUT_WR)
        outcome = post("http://localhost:1", localhost=True)

    assert outcome.error is None or outcome.error in {
        "the endpoint closed the connection early",
        "the response is not valid HTTP",
        "the response has an unsupported Content-Encoding",
        "responded with status 503",
        f"responded with status {outcome.status}",
    }
    assert outcome.error or outcome.status == 200
