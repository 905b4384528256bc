"""`make listen`, against the routes that it needs: subscribed while it runs, and no longer."""

import http.client
import io
import json
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from subprocess import Popen
from typing import Any

import httpx
import pytest
from rich.console import Console

from examples.webhooks.receiver import Receiver
from local.listen import _subscribed, find_tenant, listen
from local.server import LocalRunFailed
from shared.integration.webhooks.signatures import new_secret
from shared.kernel.events.kinds import EVENT_KINDS
from tests.deliveries import event, signed, written
from tests.subprocesses import python


class Service(ThreadingHTTPServer):
    """The routes that listening needs."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Request)
        self.subscriptions: dict[int, dict[str, Any]] = {}
        self.seen: list[dict[str, Any]] = []
        self.refusal: tuple[int, str] | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/api/v1"

    def answer(self, call: str, number: int, body: Any) -> tuple[int, Any]:
        if call == "POST /oauth/token":
            return 200, {"access_token": "t", "token_type": "Bearer", "expires_in": 3600}
        if self.refusal:
            status, code = self.refusal
            return status, {"error": {"code": code, "message": f"says {code}"}, "errors": []}
        if call == "GET /webhooks":
            return 200, {"data": list(self.subscriptions.values()), "links": {"next": None}}
        if call == "POST /webhooks":
            made = {"id": 7, "secret": "whsec_made_by_the_service", **body}
            self.subscriptions[7] = made
            self.seen.append(made)
            return 201, {"data": made}
        if call == "DELETE /webhooks" and number in self.subscriptions:
            return 200, {"data": self.subscriptions.pop(number)}
        return 404, {"error": {"code": "not_found", "message": "not here"}, "errors": []}


class _Request(BaseHTTPRequestHandler):
    server: Service

    def _take(self) -> None:
        path, _, number = self.path.removeprefix("/api/v1").partition("/webhooks/")
        path = path.partition("?")[0] or "/webhooks"
        sent = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        body = json.loads(sent) if sent.startswith(b"{") else None
        status, answer = self.server.answer(f"{self.command} {path}", int(number or 0), body)
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_DELETE = _take  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep quiet."""


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as service:
        threading.Thread(target=service.serve_forever, args=(0.02,), daemon=True).start()
        yield service
        service.shutdown()


@pytest.fixture
def stack(service: Service, tmp_path: Path) -> Path:
    """The file that the local stack writes."""
    path = tmp_path / "stack.json"
    tenant = {"base_url": service.base_url, "client_id": "c", "client_secret": "s"}
    tenants = {"acme": tenant | {"plan": "enterprise"}, "mini": tenant | {"plan": "essentials"}}
    path.write_text(json.dumps({"base_url": service.base_url, "tenants": tenants}))
    return path


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=200)


def started(stack: Path, *arguments: str) -> AbstractContextManager[Popen[str]]:
    """The program, on some port."""
    program = ["-m", "local.listen", "--stack", str(stack), "--port", "0"]
    return python(*program, *arguments, PYTHONUNBUFFERED="1")


def deliver(url: str, told: dict[str, Any], secret: str) -> int:
    """Send an event to a subscription's address."""
    body = written(told)
    line = http.client.HTTPConnection(httpx.URL(url).netloc.decode(), timeout=10)
    line.request("POST", "/", body, signed(body, secret))
    status = line.getresponse().status
    line.close()
    return status


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_events_are_shown_until_it_is_ended(
    end: signal.Signals, service: Service, stack: Path
) -> None:
    with started(stack) as running:
        assert running.stdout is not None
        assert "Subscription 7 sends every event to http://localhost:" in running.stdout.readline()
        while running.stdout.readline().strip():
            pass
        made = service.subscriptions[7]
        assert made["events"] == list(EVENT_KINDS)
        drum = event(1, 4, attributes={"name": "Drüm \x9b2J"})
        assert deliver(made["url"], drum, made["secret"]) == 204
        assert deliver(made["url"], drum, made["secret"]) == 204
        assert deliver(made["url"], event(2, 3, status="\x1b[2J"), made["secret"]) == 204
        assert deliver(made["url"], event(3), new_secret()) == 401
        told = [running.stdout.readline() for _ in range(5)]
        running.send_signal(end)
        rest, complaints = running.communicate(timeout=20)
    first, attributes, *others = told
    assert first.split()[:5] == ["new", "picking.completed", "picking", "12", "finalized"]
    assert json.loads(attributes) == {"name": "Drüm ?2J"}
    assert [line.split()[0] for line in others] == ["repeated", "late", "refused"]
    assert "\x1b" not in "".join(told)
    assert (rest, complaints, running.returncode) == ("Subscription 7 is deleted.\n", "", 0)
    assert service.subscriptions == {}


def test_what_a_run_left_behind_is_deleted(service: Service, stack: Path, console: Console) -> None:
    receiver = Receiver(0, new_secret())
    url = f"http://localhost:{receiver.server_port}"
    service.subscriptions = {3: {"id": 3, "url": url}, 4: {"id": 4, "url": "https://erp.test"}}
    with (
        httpx.Client() as http,
        _subscribed(find_tenant(stack, "acme").client(http), receiver, console),
    ):
        assert service.subscriptions.keys() == {4, 7}
        assert service.subscriptions[7]["secret"] == receiver.secret
    receiver.server_close()
    assert service.subscriptions.keys() == {4}


def test_a_subscription_that_is_gone_at_the_end_is_no_trouble(
    service: Service, stack: Path, console: Console
) -> None:
    receiver = Receiver(0, new_secret())
    with (
        httpx.Client() as http,
        _subscribed(find_tenant(stack, "acme").client(http), receiver, console),
    ):
        service.subscriptions.clear()
    receiver.server_close()
    assert len(service.seen) == 1


def test_a_stack_that_was_never_started_is_told(tmp_path: Path) -> None:
    with pytest.raises(LocalRunFailed, match="make run"):
        find_tenant(tmp_path / "stack.json", "acme")


def test_an_unknown_tenant_is_told_with_those_there_are(stack: Path) -> None:
    with pytest.raises(LocalRunFailed, match="no tenant nobody; there are acme, mini"):
        find_tenant(stack, "nobody")


def test_a_stack_that_does_not_answer_is_told(
    service: Service, stack: Path, console: Console
) -> None:
    tenant = find_tenant(stack, "acme")
    service.shutdown()
    service.server_close()
    with pytest.raises(LocalRunFailed, match="No stack answers"):
        listen(tenant, 0, console)


def test_a_port_that_is_taken_is_told_before_anything_is_subscribed(
    service: Service, stack: Path, console: Console
) -> None:
    tenant = find_tenant(stack, "acme")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(LocalRunFailed, match=f"Port {port} cannot be used .*in use"):
            listen(tenant, port, console)
    with pytest.raises(LocalRunFailed, match="Port 65536 cannot be used"):
        listen(tenant, 65_536, console)
    assert service.seen == []


def test_a_plan_without_webhooks_is_told(service: Service, stack: Path, console: Console) -> None:
    service.refusal = (402, "feature_not_in_plan")
    with pytest.raises(LocalRunFailed, match=r"plan of mini \(essentials\) has no webhooks"):
        listen(find_tenant(stack, "mini"), 0, console)


@pytest.mark.parametrize("refusal", [(402, "tenant_suspended"), (422, "validation_failed")])
def test_another_refusal_is_told_as_it_is(
    refusal: tuple[int, str], service: Service, stack: Path, console: Console
) -> None:
    service.refusal = refusal
    with pytest.raises(LocalRunFailed, match="refuses: {} {}: says".format(*refusal)):
        listen(find_tenant(stack, "acme"), 0, console)


def test_the_program_ends_with_the_reason(stack: Path) -> None:
    with started(stack, "--tenant", "[red]") as running:
        told, complaints = running.communicate(timeout=20)
    assert told == "There is no tenant [red]; there are acme, mini.\n"
    assert (complaints, running.returncode) == ("", 1)
