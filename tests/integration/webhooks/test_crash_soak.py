"""A relay and a worker that die again and again, while much happens: everything arrives.

Batches of the stream come again, messages come twice, in any order, and again when their
worker died; requests are repeated by whoever made them. SOAK_SEED draws what happens,
SOAK_EVENTS says how much there is to do; `make soak` has the large figure.
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
from tests.integration.webhooks import event_pipeline as lines
from tests.integration.webhooks.event_pipeline import EventPipeline, QueuedMessage, open_pipeline
from tests.integration.webhooks.stored_state import path_of, read_outbox
from tests.webhook_scenario import (
    InlineExecutor,
    SentRequest,
    WebhookDesk,
    respond_204,
    respond_500,
)

if TYPE_CHECKING:
    from tests.gateway import Response

SEED = int(os.environ.get("SOAK_SEED", "1"))
EVENTS = int(os.environ.get("SOAK_EVENTS", "24"))
_KINDS: tuple[AnyEventKind, ...] = ("product.created", "product.updated")
_CLAIM_EXPIRY = 61
_MAX_RECEIVES = 20
"""After which a message would be put aside."""
_CHECK_INTERVAL = 25
"""Invocations after which everything is looked at."""
_BATCH = 10
_DUPLICATE_SHARE = 0.05
"""Of all messages so many come to two workers, though neither has died."""
_NEVER_ACCEPTED_STEP = 5
"""Every so manieth product is one that shaky endpoints never accept an event of."""


def random_fault(chance: random.Random, calls: int, struck: Counter[str]) -> Fault:
    """Disturb one of the next calls, mostly by death, and count it in `struck`."""
    left = chance.randrange(calls)
    what = chance.choice(("died before", "died after", "died after", "lost", "throttled"))
    dead = False

    def fault(call: Call, forward: Forward) -> Answer:
        nonlocal left, dead
        left -= 1
        if dead:
            raise Killed(call.operation)
        if left != -1:
            return forward()
        struck[what] += 1
        dead = what.startswith("died")
        if what == "throttled":
            return refusal("ThrottlingException")
        if what != "died before":
            forward()
        if dead:
            raise Killed(call.operation)
        return lost()

    return fault


@dataclass(slots=True)
class SoakRun:
    """Two tenants with subscriptions of every temper, and what is done to them."""

    pipeline: EventPipeline
    aws_faults: AwsFaults
    rng: random.Random
    max_faults: int
    """How often something may go wrong."""
    injected: Counter[str] = field(default_factory=Counter)
    webhooks: dict[tuple[str, str], int] = field(default_factory=dict)
    committed: int = 0
    tries: Counter[tuple[str, int]] = field(default_factory=Counter)

    def subscribe_all(self) -> None:
        """Subscribe endpoints; their name is their temper."""
        for slug, name in (
            *(("acme", name) for name in ("well", "shaky", "asked", "slow", "broken", "gone")),
            *(("beta", name) for name in ("well", "broken")),
        ):
            self.webhooks[slug, name] = self.pipeline.subscribe(*_KINDS, slug=slug, name=name)
        self.webhooks["acme", "picky"] = self.pipeline.subscribe("product.updated", name="picky")
        self.pipeline.scenario.endpoint = self.respond

    def respond(self, sent: SentRequest) -> AttemptResult:
        """Stand for all endpoints."""
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
            case "shaky" | "asked" if (
                self.tries[path, product] <= product % 3 or product % _NEVER_ACCEPTED_STEP == 0
            ):
                return respond_500(sent)
        return respond_204(sent)

    def run(self, events: int) -> None:
        """Let events happen, and relay and worker work, until all is done."""
        self.subscribe_all()
        for number in range(1, 100 * events):
            going = self.act_once(events)
            if number % _CHECK_INTERVAL == 0:
                self.pipeline.assert_invariants()
            if not going:
                break
        else:
            pytest.fail(f"still under way: {self.pipeline.queue[:5]}")
        self.pipeline.assert_invariants()
        self.pipeline.assert_all_delivered()
        self.pipeline.assert_no_secret_leaked()

    def act_once(self, events: int) -> bool:
        """Do one of the things that there are to do; False when there are none."""
        line = self.pipeline
        line.clock.advance(0.001)
        acts: list[Callable[[], None]] = []
        if self.committed < events:
            acts += [self.commit_event, self.send_request]
        if line.unrelayed():
            acts.append(self.relay)
        if line.queue:
            acts += [self.deliver] * 3
        if acts:
            self.rng.choice(acts)()
        return bool(acts)

    def commit_event(self) -> None:
        """Commit an event."""
        self.committed += 1
        slug, kind = self.rng.choice(("acme", "acme", "beta")), self.rng.choice(_KINDS)
        self.pipeline.commit_events(self.committed, slug=slug, kind=kind)

    def relay(self) -> None:
        """Have some of the stream relayed."""
        self.run_with_fault(lambda: self.pipeline.run_relay(self.rng.randint(1, _BATCH)), calls=12)

    def deliver(self) -> None:
        """Have some messages delivered, of each subscription one at most."""
        ready: dict[tuple[str, int], QueuedMessage] = {}
        visible = self.pipeline.receivable()
        for letter in self.rng.sample(visible, len(visible)):
            ready.setdefault(letter.group, letter)
            if len(ready) == _BATCH:
                break
        batch = list(ready.values())[: self.rng.randint(1, len(ready))]
        if self.rng.random() < _DUPLICATE_SHARE:
            self.pipeline.queue.append(QueuedMessage(dict(batch[0].body), batch[0].visible_at))
        self.run_with_fault(lambda: self.pipeline.run_worker(batch), calls=8 * len(batch))
        assert max(letter.receives for letter in batch) < _MAX_RECEIVES

    def send_request(self) -> None:
        """Ask for something: a secret is rotated, a test, a delivery once more."""
        line, number = self.pipeline, self.webhooks["acme", "asked"]
        events = sorted(event for webhook, event in line.state().deliveries if webhook == number)
        again = [f"deliveries/{event}/redeliver" for event in events[-3:]]
        what = self.rng.choice(["rotate-secret", "test", *again])
        erp, key = line.erp(), f"key-{self.rng.random()}"
        answers: list[Response] = []

        def send() -> None:
            answers.append(erp.post(f"/webhooks/{number}/{what}", key=key))

        self.run_with_fault(send, calls=12)
        while not answers or "duplicate_in_flight" in answers[-1].text:
            line.clock.advance(_CLAIM_EXPIRY)
            send()
        if answers[-1].status == 200:
            line.secrets.add(answers[-1].data["secret"])
        else:
            active = line.state().webhooks[number].is_active
            assert answers[-1].status == (202 if active else 409), answers[-1].text

    def run_with_fault(self, act: Callable[[], None], calls: int) -> None:
        """Do something, of which it may die."""
        if self.injected.total() >= self.max_faults:
            act()
            return
        with self.aws_faults.faulty(random_fault(self.rng, calls, self.injected)), suppress(Killed):
            act()


@pytest.fixture
def fray(
    desk: WebhookDesk, aws_faults: AwsFaults, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SoakRun]:
    clock.freeze()
    random.seed(SEED)
    monkeypatch.setenv("WEBHOOK_RETRY_DELAYS", "0,5,1000")
    config.cache_clear()
    # All in one thread: then a seed is always the same story.
    monkeypatch.setattr("shared.kernel.db.parallel._inside", lambda: True)
    monkeypatch.setattr(app, "_threads", InlineExecutor())
    monkeypatch.setattr(lines, "_own_threads", nullcontext)
    monkeypatch.setattr("shared.kernel.db.counters.SHARDS", 2)
    monkeypatch.setattr("shared.kernel.db.transaction.SHARDS", 2)
    with open_pipeline(desk, clock) as line:
        yield SoakRun(line, aws_faults, random.Random(SEED), max_faults=4 * EVENTS)  # noqa: S311


def test_everything_arrives_though_relay_and_worker_die(fray: SoakRun) -> None:
    try:
        fray.run(EVENTS)
        _assert_final_state(fray)
    except BaseException as error:
        error.add_note(f"again: make soak SEED={SEED} EVENTS={EVENTS} ARGS='-k die'")
        raise


def _assert_final_state(fray: SoakRun) -> None:
    line = fray.pipeline
    assert set(fray.injected) == {"died before", "died after", "lost", "throttled"}
    assert fray.injected.total() >= 2 * EVENTS
    for (slug, name), number in fray.webhooks.items():
        books = line.state(slug)
        head, failures = books.webhooks[number], books.health[number].failure_count
        log = [one for (webhook, _), one in books.deliveries.items() if webhook == number]
        ends, wanted = Counter(one.status for one in log), _count_events(slug, head.events)
        match name:
            case "well" | "slow" | "picky":
                assert ends == {"succeeded": wanted}
                assert (head.is_active, failures) == (True, 0)
            case "broken":
                # Which are sent when it has ended depends on when they are relayed.
                count = min(wanted, MAX_FAILURES)
                assert (ends["failed"], failures) == (count, count)
                assert head.is_active == (count < MAX_FAILURES)
                assert set(ends) <= {"failed", "cancelled"}
            case "gone":
                assert (ends["failed"], failures, head.is_active) == (1, 1, False)
                assert set(ends) <= {"failed", "cancelled"}
            case "shaky" if head.is_active:
                ended = [one.status for one in sorted(log, key=lambda one: one.updated_at)]
                assert failures == _consecutive_failures(ended)


def _count_events(slug: str, kinds: Any) -> int:
    events = [one.image for one in read_outbox() if one.tenant == slug and "type" in one.image]
    return sum(event["type"]["S"] in kinds for event in events)


def _consecutive_failures(ended: Sequence[str]) -> int:
    """Failures since the last success."""
    return next(
        (count for count, status in enumerate(reversed(ended)) if status != "failed"), len(ended)
    )
