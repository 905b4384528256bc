"""Soak test: relay and worker crash repeatedly, and every event is still delivered.

Stream batches are repeated; messages are duplicated, reordered, and returned after a crash;
clients repeat their requests. RANDOM_SEED selects the sequence, RANDOM_EVENTS the number of events;
`make random` runs with a large number.
"""

import os
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from functions.webhook_worker import app
from shared.integration.webhooks.http_client import AttemptResult
from shared.integration.webhooks.rules import MAX_FAILURES
from shared.kernel.config import config
from shared.kernel.events.kinds import AnyEventKind
from tests.clock import Clock
from tests.faults import Answer, AwsFaults, Call, Fault, Forward, Killed, lost, refusal
from tests.integration.webhooks import event_pipeline
from tests.integration.webhooks.event_pipeline import EventPipeline, QueuedMessage, open_pipeline
from tests.integration.webhooks.stored_state import path_of, read_outbox
from tests.webhook_scenario import (
    InlineExecutor,
    SentRequest,
    WebhookScenario,
    respond_204,
    respond_500,
)

if TYPE_CHECKING:
    from tests.gateway import Response

SEED = int(os.environ.get("RANDOM_SEED", "1"))
EVENTS = int(os.environ.get("RANDOM_EVENTS", "14"))
_KINDS: tuple[AnyEventKind, ...] = ("product.created", "product.updated")
_CLAIM_EXPIRY = 61
_MAX_RECEIVES = 20
"""Receives after which a message goes to the dead-letter queue."""
_CHECK_INTERVAL = 25
"""Actions between two checks of the invariants."""
_BATCH = 10
_DUPLICATE_SHARE = 0.05
"""Share of messages that two workers receive without a crash."""
_NEVER_ACCEPTED_STEP = 5
"""Flaky endpoints never accept events of products whose number is a multiple of this."""


def random_fault(rng: random.Random, calls: int, injected: Counter[str]) -> Fault:
    """Inject one fault into one of the next calls, mostly a crash; count it in `injected`."""
    left = rng.randrange(calls)
    kind = rng.choice(("crash before", "crash after", "crash after", "response lost", "throttled"))
    crashed = False

    def fault(call: Call, forward: Forward) -> Answer:
        nonlocal left, crashed
        left -= 1
        if crashed:
            raise Killed(call.operation)
        if left != -1:
            return forward()
        injected[kind] += 1
        crashed = kind.startswith("crash")
        if kind == "throttled":
            return refusal("ThrottlingException")
        if kind != "crash before":
            forward()
        if crashed:
            raise Killed(call.operation)
        return lost()

    return fault


@dataclass(slots=True)
class SoakRun:
    """Two tenants with subscriptions to all kinds of endpoints, and random actions."""

    pipeline: EventPipeline
    aws_faults: AwsFaults
    rng: random.Random
    max_faults: int
    """Most faults to inject."""
    injected: Counter[str] = field(default_factory=Counter)
    webhooks: dict[tuple[str, str], int] = field(default_factory=dict)
    committed: int = 0
    tries: Counter[tuple[str, int]] = field(default_factory=Counter)

    def subscribe_all(self) -> None:
        """Create the subscriptions; the name of an endpoint says how it responds."""
        for slug, name in (
            *(
                ("acme", name)
                for name in ("healthy", "flaky", "requested", "slow", "broken", "gone")
            ),
            *(("beta", name) for name in ("healthy", "broken")),
        ):
            self.webhooks[slug, name] = self.pipeline.subscribe(*_KINDS, slug=slug, name=name)
        self.webhooks["acme", "updates-only"] = self.pipeline.subscribe(
            "product.updated", name="updates-only"
        )
        self.pipeline.scenario.endpoint = self.respond

    def respond(self, sent: SentRequest) -> AttemptResult:
        """Respond for all endpoints."""
        self.pipeline.clock.advance(0.012)
        product, path = sent.event["data"]["id"], path_of(sent.url)
        self.tries[path, product] += 1
        match path.split("/")[2].rstrip("0123456789"):
            case "broken":
                return respond_500(sent)
            case "gone":
                return AttemptResult(milliseconds=12, status=410, error="responded with status 410")
            case "slow":
                return AttemptResult(milliseconds=3_000, status=200)
            case "flaky" | "requested" if (
                self.tries[path, product] <= product % 3 or product % _NEVER_ACCEPTED_STEP == 0
            ):
                return respond_500(sent)
        return respond_204(sent)

    def run(self, events: int) -> None:
        """Run random actions until all events are delivered."""
        self.subscribe_all()
        for number in range(1, 100 * events):
            going = self.act_once(events)
            if number % _CHECK_INTERVAL == 0:
                self.pipeline.assert_invariants()
            if not going:
                break
        else:
            pytest.fail(
                f"deliveries remain after {100 * events} actions: {self.pipeline.queue[:5]}"
            )
        self.pipeline.assert_invariants()
        self.pipeline.assert_all_delivered()
        self.pipeline.assert_no_secret_leaked()

    def act_once(self, events: int) -> bool:
        """Run one of the possible actions; return False if there is none."""
        pipeline = self.pipeline
        pipeline.clock.advance(0.001)
        actions: list[Callable[[], None]] = []
        if self.committed < events:
            actions += [self.commit_event, self.send_request]
        if pipeline.unrelayed():
            actions.append(self.relay)
        if pipeline.queue:
            actions += [self.deliver] * 3
        if actions:
            self.rng.choice(actions)()
        return bool(actions)

    def commit_event(self) -> None:
        """Commit a random event."""
        self.committed += 1
        slug, kind = self.rng.choice(("acme", "acme", "beta")), self.rng.choice(_KINDS)
        self.pipeline.commit_events(self.committed, slug=slug, kind=kind)

    def relay(self) -> None:
        """Relay a random number of entries."""
        self.run_with_fault(lambda: self.pipeline.run_relay(self.rng.randint(1, _BATCH)), calls=12)

    def deliver(self) -> None:
        """Deliver a random batch, with at most one message per subscription."""
        ready: dict[tuple[str, int], QueuedMessage] = {}
        visible = self.pipeline.receivable()
        for message in self.rng.sample(visible, len(visible)):
            ready.setdefault(message.group, message)
            if len(ready) == _BATCH:
                break
        batch = list(ready.values())[: self.rng.randint(1, len(ready))]
        if self.rng.random() < _DUPLICATE_SHARE:
            self.pipeline.queue.append(QueuedMessage(dict(batch[0].body), batch[0].visible_at))
        self.run_with_fault(lambda: self.pipeline.run_worker(batch), calls=8 * len(batch))
        assert max(message.receives for message in batch) < _MAX_RECEIVES

    def send_request(self) -> None:
        """Send a random request: rotate a secret, send a test event, redeliver."""
        pipeline, number = self.pipeline, self.webhooks["acme", "requested"]
        events = sorted(
            event for webhook, event in pipeline.state().deliveries if webhook == number
        )
        again = [f"deliveries/{event}/redeliver" for event in events[-3:]]
        kind = self.rng.choice(["rotate-secret", "test", *again])
        erp, key = pipeline.erp(), f"key-{self.rng.random()}"
        answers: list[Response] = []

        def send() -> None:
            answers.append(erp.post(f"/webhooks/{number}/{kind}", key=key))

        self.run_with_fault(send, calls=12)
        while not answers or "duplicate_in_flight" in answers[-1].text:
            pipeline.clock.advance(_CLAIM_EXPIRY)
            send()
        if answers[-1].status == 200:
            pipeline.secrets.add(answers[-1].data["secret"])
        else:
            active = pipeline.state().webhooks[number].is_active
            assert answers[-1].status == (202 if active else 409), answers[-1].text

    def run_with_fault(self, action: Callable[[], None], calls: int) -> None:
        """Run an action with a random fault."""
        if self.injected.total() >= self.max_faults:
            action()
            return
        with self.aws_faults.faulty(random_fault(self.rng, calls, self.injected)), suppress(Killed):
            action()


@pytest.fixture
def soak_run(
    webhooks: WebhookScenario, aws_faults: AwsFaults, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SoakRun]:
    clock.freeze()
    random.seed(SEED)
    monkeypatch.setenv("WEBHOOK_RETRY_DELAYS", "0,5,1000")
    config.cache_clear()
    # A single thread makes a seed reproducible.
    monkeypatch.setattr("shared.kernel.db.parallel._inside", lambda: True)
    monkeypatch.setattr(app, "_threads", InlineExecutor())
    monkeypatch.setattr(event_pipeline, "_own_threads", nullcontext)
    with open_pipeline(webhooks, clock) as pipeline:
        yield SoakRun(pipeline, aws_faults, random.Random(SEED), max_faults=4 * EVENTS)  # noqa: S311


def test_every_event_is_delivered_although_relay_and_worker_die(soak_run: SoakRun) -> None:
    try:
        soak_run.run(EVENTS)
        _assert_final_state(soak_run)
    except BaseException as error:
        error.add_note(f"repeat with: make random SEED={SEED} EVENTS={EVENTS} ARGS='-k die'")
        raise


def _assert_final_state(soak_run: SoakRun) -> None:
    pipeline = soak_run.pipeline
    assert set(soak_run.injected) == {"crash before", "crash after", "response lost", "throttled"}
    assert soak_run.injected.total() >= 2 * EVENTS
    for (slug, name), number in soak_run.webhooks.items():
        state = pipeline.state(slug)
        webhook, failures = state.webhooks[number], state.health[number].failure_count
        log = [one for (webhook, _), one in state.deliveries.items() if webhook == number]
        statuses, event_count = (
            Counter(one.status for one in log),
            _count_events(slug, webhook.events),
        )
        match name:
            case "healthy" | "slow" | "updates-only":
                assert statuses == {"succeeded": event_count}
                assert (webhook.is_active, failures) == (True, 0)
            case "broken":
                # Entries relayed after the deactivation cause no delivery.
                count = min(event_count, MAX_FAILURES)
                assert (statuses["failed"], failures) == (count, count)
                assert webhook.is_active == (count < MAX_FAILURES)
                assert set(statuses) <= {"failed", "cancelled"}
            case "gone":
                assert (statuses["failed"], failures, webhook.is_active) == (1, 1, False)
                assert set(statuses) <= {"failed", "cancelled"}
            case "flaky" if webhook.is_active:
                ended = [one.status for one in sorted(log, key=lambda one: one.updated_at)]
                assert failures == _consecutive_failures(ended)


def _count_events(slug: str, kinds: Any) -> int:
    events = [one.image for one in read_outbox() if one.tenant == slug and "type" in one.image]
    return sum(event["type"]["S"] in kinds for event in events)


def _consecutive_failures(ended: Sequence[str]) -> int:
    """Return the number of failures since the last success."""
    return next(
        (count for count, status in enumerate(reversed(ended)) if status != "failed"), len(ended)
    )
