"""The example receiver, on a real socket."""

import http.client
import queue
import signal
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from subprocess import Popen
from typing import Any

import pytest

from examples.webhooks import receiver as program
from examples.webhooks.receiver import (
    MAX_BODY_BYTES,
    MAX_QUEUED,
    Inbox,
    ReceivedDelivery,
    Receiver,
    WebhookEvent,
    format_line,
)
from shared.integration.webhooks.signatures import new_secret
from tests.deliveries import Headers, encoded, event_body, signature
from tests.subprocesses import python

SECRET = new_secret()
BODY = encoded(event_body())


@pytest.fixture(scope="module")
def running_receiver() -> Iterator[Receiver]:
    """A running receiver on a free port."""
    receiver = Receiver(0, SECRET)
    with receiver.serving():
        yield receiver


@pytest.fixture
def receiver(running_receiver: Receiver) -> Receiver:
    """The running receiver without deliveries."""
    running_receiver.deliveries = queue.Queue(MAX_QUEUED)
    return running_receiver


def send(
    receiver: Receiver, body: bytes = b"", headers: Headers | None = None, method: str = "POST"
) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", receiver.server_port, timeout=60)
    connection.request(method, "/", body, headers or {})
    answer = connection.getresponse()
    answer.msg["Text"] = answer.read().decode()
    connection.close()
    return answer


def deliver(receiver: Receiver, event: dict[str, Any]) -> int:
    body = encoded(event)
    return send(receiver, body, signature(body, SECRET)).status


def next_delivery(receiver: Receiver) -> ReceivedDelivery:
    """Return the next delivery."""
    return receiver.deliveries.get(timeout=60)


def test_a_valid_event_is_accepted(receiver: Receiver) -> None:
    answer = send(receiver, BODY, signature(BODY, SECRET))
    assert answer.status == 204
    assert next_delivery(receiver).event == WebhookEvent.parse(event_body())


def test_an_event_without_attributes_and_status_is_accepted(receiver: Receiver) -> None:
    assert deliver(receiver, event_body(attributes=None, status=None) | {"new": "field"}) == 204
    taken = next_delivery(receiver).event
    assert taken is not None
    assert (taken.attributes, taken.status) == (None, None)


def test_duplicates_and_late_events_are_distinguished(receiver: Receiver) -> None:
    inbox = Inbox()
    sent = [
        (event_body(1, 5), "new"),
        (event_body(1, 5), "duplicate"),
        (event_body(3, 8), "new"),
        (event_body(2, 7), "late"),
        (event_body(2, 7), "duplicate"),
        (event_body(4, 8), "new"),  # a second event of the same version
        (event_body(5, 1, id=13), "new"),
        (event_body(6, 1, object="receipt"), "new"),
    ]
    for body, expected in sent:
        assert deliver(receiver, body) == 204
        assert inbox.classify(next_delivery(receiver)) == expected


def test_concurrent_deliveries_are_all_accepted(receiver: Receiver) -> None:
    sent = [event_body(number % 20, number % 20) for number in range(60)]
    with ThreadPoolExecutor(12) as pool:
        assert set(pool.map(lambda body: deliver(receiver, body), sent)) == {204}
    inbox = Inbox()
    classes = [inbox.classify(next_delivery(receiver)) for _ in sent]
    assert classes.count("duplicate") == 40
    assert "rejected" not in classes


def test_memory_is_bounded() -> None:
    inbox = Inbox(remembered=3)
    for number in range(100):
        assert (
            inbox.classify(ReceivedDelivery(WebhookEvent.parse(event_body(number, id=number))))
            == "new"
        )
    assert (
        inbox.classify(ReceivedDelivery(WebhookEvent.parse(event_body(99, id=99)))) == "duplicate"
    )
    assert inbox.classify(ReceivedDelivery(WebhookEvent.parse(event_body(0, id=0)))) == "new"
    assert (len(inbox._seen), len(inbox._newest)) == (3, 3)


def test_a_resource_with_recent_events_stays_in_memory() -> None:
    inbox = Inbox(remembered=2)
    for number in range(2, 20):
        inbox.classify(ReceivedDelivery(WebhookEvent.parse(event_body(2 * number, number, id=1))))
        inbox.classify(ReceivedDelivery(WebhookEvent.parse(event_body(2 * number + 1, id=number))))
    assert inbox.classify(ReceivedDelivery(WebhookEvent.parse(event_body(99, 5, id=1)))) == "late"


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        (Headers, "header is missing"),
        (lambda: signature(BODY, new_secret()), "does not match the body"),
        (lambda: signature(BODY + b" ", SECRET), "does not match the body"),
        (lambda: signature(BODY, SECRET, age=310), "too old"),
    ],
    ids=["unsigned", "another secret", "changed", "too old"],
)
def test_an_invalid_signature_is_rejected(
    headers: Callable[[], Headers], reason: str, receiver: Receiver
) -> None:
    answer = send(receiver, BODY, headers())
    assert answer.status == 401
    assert reason in next_delivery(receiver).reason


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"<xml/>", "Expecting value"),
        (b"\xff", "decode"),
        (b"[" * 50_000, "recursion"),
        (b"", "Expecting value"),
        (b"[]", "not an event"),
        (b"null", "not an event"),
        (b'{"id": "evt_1"}', "not an event"),
    ],
    ids=["XML", "no UTF-8", "deep", "nothing", "list", "null", "half"],
)
def test_a_body_that_is_not_an_event_is_rejected(
    body: bytes, reason: str, receiver: Receiver
) -> None:
    answer = send(receiver, body, signature(body, SECRET))
    assert answer.status == 400
    rejected = next_delivery(receiver)
    assert rejected.event is None
    assert reason in rejected.reason
    assert answer.msg["Text"].strip() == rejected.reason


@pytest.mark.parametrize(
    "change",
    [
        {"id": 7},
        {"type": None},
        {"sequence": "1"},
        {"sequence": 1.5},
        {"data": []},
        {"data": event_body()["data"] | {"id": []}},
        {"data": event_body()["data"] | {"status": 1}},
        {"data": event_body()["data"] | {"attributes": "x"}},
    ],
)
def test_an_event_with_a_wrong_type_is_rejected(change: dict[str, Any], receiver: Receiver) -> None:
    assert deliver(receiver, event_body() | change) == 400
    assert "not an event" in next_delivery(receiver).reason


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE"])
def test_other_methods_are_rejected(method: str, receiver: Receiver) -> None:
    answer = send(receiver, method=method)
    assert answer.status == 405
    assert answer.msg["Allow"] == "POST"
    assert next_delivery(receiver).event is None


def send_bytes(receiver: Receiver, request: bytes) -> bytes:
    """Send bytes, which may not be valid HTTP; return the response."""
    with socket.create_connection(("127.0.0.1", receiver.server_port), timeout=60) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"POST / HTTP/1.1\r\n\r\n", 411),
        (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 411),
        (b"POST / HTTP/1.1\r\nContent-Length: \xb2\r\n\r\n", 411),
        (b"POST / HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", 411),
        (f"POST / HTTP/1.1\r\nContent-Length: {MAX_BODY_BYTES + 1}\r\n\r\n".encode(), 413),
        (b"BREW / HTTP/1.1\r\n\r\n", 501),
        (b"\x16\x03\x01\r\n\r\n", 400),
    ],
    ids=["no length", "below 0", "no digit", "long length", "large", "other method", "TLS"],
)
def test_an_invalid_request_is_rejected(
    request_: bytes, status: int, receiver: Receiver, capfd: pytest.CaptureFixture[str]
) -> None:
    assert f" {status} ".encode() in send_bytes(receiver, request_)[:500]
    assert deliver(receiver, event_body()) == 204
    assert capfd.readouterr() == ("", "")


def test_a_truncated_request_is_ignored(
    receiver: Receiver, capfd: pytest.CaptureFixture[str]
) -> None:
    assert send_bytes(receiver, b"POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\nhalf") == b""
    assert deliver(receiver, event_body()) == 204
    assert next_delivery(receiver).event is not None
    assert capfd.readouterr() == ("", "")


def test_a_broken_connection_is_reported_without_a_traceback(
    receiver: Receiver, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.create_connection(("127.0.0.1", receiver.server_port), timeout=60) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\nhalf")
        # closed with a reset
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    assert "the connection broke" in next_delivery(receiver).reason
    assert capfd.readouterr() == ("", "")


def test_a_full_queue_is_reported_with_503_and_retry_after(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receiver.deliveries, "maxsize", 1)
    assert deliver(receiver, event_body(1)) == 204
    answer = send(receiver, BODY, signature(BODY, SECRET))
    assert (answer.status, answer.msg["Retry-After"]) == (503, "5")
    assert Inbox().classify(next_delivery(receiver)) == "new"
    assert deliver(receiver, event_body(1)) == 204


def test_the_receiver_listens_only_on_loopback(receiver: Receiver) -> None:
    assert receiver.server_address == ("127.0.0.1", receiver.server_port)
    with pytest.raises(OSError, match="in use"):
        Receiver(receiver.server_port, SECRET)


def test_a_printed_line_has_no_control_characters() -> None:
    text = format_line(
        "new", ReceivedDelivery(WebhookEvent.parse(event_body(status="\x1b[2J\ndone")))
    )
    assert text.isprintable()
    words = ["new", "picking.completed", "picking", "12", "?[2J?done", "#1"]
    words += [event_body()["created_at"], event_body()["id"]]
    assert text.split() == words


# -- as a program ------------------------------------------------------------------------------


def command(*arguments: str, secret: str = SECRET) -> AbstractContextManager[Popen[str]]:
    """Start the program."""
    return python("-m", program.__name__, *arguments, STOWAGE_WEBHOOK_SECRET=secret)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_the_program_prints_deliveries_until_it_is_stopped(end: signal.Signals) -> None:
    with command("--port", "0") as running:
        assert running.stdout is not None
        port = int(running.stdout.readline().partition("127.0.0.1:")[2].partition(". ")[0])
        bodies = [encoded(event_body()), encoded(event_body()), b"{}"]
        for body in bodies:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("POST", "/", body, signature(body, SECRET))
            connection.getresponse().read()
            connection.close()
        printed = [running.stdout.readline().split()[0] for _ in bodies]
        running.send_signal(end)
        rest = running.communicate(timeout=60)
    assert printed == ["new", "duplicate", "rejected"]
    assert (rest, running.returncode) == (("", ""), 0)


def test_the_program_reports_wrong_arguments(receiver: Receiver) -> None:
    with command(secret="") as running:
        assert "set STOWAGE_WEBHOOK_SECRET" in running.communicate(timeout=60)[1]
    with command("--port", str(receiver.server_port)) as running:
        assert "in use" in running.communicate(timeout=60)[1]
    with command("--port", "99999") as running:
        assert "port 99999" in running.communicate(timeout=60)[1]
    with command("--help") as running:
        assert "8787" in running.communicate(timeout=60)[0]
    assert running.returncode == 0
