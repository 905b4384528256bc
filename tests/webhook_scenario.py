"""Webhooks as the deployed stack runs them: the outbox's stream, the relay, the worker."""

import json
import socket
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from moto.sqs.models import sqs_backends

from shared.integration.webhooks import delivery
from shared.integration.webhooks.http_client import AttemptResult
from shared.kernel.config import config
from tests import gateway
from tests.gateway import Erp, LambdaContext
from tests.stack import ACCOUNT, REGION, Stack

RELAY = "functions.event_relay.app.lambda_handler"
WORKER = "functions.webhook_worker.app.lambda_handler"
URL = "https://hooks.example.com/stowage"
WORKER_MS = 60_000


@dataclass(frozen=True, slots=True)
class SentRequest:
    """One request that was sent to an endpoint."""

    url: str
    body: bytes
    headers: Mapping[str, str]

    @property
    def event(self) -> dict[str, Any]:
        """The body, parsed."""
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed


type EndpointStub = Callable[[SentRequest], AttemptResult]


def respond_204(_: SentRequest) -> AttemptResult:
    """Answer as an endpoint that is well."""
    return AttemptResult(milliseconds=12, status=204)


def respond_500(_: SentRequest) -> AttemptResult:
    """Answer as an endpoint that is broken."""
    return AttemptResult(
        milliseconds=12, status=500, error="responded with status 500", response="oh no"
    )


@dataclass(slots=True)
class WebhookDesk:
    """Subscribes for a tenant, lets events flow, and stands for the endpoints."""

    stack: Stack
    slug: str = "acme"
    endpoint: EndpointStub = respond_204
    sent: list[SentRequest] = field(default_factory=list)
    _relayed: set[str] = field(default_factory=set)

    @property
    def erp(self) -> Erp:
        """An ERP with every scope."""
        return self.stack.erp(self.slug)

    def subscribe(self, *events: str, url: str = URL, **more: Any) -> dict[str, Any]:
        """Create a subscription; with its secret."""
        body = {"url": url, "events": list(events) or ["product.created"], **more}
        answer = self.erp.post("/webhooks", body)
        assert answer.status == 201, answer.text
        made: dict[str, Any] = answer.data
        return made

    def get(self, number: int) -> dict[str, Any]:
        """Read a subscription."""
        answer = self.erp.get(f"/webhooks/{number}")
        assert answer.status == 200, answer.text
        shown: dict[str, Any] = answer.data
        return shown

    def deliveries(self, number: int, **parameters: object) -> list[dict[str, Any]]:
        """Read the log of a subscription, the newest first."""
        query = "&".join(f"{name}={value}" for name, value in parameters.items())
        answer = self.erp.get(f"/webhooks/{number}/deliveries?{query}")
        assert answer.status == 200, answer.text
        rows: list[dict[str, Any]] = answer.data
        return rows

    def happen(self, number: int = 1) -> dict[str, Any]:
        """Let something happen: a product is created."""
        answer = self.erp.post("/products", {"item_code": f"P-{number}", "name": "A product"})
        assert answer.status == 201, answer.text
        product: dict[str, Any] = answer.data
        return product

    # The stream

    def stream(self) -> dict[str, Any]:
        """Return what the outbox's stream has brought since the last time."""
        fresh = [
            event for event in self.stack.events(self.slug) if event["SK"]["S"] not in self._relayed
        ]
        self._relayed |= {event["SK"]["S"] for event in fresh}
        return stream_of(fresh)

    def relay(self) -> list[str]:
        """Let the relay work on what is new; the records that failed."""
        batch = self.stream()
        if not batch["Records"]:
            return []
        return failures(gateway._function(RELAY)(batch, LambdaContext()))

    # The queues

    def messages(self) -> list[dict[str, Any]]:
        """Every message that waits, delayed ones included, as it was sent."""
        return [json.loads(message.body) for queue in self._queues() for message in queue._messages]

    def message_delays(self) -> list[int]:
        """Seconds for which the messages wait that wait."""
        return [
            max(0, int(message.delayed_until - message.sent_timestamp) // 1000)
            for queue in self._queues()
            for message in queue._messages
        ]

    def take(self) -> list[dict[str, Any]]:
        """Take every message out of the queues, whether its delay is over or not."""
        bodies = self.messages()
        for queue in self._queues():
            queue._messages.clear()
        return bodies

    def work(self, *bodies: Mapping[str, Any], receives: int = 1) -> list[str]:
        """Give the worker one batch; the messages that failed."""
        records = [
            {
                "messageId": f"m{number}",
                "body": json.dumps(body),
                "attributes": {"ApproximateReceiveCount": str(receives)},
            }
            for number, body in enumerate(bodies)
        ]
        answer = gateway._function(WORKER)({"Records": records}, LambdaContext(WORKER_MS))
        return sorted(failures(answer))

    def run_until_idle(self) -> None:
        """Let relay and worker work until nothing is left to do, whatever its time."""
        while True:
            assert self.relay() == []
            bodies = self.take()
            if not bodies:
                return
            for body in bodies:
                assert self.work({**body, "due": 0}) == []

    def _queues(self) -> list[Any]:
        queues = sqs_backends[ACCOUNT][REGION].queues
        names = (config().webhook_queue, config().webhook_slow_queue)
        return [queues[name.rpartition("/")[2]] for name in names]


def stream_of(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Write entries of the outbox as its stream brings them to a function."""
    return {
        "Records": [
            {
                "eventName": "INSERT",
                "eventSource": "aws:dynamodb",
                "dynamodb": {"SequenceNumber": str(number), "NewImage": event},
            }
            for number, event in enumerate(events, 1)
        ]
    }


def run_relay(batch: Mapping[str, Any]) -> list[str]:
    """Give the relay one batch of the stream; the records that failed."""
    return failures(gateway._function(RELAY)(batch, LambdaContext()))


def failures(answer: Mapping[str, Any]) -> list[str]:
    """Read which records or messages of a batch have failed."""
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


class InlineExecutor(Executor):
    """Runs each call in the caller's thread, so that a test controls the order of all calls."""

    def submit[**P, R](
        self, call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs
    ) -> Future[R]:
        """Run the call; return its result, or its exception, as a finished future."""
        future = Future[R]()
        try:
            future.set_result(call(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001 - also Killed
            future.set_exception(error)
        return future


@contextmanager
def open_desk(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Iterator[WebhookDesk]:
    """Open a desk whose names resolve to a public address, and whose endpoints it stands for."""
    desk = WebhookDesk(stack)
    monkeypatch.setattr(socket, "getaddrinfo", resolve)

    def post_event(url: str, body: bytes, headers: Mapping[str, str], **_: Any) -> AttemptResult:
        sent = SentRequest(url, body, dict(headers))
        desk.sent.append(sent)
        return desk.endpoint(sent)

    monkeypatch.setattr(delivery, "post_event", post_event)
    yield desk


def resolve(host: str, port: int, **_: Any) -> list[Any]:
    """Resolve a name as the internet would: names that begin with `private` are not public."""
    address = "10.0.0.1" if host.startswith("private") else "93.184.216.34"
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]
