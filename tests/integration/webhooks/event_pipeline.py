"""Simulation of the AWS parts of the event pipeline: stream, relay, two queues, worker.

The simulation repeats deliveries as AWS does: a stream batch from its first failed record on, a
message after its visibility timeout, with a higher receive count, if its worker crashed or
reported it. The clock advances to the next visible message.
"""

import io
import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from functions.webhook_worker import app
from shared.identity.tenancy import directory
from shared.integration.webhooks import delivery
from shared.integration.webhooks.http_client import AttemptResult
from shared.integration.webhooks.repository import SubscriptionRegister
from shared.kernel.config import config
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.events.kinds import AnyEventKind
from shared.kernel.events.outbox import (
    Event,
    RedeliveryRequest,
    events_of,
    raise_event,
)
from shared.kernel.observability import logger
from tests import gateway
from tests.clock import Clock
from tests.dns import HOOKS
from tests.faults import Killed
from tests.gateway import Erp, LambdaContext
from tests.integration.webhooks.stored_state import (
    StoredEntry,
    StoredState,
    assert_consistent,
    assert_no_secret_stored,
    path_of,
    read_outbox,
    read_state,
)
from tests.lagging_reads import LaggingReads
from tests.stack import Stack
from tests.webhook_scenario import (
    RELAY,
    WORKER,
    WORKER_MS,
    EndpointStub,
    SentRequest,
    WebhookScenario,
    failed_items,
    respond_204,
    stream_batch,
)

_VISIBILITY_TIMEOUT = 360
"""Visibility timeout in seconds, as in the template."""
_MAX_INVOCATIONS = 300
"""Invocations after which all deliveries must have ended."""

CHOSEN_SECRET = "secret-of-the-receiver"
"""Has no prefix by which the logger could mask it."""


type DeliveryKey = tuple[str, int, str, int]
"""Tenant, subscription, event and round."""


@dataclass(slots=True)
class QueuedMessage:
    """A message in a queue, with the time from which it is visible and its receive count."""

    body: dict[str, Any]
    visible_at: float
    receives: int = 0

    @property
    def group(self) -> tuple[str, int]:
        """Tenant and subscription."""
        return self.body["tenant"], self.body["webhook"]


@dataclass(slots=True)
class EventPipeline:
    """Two tenants, their events and the queues to their endpoints."""

    scenario: WebhookScenario
    clock: Clock
    log: io.StringIO
    queue: list[QueuedMessage] = field(default_factory=list)
    secrets: set[str] = field(default_factory=set)
    _relayed: set[str] = field(default_factory=set)
    _marked: set[str] = field(default_factory=set)
    _sent: set[DeliveryKey] = field(default_factory=set)
    _message_texts: list[str] = field(default_factory=list)

    @property
    def stack(self) -> Stack:
        return self.scenario.stack

    # Users

    def erp(self, slug: str = "acme") -> Erp:
        return self.stack.erp(slug)

    def subscribe(self, *events: str, slug: str = "acme", name: str = "", **more: Any) -> int:
        """Create a subscription with its own URL, which contains `name`; return its id."""
        url = f"https://{HOOKS}/{slug}/{name}{len(self.secrets)}"
        body = {"url": url, "events": list(events) or ["product.created"], **more}
        answer = self.erp(slug).post("/webhooks", body).ok(201)
        self.secrets.add(answer["secret"])
        number: int = answer["id"]
        return number

    def commit_events(
        self, *numbers: int, slug: str = "acme", kind: AnyEventKind = "product.created"
    ) -> list[str]:
        """Commit one event per product number; return the event ids."""

        def use_case(tx: Transaction) -> list[str]:
            return [raise_event(tx, _event(kind, number)) for number in numbers]

        return run_transaction(self.stack.store(slug), use_case)

    # AWS

    def unrelayed(self) -> list[StoredEntry]:
        """Return the entries that the stream has not passed yet."""
        return [one for one in read_outbox() if one.entry.id not in self._relayed]

    def run_relay(self, limit: int = 100) -> None:
        """Invoke the relay once with at most `limit` new entries."""
        batch = self.unrelayed()[:limit]
        if not batch:
            return
        try:
            answer = gateway._function(RELAY)(_records(batch), LambdaContext())
        except Killed:
            passed = 0
        else:
            failed = [int(number) for number in failed_items(answer)]
            passed = min(failed) - 1 if failed else len(batch)
        self._collect_messages()
        self._relayed |= {one.entry.id for one in batch[:passed]}
        self._assert_relayed_entries_were_sent()

    def run_worker(self, messages: Sequence[QueuedMessage]) -> None:
        """Invoke the worker once."""
        for message in messages:
            message.receives += 1
            message.visible_at = self.clock.time() + _VISIBILITY_TIMEOUT
        try:
            with _own_threads():
                answer = gateway._function(WORKER)(_messages(messages), LambdaContext(WORKER_MS))
        except Killed:
            pass  # all messages return
        else:
            failed = failed_items(answer)
            done = [one for number, one in enumerate(messages) if f"m{number}" not in failed]
            self.queue = [one for one in self.queue if not any(one is it for it in done)]
        self._collect_messages()

    def receivable(self) -> list[QueuedMessage]:
        """Advance the clock to the next visible message; return all visible ones."""
        if self.queue:
            self.clock.advance(
                max(0, min(one.visible_at for one in self.queue) - self.clock.time())
            )
        return [one for one in self.queue if one.visible_at <= self.clock.time()]

    def step(self) -> bool:
        """Invoke the relay or the worker once; return False if there is nothing to do."""
        if self.unrelayed():
            self.run_relay()
        elif ready := self.receivable():
            self.run_worker([min(ready, key=lambda one: one.visible_at)])
        else:
            return False
        self.assert_invariants()
        return True

    def run(self, until: Callable[[], bool] = lambda: False) -> None:
        """Invoke relay and worker until a condition holds or there is nothing left to do."""
        for _ in range(_MAX_INVOCATIONS):
            if until() or not self.step():
                self.assert_invariants()
                return
        pytest.fail(f"messages remain after {_MAX_INVOCATIONS} invocations: {self.queue[:5]}")

    def snapshot(self) -> Callable[[], None]:
        """Return a function that restores tables and queues and clears all caches."""
        tables = self.stack.take_snapshot()
        messages = [(dict(one.body), one.visible_at - self.clock.time()) for one in self.queue]
        passed, marked = set(self._relayed), set(self._marked)
        sent, requests = set(self._sent), list(self.scenario.requests)

        def restore() -> None:
            tables()
            self.scenario.take_messages()
            now = self.clock.time()
            self.queue = [QueuedMessage(dict(body), now + delay) for body, delay in messages]
            self._relayed, self._marked = set(passed), set(marked)
            self._sent, self.scenario.requests[:] = set(sent), requests
            directory.directory.clear()
            delivery._unseal.cache_clear()

        return restore

    # Assertions

    def state(self, slug: str = "acme") -> StoredState:
        return read_state(self.stack, slug)

    def summary(self) -> list[object]:
        """Return the state of both tenants without ids and times."""
        return [self.state(slug).summary() for slug in ("acme", "beta")]

    def requests_per_event(self) -> Counter[tuple[str, str]]:
        """Return the number of requests by URL path and event."""
        return Counter((path_of(sent.url), sent.event["id"]) for sent in self.scenario.requests)

    def assert_invariants(self) -> None:
        """Assert what must hold whenever no function is running."""
        self._collect_messages()
        requests = self.requests_per_event()
        unrelayed = {event.id for one in self.unrelayed() for event in events_of(one.entry)}
        requested = {
            (one.tenant, one.entry.webhook, one.entry.event, one.entry.round)
            for one in self.unrelayed()
            if isinstance(one.entry, RedeliveryRequest)
        }
        for slug in ("acme", "beta"):
            state = self.state(slug)
            assert_consistent(state, requests)
            for one in state.open_deliveries():
                key = (slug, one.webhook_id, one.id, one.round)
                assert (
                    (one.id in unrelayed and one.round == 1)
                    or key in requested
                    or any(_continues(message, key, one.tries) for message in self.queue)
                ), f"no message continues {one}"

    def assert_all_delivered(self) -> None:
        """Assert that each event reached its subscriptions, or that the log has the reason."""
        requests, entries = self.requests_per_event(), read_outbox()
        assert all(one.relayed for one in entries), "an entry was not relayed"
        for slug in ("acme", "beta"):
            state = self.state(slug)
            for number, event in self._expected_deliveries(slug, state):
                delivery = state.deliveries[number, event]
                assert delivery.status in {"succeeded", "failed", "cancelled"}
                assert requests[path_of(state.webhooks[number].url), event] or delivery.reason

    def _expected_deliveries(self, slug: str, state: StoredState) -> Iterator[tuple[int, str]]:
        """Yield subscription and event for all events since the subscription was created."""
        for one in read_outbox():
            for event in events_of(one.entry) if one.tenant == slug else ():
                for number in state.register.subscribers_of(event.type):
                    if state.webhooks[number].created_at <= event.created_at:
                        yield number, event.id

    def assert_no_secret_leaked(self) -> None:
        """Assert that no table, message or log line contains a secret."""
        assert_no_secret_stored(self.secrets, [*self._message_texts, self.log.getvalue()])

    def _collect_messages(self) -> None:
        """Move new messages from the mocked queues to `queue`."""
        now = self.clock.time()
        for message in self.scenario.waiting():
            body = message.body
            assert body["slow"] == (message.queue == config().webhook_slow_queue)
            self._message_texts.append(json.dumps(body))
            self._sent.add((body["tenant"], body["webhook"], body["event"], body["round"]))
            self.queue.append(QueuedMessage(body, now + message.delay))
        self.scenario.take_messages()

    def _assert_relayed_entries_were_sent(self) -> None:
        """Assert that an entry is marked as relayed only after all its messages were sent."""
        new = [one for one in read_outbox() if one.relayed and one.entry.id not in self._marked]
        self._marked |= {one.entry.id for one in new}
        registers = {slug: self.state(slug).register for slug in {one.tenant for one in new}}
        for one in new:
            expected = set(_expected_messages(one, registers[one.tenant]))
            assert expected <= self._sent, f"{one} is marked, but not all of {expected} were sent"


def _expected_messages(one: StoredEntry, register: SubscriptionRegister) -> Iterator[DeliveryKey]:
    """Yield the deliveries that an entry must cause."""
    if isinstance(one.entry, RedeliveryRequest):
        yield one.tenant, one.entry.webhook, one.entry.event, one.entry.round
    for event in events_of(one.entry):
        only = event.only_subscription
        numbers = register.subscribers_of(event.type) if only is None else [only]
        for number in numbers:
            yield one.tenant, number, event.id, 1


def _event(kind: AnyEventKind, number: int) -> Event:
    return Event(kind, "product", number, 1, f"/products/{number}", {"item_code": f"P-{number}"})


def _continues(message: QueuedMessage, key: DeliveryKey, tries: int) -> bool:
    """Return whether a message leads to the next attempt of a delivery.

    The message is the next attempt, or its processing was not finished.
    """
    body = message.body
    found = (body["tenant"], body["webhook"], body["event"], body["round"])
    is_next = body["attempt"] == tries + 1
    return found == key and (is_next or (body["attempt"] == tries and message.receives > 0))


def _records(batch: Sequence[StoredEntry]) -> dict[str, Any]:
    return stream_batch(
        [{k: v for k, v in one.image.items() if k != "expires_at"} for one in batch]
    )


def _messages(messages: Sequence[QueuedMessage]) -> dict[str, Any]:
    return {
        "Records": [
            {
                "messageId": f"m{number}",
                "body": json.dumps(message.body),
                "attributes": {"ApproximateReceiveCount": str(message.receives)},
            }
            for number, message in enumerate(messages)
        ]
    }


@contextmanager
def _own_threads() -> Iterator[None]:
    """Wait for all threads of an invocation; after a crash none may continue."""
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(app._BATCH_SIZE) as threads:
        patch.setattr(app, "_threads", threads)
        yield


@contextmanager
def open_pipeline(webhooks: WebhookScenario, clock: Clock) -> Iterator[EventPipeline]:
    """Create a pipeline that records the log."""
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    handler.setFormatter(logger.registered_formatter)
    service_log = logging.getLogger(logger.name)
    service_log.addHandler(handler)
    try:
        yield EventPipeline(webhooks, clock, log)
    finally:
        service_log.removeHandler(handler)


def lagging_reads(clock: Clock, seconds: float, *, with_outbox: bool = True) -> LaggingReads:
    """Return the fault that eventually consistent reads of both tenants lag."""
    tables = [config().tenant_table(slug) for slug in ("acme", "beta")]
    outbox = [config().outbox_table] if with_outbox else []
    return LaggingReads(clock.time, seconds, *tables, *outbox)


# Endpoints


def fail_first_attempts(pipeline: EventPipeline, times: int, answer: EndpointStub) -> EndpointStub:
    """Return an endpoint that responds with `answer` to the first `times` attempts, then 204."""

    def endpoint(sent: SentRequest) -> AttemptResult:
        state = pipeline.state(sent.event["tenant"])
        path, event = path_of(sent.url), sent.event["id"]
        [logged] = [
            state.deliveries.get((number, event))
            for number, head in state.webhooks.items()
            if path_of(head.url) == path
        ]
        return answer(sent) if (logged.tries if logged else 0) < times else respond_204(sent)

    return endpoint
