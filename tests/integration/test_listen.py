"""`make listen` against a fake service: it is subscribed only while it runs."""

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
from tests.deliveries import encoded, event_body, signature
from tests.sampling import sampled
from tests.subprocesses import python


class FakeService(ThreadingHTTPServer):
    """A fake service with the routes that `make listen` calls."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Request)
        self.subscriptions: dict[int, dict[str, Any]] = {}
        self.created: list[dict[str, Any]] = []
        self.error: tuple[int, str] | None = None

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, call: str, number: int, body: Any) -> tuple[int, Any]:
        if call in {"GET /_ministack/ready", "POST /oauth/token"}:
            return 200, {"access_token": "t", "token_type": "Bearer", "expires_in": 3600}
        if self.error:
            status, code = self.error
            return status, {"error": {"code": code, "message": f"says {code}"}, "errors": []}
        if call == "GET /webhooks":
            return 200, {"data": list(self.subscriptions.values()), "links": {"next": None}}
        if call == "POST /webhooks":
            webhook = {"id": 7, "secret": "whsec_made_by_the_service", **body}
            self.subscriptions[7] = webhook
            self.created.append(webhook)
            return 201, {"data": webhook}
        if call == "DELETE /webhooks" and number in self.subscriptions:
            return 200, {"data": self.subscriptions.pop(number)}
        return 404, {"error": {"code": "not_found", "message": "not here"}, "errors": []}


class _Request(BaseHTTPRequestHandler):
    server: FakeService

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
        """Log nothing."""


@pytest.fixture
def service() -> Iterator[FakeService]:
    with FakeService() as service:
        threading.Thread(target=service.serve_forever, args=(0.02,), daemon=True).start()
        yield service
        service.shutdown()


@pytest.fixture
def stack(service: FakeService, tmp_path: Path) -> Path:
    """Path of the file that the local stack writes."""
    path = tmp_path / "stack.json"
    base_url = f"{service.endpoint}/api/v1"
    tenant = {"base_url": base_url, "client_id": "c", "client_secret": "s"}
    tenants = {"acme": tenant | {"plan": "enterprise"}, "mini": tenant | {"plan": "essentials"}}
    content = {"endpoint_url": service.endpoint, "import_bucket": "imports", "tenants": tenants}
    path.write_text(json.dumps(content))
    return path


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=200)


def running_program(stack: Path, *arguments: str) -> AbstractContextManager[Popen[str]]:
    """Start the program on a free port."""
    program = ["-m", "local.listen", "--stack", str(stack), "--port", "0"]
    return python(*program, *arguments, PYTHONUNBUFFERED="1")


def deliver(url: str, event: dict[str, Any], secret: str) -> int:
    """Post a signed event to the URL of a subscription; return the status."""
    body = encoded(event)
    connection = http.client.HTTPConnection(httpx.URL(url).netloc.decode(), timeout=60)
    connection.request("POST", "/", body, signature(body, secret))
    status = connection.getresponse().status
    connection.close()
    return status


def test_requests_of_web_pages_are_refused_and_not_printed(
    service: FakeService, stack: Path
) -> None:
    with running_program(stack) as running:
        assert running.stdout is not None
        while running.stdout.readline().strip():
            pass
        url = service.subscriptions[7]["url"]
        for headers in ({"Origin": "https://evil.example"}, {"Host": "evil.example"}):
            assert httpx.post(url, headers=headers, content=b"{}").status_code == 403
        running.terminate()
        rest, _ = running.communicate(timeout=60)
    assert "rejected" not in rest


@pytest.mark.parametrize(
    "end", sampled("signals", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], every=3)
)
def test_events_are_printed_until_a_signal_stops_the_program(
    end: signal.Signals, service: FakeService, stack: Path
) -> None:
    with running_program(stack) as running:
        assert running.stdout is not None
        assert "Subscription 7 sends every event to http://localhost:" in running.stdout.readline()
        while running.stdout.readline().strip():
            pass
        webhook = service.subscriptions[7]
        assert webhook["events"] == list(EVENT_KINDS)
        drum = event_body(1, 4, attributes={"name": "Drüm \x9b2J"})
        assert deliver(webhook["url"], drum, webhook["secret"]) == 204
        assert deliver(webhook["url"], drum, webhook["secret"]) == 204
        assert deliver(webhook["url"], event_body(2, 3, status="\x1b[2J"), webhook["secret"]) == 204
        assert deliver(webhook["url"], event_body(3), new_secret()) == 401
        printed = [running.stdout.readline() for _ in range(5)]
        running.send_signal(end)
        rest, errors = running.communicate(timeout=60)
    first, attributes, *others = printed
    assert first.split()[:5] == ["new", "picking.completed", "picking", "12", "finalized"]
    assert json.loads(attributes) == {"name": "Drüm ?2J"}
    assert [line.split()[0] for line in others] == ["duplicate", "late", "rejected"]
    assert "\x1b" not in "".join(printed)
    assert (rest, errors, running.returncode) == ("Deleted subscription 7.\n", "", 0)
    assert service.subscriptions == {}


def test_a_stale_subscription_to_the_same_url_is_deleted(
    service: FakeService, stack: Path, console: Console
) -> None:
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


def test_a_subscription_deleted_during_the_run_is_no_error(
    service: FakeService, stack: Path, console: Console
) -> None:
    receiver = Receiver(0, new_secret())
    with (
        httpx.Client() as http,
        _subscribed(find_tenant(stack, "acme").client(http), receiver, console),
    ):
        service.subscriptions.clear()
    receiver.server_close()
    assert len(service.created) == 1


def test_a_stack_that_stops_responding_is_reported(
    service: FakeService, stack: Path, console: Console
) -> None:
    tenant = find_tenant(stack, "acme")
    service.shutdown()
    service.server_close()
    with pytest.raises(LocalRunFailed, match="No stack responds"):
        listen(tenant, 0, console)


def test_a_port_in_use_is_reported_before_the_subscription(
    service: FakeService, stack: Path, console: Console
) -> None:
    tenant = find_tenant(stack, "acme")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(LocalRunFailed, match=f"Port {port} cannot be used .*in use"):
            listen(tenant, port, console)
    with pytest.raises(LocalRunFailed, match="Port 65536 cannot be used"):
        listen(tenant, 65_536, console)
    assert service.created == []


def test_a_plan_without_webhooks_is_reported(
    service: FakeService, stack: Path, console: Console
) -> None:
    service.error = (402, "feature_not_in_plan")
    with pytest.raises(LocalRunFailed, match=r"plan of tenant mini \(essentials\) has no webhooks"):
        listen(find_tenant(stack, "mini"), 0, console)


@pytest.mark.parametrize("error", [(402, "tenant_suspended"), (422, "validation_failed")])
def test_other_errors_of_the_service_are_reported(
    error: tuple[int, str], service: FakeService, stack: Path, console: Console
) -> None:
    service.error = error
    with pytest.raises(LocalRunFailed, match="returned an error: {} {}: says".format(*error)):
        listen(find_tenant(stack, "acme"), 0, console)


def test_the_program_prints_the_error_and_exits_with_1(stack: Path) -> None:
    with running_program(stack, "--tenant", "[red]") as running:
        printed, errors = running.communicate(timeout=60)
    assert printed == "Tenant [red] does not exist. Tenants: acme, mini.\n"
    assert (errors, running.returncode) == ("", 1)
