"""What receivers of webhooks copy: three ways to verify, and a receiver on a real socket."""

import http.client
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import stripe
from standardwebhooks.webhooks import WebhookVerificationError

from examples.webhooks import receiver as program
from examples.webhooks import verify_with_standardwebhooks, verify_with_stripe
from examples.webhooks.receiver import (
    LARGEST_BODY,
    WAITING,
    Arrival,
    Event,
    Inbox,
    Receiver,
    line,
)
from examples.webhooks.verify import BadSignatureError, verify
from shared.webhooks.signatures import new_secret, signature_headers

ROOT = Path(__file__).parents[2]
SECRET, OLD = new_secret(), new_secret()
OWN = "chosen-by-the-receiver"
NOW = 1_700_000_000

type Headers = dict[str, str]
type Verify = Callable[[str, Headers, bytes], Any]


def event(number: int = 1, sequence: int = 1, **data: Any) -> dict[str, Any]:
    """An event as it is delivered."""
    picking = {
        "object": "picking",
        "id": 12,
        "status": "completed",
        "resource_version": sequence,
        "href": "https://api.test/api/v1/pickings/12",
        "attributes": {"doc_num": "SO-açme"},
    }
    return {
        "id": f"evt_{number:032x}",
        "type": "picking.completed",
        "version": 1,
        "created_at": "2026-03-01T12:00:00Z",
        "tenant": "acme",
        "sequence": sequence,
        "data": picking | data,
    }


def written(body: Any) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()


def signed(body: bytes, *secrets: str, age: int = 0) -> Headers:
    at = int(time.time()) - age
    return signature_headers("evt_1", body, secrets or (SECRET,), at)


BODY = written(event())


def by_hand(secret: str, headers: Headers, body: bytes) -> Any:
    return verify(secret, headers.get("X-Service-Signature"), body)


def with_stripe(secret: str, headers: Headers, body: bytes) -> Any:
    return verify_with_stripe.verify(secret, headers.get("X-Service-Signature"), body)


def with_standardwebhooks(secret: str, headers: Headers, body: bytes) -> Any:
    return verify_with_standardwebhooks.verify(secret, headers, body)


WAYS: list[tuple[Verify, type[Exception]]] = [
    (by_hand, BadSignatureError),
    (with_stripe, stripe.SignatureVerificationError),
    (with_standardwebhooks, WebhookVerificationError),
]
each_way = pytest.mark.parametrize(("way", "refusal"), WAYS)


@each_way
def test_a_delivery_is_verified(way: Verify, refusal: type[Exception]) -> None:
    assert way(SECRET, signed(BODY), BODY) == event()
    assert way(SECRET, signed(BODY, SECRET, OLD), BODY) == event()
    assert way(OLD, signed(BODY, SECRET, OLD), BODY) == event()
    with pytest.raises(refusal):
        way(OLD, signed(BODY, SECRET), BODY)


@pytest.mark.parametrize("way", [by_hand, with_stripe])
def test_a_secret_of_ones_own_verifies(way: Verify) -> None:
    assert way(OWN, signed(BODY, OWN), BODY) == event()


@each_way
@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (signed(BODY), BODY + b" "),
        (signed(BODY), BODY.replace(b"12", b"13")),
        (signed(BODY, OLD), BODY),
        (signed(BODY, age=310), BODY),
        ({}, BODY),
    ],
    ids=["longer", "changed", "another secret", "too old", "unsigned"],
)
def test_what_is_not_right_is_refused(
    headers: Headers, body: bytes, way: Verify, refusal: type[Exception]
) -> None:
    with pytest.raises(refusal):
        way(SECRET, headers, body)


@each_way
@pytest.mark.parametrize("value", ["", ",", "v1", "v1,", "=", "t=1", "t=é,v1=é", "v1,é", "t=9e9"])
def test_headers_that_say_nothing_are_refused(
    value: str, way: Verify, refusal: type[Exception]
) -> None:
    headers = dict.fromkeys(signed(BODY), value)
    for name in headers:
        for mixed in (headers, signed(BODY) | {name: value}):
            if name.startswith("webhook-") == (way is with_standardwebhooks):
                with pytest.raises(refusal):
                    way(SECRET, mixed, BODY)


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (None, "no header"),
        ("v1=00", "must look like"),
        (f"t={NOW}", "must look like"),
        (f"t={NOW},v0=00", "must look like"),
        (f"t={NOW},t={NOW},v1=00", "must look like"),
        ("t=٣,v1=00", "no Unix time"),
        ("t=-1,v1=00", "no Unix time"),
        (f"t={'9' * 5000},v1=00", "no Unix time"),
        (f"t={NOW},v1=00", "neither this body nor this secret"),
        (f"t={NOW},v1=é\udc80", "neither this body nor this secret"),
    ],
)
def test_a_refusal_says_why(header: str | None, reason: str) -> None:
    with pytest.raises(BadSignatureError, match=reason):
        verify(SECRET, header, BODY, now=NOW)


@pytest.mark.parametrize("off", [-300, 300])
def test_clocks_may_be_five_minutes_apart(off: int) -> None:
    header = signature_headers("evt_1", BODY, [SECRET], NOW)["X-Service-Signature"]
    assert verify(SECRET, header, BODY, now=NOW + off) == event()
    with pytest.raises(BadSignatureError, match="too old, or one of the clocks"):
        verify(SECRET, header, BODY, now=NOW + off + (off > 0) - (off < 0))


# -- the receiver ------------------------------------------------------------------------------


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
    return send(receiver, body, signed(body)).status


def arrived(receiver: Receiver) -> Arrival:
    """What came next."""
    return receiver.arrivals.get(timeout=10)


def test_an_event_is_taken_and_answered(receiver: Receiver) -> None:
    answer = send(receiver, BODY, signed(BODY))
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
    ("body", "headers", "status", "reason"),
    [
        (BODY, {}, 401, "no header"),
        (BODY, signed(BODY, OLD), 401, "neither this body"),
        (BODY + b" ", signed(BODY), 401, "neither this body"),
        (BODY, signed(BODY, age=310), 401, "too old"),
        (b"<xml/>", signed(b"<xml/>"), 400, "Expecting value"),
        (b"\xff", signed(b"\xff"), 400, "decode"),
        (b"[" * 50_000, signed(b"[" * 50_000), 400, ""),
        (b"", signed(b""), 400, "Expecting value"),
        (b"[]", signed(b"[]"), 400, "no event"),
        (b"null", signed(b"null"), 400, "no event"),
        (b'{"id": "evt_1"}', signed(b'{"id": "evt_1"}'), 400, "no event"),
    ],
)
def test_bad_input_is_refused_with_a_reason(
    body: bytes, headers: Headers, status: int, reason: str, receiver: Receiver
) -> None:
    answer = send(receiver, body, headers)
    assert answer.status == status
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
    answer = send(receiver, BODY, signed(BODY))
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
    words = ["new", "picking.completed", "picking", "12", "?[2J?done", "#1", event()["id"]]
    assert told.split() == words


# -- as a program ------------------------------------------------------------------------------


def command(*arguments: str, secret: str = SECRET) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-S", "-m", program.__name__, *arguments],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "STOWAGE_WEBHOOK_SECRET": secret},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_the_program_tells_what_arrives_until_it_is_ended(end: signal.Signals) -> None:
    with command("--port", "0") as running:
        assert running.stdout is not None
        port = int(running.stdout.readline().partition("127.0.0.1:")[2].partition(";")[0])
        bodies = [written(event()), written(event()), b"{}"]
        for body in bodies:
            line = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            line.request("POST", "/", body, signed(body))
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
