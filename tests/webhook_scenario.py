"""Webhooks in process: the outbox stream, the relay, the delivery queues and the worker."""

import json
import socket
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from moto.scheduler.models import Schedule, scheduler_backends
from moto.sqs.models import sqs_backends

from shared.integration.webhooks import delivery
from shared.integration.webhooks.http_client import AttemptResult
from shared.kernel.clock import now_ms
from shared.kernel.config import config
from tests import gateway
from tests.gateway import Erp, LambdaContext
from tests.stack import ACCOUNT, REGION, Stack

RELAY = "functions.event_relay.app.lambda_handler"
WORKER = "functions.webhook_worker.app.lambda_handler"
URL = "https://hooks.example.com/stowage"
WORKER_MS = 60_000

_system_resolve = socket.getaddrinfo


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request that the worker sent to an endpoint."""

    url: str
    body: bytes
    headers: Mapping[str, str]

    @property
    def event(self) -> dict[str, Any]:
        """The parsed body."""
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed


@dataclass(frozen=True, slots=True)
class WaitingMessage:
    """A message in a queue, or the message that a schedule will send."""

    body: dict[str, Any]
    queue: str
    """URL of the queue."""
    group: str
    delay: int
    """Seconds until the message is visible."""
    scheduled: bool = False


type EndpointStub = Callable[[SentRequest], AttemptResult]


def respond_204(_: SentRequest) -> AttemptResult:
    """Respond as a healthy endpoint."""
    return AttemptResult(milliseconds=12, status=204)


def respond_500(_: SentRequest) -> AttemptResult:
    """Respond as a failing endpoint."""
    return AttemptResult(
        milliseconds=12, status=500, error="responded with status 500", response="internal error"
    )


@dataclass(slots=True)
class WebhookScenario:
    """The webhooks of one tenant; `endpoint` responds for all URLs, `sent` has all requests."""

    stack: Stack
    slug: str = "acme"
    endpoint: EndpointStub = respond_204
    requests: list[SentRequest] = field(default_factory=list)
    _relayed: set[str] = field(default_factory=set)

    @property
    def erp(self) -> Erp:
        """An API client with all scopes."""
        return self.stack.erp(self.slug)

    def subscribe(self, *events: str, url: str = URL, **more: Any) -> dict[str, Any]:
        """Create a subscription; return it with its secret."""
        body = {"url": url, "events": list(events) or ["product.created"], **more}
        return self.erp.post("/webhooks", body).ok(201)

    def get(self, number: int) -> dict[str, Any]:
        """Return a subscription."""
        return self.erp.get(f"/webhooks/{number}").ok()

    def deliveries(self, number: int, **parameters: object) -> list[dict[str, Any]]:
        """Return the deliveries of a subscription, newest first."""
        answer = self.erp.get(f"/webhooks/{number}/deliveries", query=parameters)
        assert answer.status == 200, answer.text
        rows: list[dict[str, Any]] = answer.data
        return rows

    def create_product(self, number: int = 1) -> dict[str, Any]:
        """Create a product, which raises an event."""
        return self.erp.post("/products", {"item_code": f"P-{number}", "name": "A product"}).ok(201)

    # Stream

    def new_stream_batch(self) -> dict[str, Any]:
        """Return a stream batch of the outbox entries since the last call."""
        new = [
            item
            for item in self.stack.outbox_items(self.slug)
            if item["SK"]["S"] not in self._relayed
        ]
        self._relayed |= {event["SK"]["S"] for event in new}
        return stream_batch(new)

    def run_relay(self) -> list[str]:
        """Invoke the relay with the new outbox entries; return the failed records."""
        batch = self.new_stream_batch()
        return run_relay(batch) if batch["Records"] else []

    # Queues

    def messages(self) -> list[dict[str, Any]]:
        """Return the bodies of all waiting messages, including delayed ones."""
        return [message.body for message in self.waiting()]

    def waiting(self) -> list[WaitingMessage]:
        """Return all messages in the queues and those of schedules, including delayed ones."""
        queued = [
            WaitingMessage(
                json.loads(message.body),
                url,
                message.group_id,
                max(0, int(message.delayed_until - message.sent_timestamp) // 1000),
            )
            for url in (config().webhook_queue, config().webhook_slow_queue)
            for message in _messages_in(url)
        ]
        return queued + [_scheduled(schedule) for schedule in self.schedules().values()]

    def schedules(self) -> dict[str, Schedule]:
        """Return name → schedule of the schedules that have not sent their message."""
        groups = scheduler_backends[ACCOUNT][REGION].schedule_groups
        return groups[config().webhook_schedules].schedules

    def take_messages(self) -> list[dict[str, Any]]:
        """Remove all waiting messages, including delayed ones; return their bodies."""
        bodies = self.messages()
        for url in (config().webhook_queue, config().webhook_slow_queue):
            _messages_in(url).clear()
        self.schedules().clear()
        return bodies

    def run_worker(self, *bodies: Mapping[str, Any], receives: int = 1) -> list[str]:
        """Invoke the worker with one batch; return the failed messages."""
        records = [
            {
                "messageId": f"m{number}",
                "body": json.dumps(body),
                "attributes": {"ApproximateReceiveCount": str(receives)},
            }
            for number, body in enumerate(bodies)
        ]
        answer = gateway._function(WORKER)({"Records": records}, LambdaContext(WORKER_MS))
        return sorted(failed_items(answer))

    def run_until_idle(self) -> None:
        """Invoke relay and worker until the queues are empty, without waiting for retry delays."""
        while True:
            assert self.run_relay() == []
            bodies = self.take_messages()
            if not bodies:
                return
            for body in bodies:
                assert self.run_worker({**body, "due": 0}) == []


def _messages_in(url: str) -> list[Any]:
    """Return the messages in a queue, as a list that changes it."""
    messages: list[Any] = sqs_backends[ACCOUNT][REGION].queues[url.rpartition("/")[2]]._messages
    return messages


def _scheduled(schedule: Schedule) -> WaitingMessage:
    """Return the message that a schedule will send."""
    call = json.loads(schedule.target["Input"])
    time = schedule.schedule_expression.removeprefix("at(").removesuffix(")")
    due = datetime.fromisoformat(time).replace(tzinfo=UTC)
    delay = int(due.timestamp() + call["DelaySeconds"] - now_ms() / 1000)
    body, queue, group = json.loads(call["MessageBody"]), call["QueueUrl"], call["MessageGroupId"]
    return WaitingMessage(body, queue, group, delay, scheduled=True)


def stream_batch(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a stream batch of new outbox entries, its binary values as base64 like Lambda's."""
    return {
        "Records": [
            {
                "eventName": "INSERT",
                "eventSource": "aws:dynamodb",
                "dynamodb": {"SequenceNumber": str(number), "NewImage": _image(event)},
            }
            for number, event in enumerate(events, 1)
        ]
    }


def _image(item: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: {"B": b64encode(value["B"]).decode()} if isinstance(value.get("B"), bytes) else value
        for name, value in item.items()
    }


def run_relay(batch: Mapping[str, Any]) -> list[str]:
    """Invoke the relay with a stream batch; return the failed records."""
    return failed_items(gateway._function(RELAY)(batch, LambdaContext()))


def failed_items(answer: Mapping[str, Any]) -> list[str]:
    """Return the failed records or messages of a batch response."""
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


class InlineExecutor(Executor):
    """Runs each call in the caller's thread, so that the order of calls is deterministic."""

    def submit[**P, R](
        self, call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs
    ) -> Future[R]:
        """Run the call; return its result, or its exception, as a finished future."""
        future = Future[R]()
        try:
            future.set_result(call(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001 - including Killed
            future.set_exception(error)
        return future


@contextmanager
def open_webhook_scenario(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> Iterator[WebhookScenario]:
    """Replace DNS and HTTP: all host names resolve as `resolve` says, `endpoint` responds."""
    webhooks = WebhookScenario(stack)
    monkeypatch.setattr(socket, "getaddrinfo", resolve)

    def post_event(url: str, body: bytes, headers: Mapping[str, str], **_: Any) -> AttemptResult:
        sent = SentRequest(url, body, dict(headers))
        webhooks.requests.append(sent)
        return webhooks.endpoint(sent)

    monkeypatch.setattr(delivery, "post_event", post_event)
    yield webhooks


def resolve(host: str, port: Any, *more: Any, **named: Any) -> list[Any]:
    """Resolve host names that start with `private` to a private address, others to a public one.

    The address of this machine is that of `tests/engine.py`.
    """
    if host == "127.0.0.1":
        return _system_resolve(host, port, *more, **named)
    address = "10.0.0.1" if host.startswith("private") else "93.184.216.34"
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]
