"""The receiver of webhooks that integrators copy, on a real socket."""

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
    LARGEST_BODY,
    WAITING,
    Arrival,
    Event,
    Inbox,
    Receiver,
    line,
)
from shared.integration.webhooks.signatures import new_secret
from tests.deliveries import Headers, event, signed, written
from tests.subprocesses import python

SECRET = new_secret()
BODY = written(event())


@pytest.fixture(scope="module")
def listening() -> Iterator[Receiver]:
    """A receiver that listens on some port."""
    receiver = Receiver(0, SECRET)
    with receiver.serving():
        yield receiver


@pytest.fixture
def receiver(listening: Receiver) -> Receiver:
    """The receiver, to which nothing has come yet."""
    listening.arrivals = queue.Queue(WAITING)
    return listening


def send(
    receiver: Receiver, body: bytes = b"", headers: Headers | None = None, method: str = "POST"
) -> http.client.HTTPResponse:
    line = http.client.HTTPConnection("127.0.0.1", receiver.server_port, timeout=10)
    line.request(method, "/", body, headers or {})
    answer = line.getresponse()
    answer.msg["Text"] = answer.read().decode()
    line.close()
    return answer


def deliver(receiver: Receiver, told: dict[str, Any]) -> int:
    body = written(told)
    return send(receiver, body, signed(body, SECRET)).status


def arrived(receiver: Receiver) -> Arrival:
    """What came next."""
    return receiver.arrivals.get(timeout=10)


def test_an_event_is_taken_and_answered(receiver: Receiver) -> None:
    answer = send(receiver, BODY, signed(BODY, SECRET))
    assert answer.status == 204
    assert arrived(receiver).event == Event.read(event())


def test_an_event_without_attributes_or_status_is_taken(receiver: Receiver) -> None:
    assert deliver(receiver, event(attributes=None, status=None) | {"new": "field"}) == 204
    taken = arrived(receiver).event
    assert taken is not None
    assert (taken.attributes, taken.status) == (None, None)


def test_repeats_and_late_ones_are_told_apart(receiver: Receiver) -> None:
    inbox = Inbox()
    sent = [
        (event(1, 5), "new"),
        (event(1, 5), "repeated"),
        (event(3, 8), "new"),
        (event(2, 7), "late"),
        (event(2, 7), "repeated"),
        (event(4, 8), "new"),  # two events of one change
        (event(5, 1, id=13), "new"),
        (event(6, 1, object="receipt"), "new"),
    ]
    for told, verdict in sent:
        assert deliver(receiver, told) == 204
        assert inbox.judge(arrived(receiver)) == verdict


def test_all_arrive_when_many_are_sent_at_once(receiver: Receiver) -> None:
    sent = [event(number % 20, number % 20) for number in range(60)]
    with ThreadPoolExecutor(12) as pool:
        assert set(pool.map(lambda told: deliver(receiver, told), sent)) == {204}
    inbox = Inbox()
    verdicts = [inbox.judge(arrived(receiver)) for _ in sent]
    assert verdicts.count("repeated") == 40
    assert "refused" not in verdicts


def test_memory_is_bounded() -> None:
    inbox = Inbox(remembered=3)
    for number in range(100):
        assert inbox.judge(Arrival(Event.read(event(number, id=number)))) == "new"
    assert inbox.judge(Arrival(Event.read(event(99, id=99)))) == "repeated"
    assert inbox.judge(Arrival(Event.read(event(0, id=0)))) == "new"
    assert (len(inbox._seen), len(inbox._newest)) == (3, 3)


def test_a_resource_that_is_busy_is_not_forgotten() -> None:
    inbox = Inbox(remembered=2)
    for number in range(2, 20):
        inbox.judge(Arrival(Event.read(event(2 * number, number, id=1))))
        inbox.judge(Arrival(Event.read(event(2 * number + 1, id=number))))
    assert inbox.judge(Arrival(Event.read(event(99, 5, id=1)))) == "late"


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        (Headers, "no header"),
        (lambda: signed(BODY, new_secret()), "neither this body"),
        (lambda: signed(BODY + b" ", SECRET), "neither this body"),
        (lambda: signed(BODY, SECRET, age=310), "too old"),
    ],
    ids=["unsigned", "another secret", "changed", "too old"],
)
def test_what_is_not_right_is_refused(
    headers: Callable[[], Headers], reason: str, receiver: Receiver
) -> None:
    answer = send(receiver, BODY, headers())
    assert answer.status == 401
    assert reason in arrived(receiver).reason


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"<xml/>", "Expecting value"),
        (b"\xff", "decode"),
        (b"[" * 50_000, "recursion"),
        (b"", "Expecting value"),
        (b"[]", "no event"),
        (b"null", "no event"),
        (b'{"id": "evt_1"}', "no event"),
    ],
    ids=["XML", "no UTF-8", "deep", "nothing", "list", "null", "half"],
)
def test_what_is_no_event_is_refused(body: bytes, reason: str, receiver: Receiver) -> None:
    answer = send(receiver, body, signed(body, SECRET))
    assert answer.status == 400
    refused = arrived(receiver)
    assert refused.event is None
    assert reason in refused.reason
    assert answer.msg["Text"].strip() == refused.reason


@pytest.mark.parametrize(
    "change",
    [
        {"id": 7},
        {"type": None},
        {"sequence": "1"},
        {"sequence": 1.5},
        {"data": []},
        {"data": event()["data"] | {"id": []}},
        {"data": event()["data"] | {"status": 1}},
        {"data": event()["data"] | {"attributes": "x"}},
    ],
)
def test_an_event_of_another_shape_is_refused(change: dict[str, Any], receiver: Receiver) -> None:
    assert deliver(receiver, event() | change) == 400
    assert "no event" in arrived(receiver).reason


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE"])
def test_other_methods_are_refused(method: str, receiver: Receiver) -> None:
    answer = send(receiver, method=method)
    assert answer.status == 405
    assert answer.msg["Allow"] == "POST"
    assert arrived(receiver).event is None


def raw(receiver: Receiver, request: bytes) -> bytes:
    """What is answered to bytes that need be no HTTP."""
    with socket.create_connection(("127.0.0.1", receiver.server_port), timeout=10) as line:
        line.sendall(request)
        line.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: line.recv(65_536), b""))


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"POST / HTTP/1.1\r\n\r\n", 411),
        (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 411),
        (b"POST / HTTP/1.1\r\nContent-Length: \xb2\r\n\r\n", 411),
        (b"POST / HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", 411),
        (f"POST / HTTP/1.1\r\nContent-Length: {LARGEST_BODY + 1}\r\n\r\n".encode(), 413),
        (b"BREW / HTTP/1.1\r\n\r\n", 501),
        (b"\x16\x03\x01\r\n\r\n", 400),
    ],
    ids=["no length", "below 0", "no digit", "long length", "large", "other method", "TLS"],
)
def test_what_cannot_be_read_is_refused(
    request_: bytes, status: int, receiver: Receiver, capfd: pytest.CaptureFixture[str]
) -> None:
    assert f" {status} ".encode() in raw(receiver, request_)[:500]
    assert deliver(receiver, event()) == 204
    assert capfd.readouterr() == ("", "")


def test_who_hangs_up_early_is_not_answered_and_harms_nobody(
    receiver: Receiver, capfd: pytest.CaptureFixture[str]
) -> None:
    assert raw(receiver, b"POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\nhalf") == b""
    assert deliver(receiver, event()) == 204
    assert arrived(receiver).event is not None
    assert capfd.readouterr() == ("", "")


def test_a_connection_that_breaks_is_a_line_and_no_traceback(
    receiver: Receiver, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.create_connection(("127.0.0.1", receiver.server_port), timeout=10) as line:
        line.sendall(b"POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\nhalf")
        # closed with a reset
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    assert "the connection broke" in arrived(receiver).reason
    assert capfd.readouterr() == ("", "")


def test_when_too_much_waits_the_sender_is_asked_to_come_again(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receiver.arrivals, "maxsize", 1)
    assert deliver(receiver, event(1)) == 204
    answer = send(receiver, BODY, signed(BODY, SECRET))
    assert (answer.status, answer.msg["Retry-After"]) == (503, "5")
    assert Inbox().judge(arrived(receiver)) == "new"
    assert deliver(receiver, event(1)) == 204


def test_it_listens_on_this_machine_alone(receiver: Receiver) -> None:
    assert receiver.server_address == ("127.0.0.1", receiver.server_port)
    with pytest.raises(OSError, match="in use"):
        Receiver(receiver.server_port, SECRET)


def test_a_line_has_no_controls() -> None:
    told = line("new", Arrival(Event.read(event(status="\x1b[2J\ndone"))))
    assert told.isprintable()
    words = ["new", "picking.completed", "picking", "12", "?[2J?done", "#1"]
    words += [event()["created_at"], event()["id"]]
    assert told.split() == words


# -- as a program ------------------------------------------------------------------------------


def command(*arguments: str, secret: str = SECRET) -> AbstractContextManager[Popen[str]]:
    """The program, with nothing but the standard library."""
    return python("-S", "-m", program.__name__, *arguments, STOWAGE_WEBHOOK_SECRET=secret)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_the_program_tells_what_arrives_until_it_is_ended(end: signal.Signals) -> None:
    with command("--port", "0") as running:
        assert running.stdout is not None
        port = int(running.stdout.readline().partition("127.0.0.1:")[2].partition(";")[0])
        bodies = [written(event()), written(event()), b"{}"]
        for body in bodies:
            line = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            line.request("POST", "/", body, signed(body, SECRET))
            line.getresponse().read()
            line.close()
        told = [running.stdout.readline().split()[0] for _ in bodies]
        running.send_signal(end)
        rest = running.communicate(timeout=10)
    assert told == ["new", "repeated", "refused"]
    assert (rest, running.returncode) == (("", ""), 0)


def test_the_program_says_what_it_lacks(receiver: Receiver) -> None:
    with command(secret="") as running:
        assert "set STOWAGE_WEBHOOK_SECRET" in running.communicate(timeout=10)[1]
    with command("--port", str(receiver.server_port)) as running:
        assert "in use" in running.communicate(timeout=10)[1]
    with command("--port", "99999") as running:
        assert "port 99999" in running.communicate(timeout=10)[1]
    with command("--help") as running:
        assert "8787" in running.communicate(timeout=10)[0]
    assert running.returncode == 0
