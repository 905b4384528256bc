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
from shared.integration.webhooks.http_client import Outcome
from shared.integration.webhooks.rules import MOST_FAILURES
from shared.kernel.config import config
from shared.kernel.events.kinds import AnyKind
from tests.clock import Clock
from tests.faults import Answer, AwsFaults, Call, Fault, Forward, Killed, lost, refusal
from tests.integration.webhooks import event_pipeline as lines
from tests.integration.webhooks.event_pipeline import Letter, Line, open_line
from tests.integration.webhooks.stored_state import path_of, read_outbox
from tests.webhook_scenario import InlineExecutor, Sent, WebhookDesk, accept, fail

if TYPE_CHECKING:
    from tests.gateway import Response

SEED = int(os.environ.get("SOAK_SEED", "1"))
EVENTS = int(os.environ.get("SOAK_EVENTS", "24"))
_KINDS: tuple[AnyKind, ...] = ("product.created", "product.updated")
_AFTER_A_DEATH = 61
_MOST_RECEIVES = 20
"""After which a message would be put aside."""
_LOOKS = 25
"""Invocations after which everything is looked at."""
_BATCH = 10
_TWICE = 0.05
"""Of all messages so many come to two workers, though neither has died."""
_HOPELESS = 5
"""Every so manieth product is one that shaky endpoints never accept an event of."""


def disturbs(chance: random.Random, calls: int, struck: Counter[str]) -> Fault:
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
class Fray:
    """Two tenants with subscriptions of every temper, and what is done to them."""

    line: Line
    aws_faults: AwsFaults
    chance: random.Random
    most: int
    """How often something may go wrong."""
    struck: Counter[str] = field(default_factory=Counter)
    hooks: dict[tuple[str, str], int] = field(default_factory=dict)
    happened: int = 0
    tries: Counter[tuple[str, int]] = field(default_factory=Counter)

    def furnish(self) -> None:
        """Subscribe endpoints; their name is their temper."""
        for slug, name in (
            *(("acme", name) for name in ("well", "shaky", "asked", "slow", "broken", "gone")),
            *(("beta", name) for name in ("well", "broken")),
        ):
            self.hooks[slug, name] = self.line.subscribe(*_KINDS, slug=slug, name=name)
        self.hooks["acme", "picky"] = self.line.subscribe("product.updated", name="picky")
        self.line.desk.endpoint = self.answer

    def answer(self, sent: Sent) -> Outcome:
        """Stand for all endpoints."""
        self.line.clock.advance(0.012)
        product, path = sent.event["data"]["id"], path_of(sent.url)
        self.tries[path, product] += 1
        match path.split("/")[2].rstrip("0123456789"):
            case "broken":
                return fail(sent)
            case "gone":
                return Outcome(milliseconds=12, status=410, error="answered 410")
            case "slow":
                return Outcome(milliseconds=3_000, status=200)
            case "shaky" | "asked" if (
                self.tries[path, product] <= product % 3 or product % _HOPELESS == 0
            ):
                return fail(sent)
        return accept(sent)

    def play(self, events: int) -> None:
        """Let events happen, and relay and worker work, until all is done."""
        self.furnish()
        for number in range(1, 100 * events):
            going = self.act(events)
            if number % _LOOKS == 0:
                self.line.check()
            if not going:
                break
        else:
            pytest.fail(f"still under way: {self.line.letters[:5]}")
        self.line.check()
        self.line.ensure_all_arrived()
        self.line.ensure_secret()

    def act(self, events: int) -> bool:
        """Do one of the things that there are to do; False when there are none."""
        line = self.line
        line.clock.advance(0.001)
        acts: list[Callable[[], None]] = []
        if self.happened < events:
            acts += [self.happen, self.ask]
        if line.unread():
            acts.append(self.relay)
        if line.letters:
            acts += [self.deliver] * 3
        if acts:
            self.chance.choice(acts)()
        return bool(acts)

    def happen(self) -> None:
        """Commit an event."""
        self.happened += 1
        slug, kind = self.chance.choice(("acme", "acme", "beta")), self.chance.choice(_KINDS)
        self.line.happen(self.happened, slug=slug, kind=kind)

    def relay(self) -> None:
        """Have some of the stream relayed."""
        self.disturbed(lambda: self.line.relay(self.chance.randint(1, _BATCH)), calls=12)

    def deliver(self) -> None:
        """Have some messages delivered, of each subscription one at most."""
        ready: dict[tuple[str, int], Letter] = {}
        visible = self.line.visible()
        for letter in self.chance.sample(visible, len(visible)):
            ready.setdefault(letter.group, letter)
            if len(ready) == _BATCH:
                break
        batch = list(ready.values())[: self.chance.randint(1, len(ready))]
        if self.chance.random() < _TWICE:
            self.line.letters.append(Letter(dict(batch[0].body), batch[0].at))
        self.disturbed(lambda: self.line.deliver(batch), calls=8 * len(batch))
        assert max(letter.receives for letter in batch) < _MOST_RECEIVES

    def ask(self) -> None:
        """Ask for something: a secret is rotated, a test, a delivery once more."""
        line, number = self.line, self.hooks["acme", "asked"]
        events = sorted(event for webhook, event in line.books().deliveries if webhook == number)
        again = [f"deliveries/{event}/redeliver" for event in events[-3:]]
        what = self.chance.choice(["rotate-secret", "test", *again])
        erp, key = line.erp(), f"key-{self.chance.random()}"
        answers: list[Response] = []

        def send() -> None:
            answers.append(erp.post(f"/webhooks/{number}/{what}", key=key))

        self.disturbed(send, calls=12)
        while not answers or "duplicate_in_flight" in answers[-1].text:
            line.clock.advance(_AFTER_A_DEATH)
            send()
        if answers[-1].status == 200:
            line.secrets.add(answers[-1].data["secret"])
        else:
            active = line.books().heads[number].is_active
            assert answers[-1].status == (202 if active else 409), answers[-1].text

    def disturbed(self, act: Callable[[], None], calls: int) -> None:
        """Do something, of which it may die."""
        if self.struck.total() >= self.most:
            act()
            return
        with self.aws_faults.faulty(disturbs(self.chance, calls, self.struck)), suppress(Killed):
            act()


@pytest.fixture
def fray(
    desk: WebhookDesk, aws_faults: AwsFaults, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Fray]:
    clock.freeze()
    random.seed(SEED)
    monkeypatch.setenv("WEBHOOK_RETRY_DELAYS", "0,5,1000")
    config.cache_clear()
    # All in one thread: then a seed is always the same story.
    monkeypatch.setattr("shared.kernel.db.parallel._inside", lambda: True)
    monkeypatch.setattr(app, "_threads", InlineExecutor())
    monkeypatch.setattr(lines, "_fresh_threads", nullcontext)
    monkeypatch.setattr("shared.kernel.db.counters.SHARDS", 2)
    monkeypatch.setattr("shared.kernel.db.transaction.SHARDS", 2)
    with open_line(desk, clock) as line:
        yield Fray(line, aws_faults, random.Random(SEED), most=4 * EVENTS)  # noqa: S311


def test_everything_arrives_though_relay_and_worker_die(fray: Fray) -> None:
    try:
        fray.play(EVENTS)
        _assert_all_is_as_it_should_be(fray)
    except BaseException as error:
        error.add_note(f"again: make soak SEED={SEED} EVENTS={EVENTS} ARGS='-k die'")
        raise


def _assert_all_is_as_it_should_be(fray: Fray) -> None:
    line = fray.line
    assert set(fray.struck) == {"died before", "died after", "lost", "throttled"}
    assert fray.struck.total() >= 2 * EVENTS
    for (slug, name), number in fray.hooks.items():
        books = line.books(slug)
        head, failures = books.heads[number], books.pulses[number].failure_count
        log = [one for (webhook, _), one in books.deliveries.items() if webhook == number]
        ends, wanted = Counter(one.status for one in log), _wanted(slug, head.events)
        match name:
            case "well" | "slow" | "picky":
                assert ends == {"succeeded": wanted}
                assert (head.is_active, failures) == (True, 0)
            case "broken":
                # Which are sent when it has ended depends on when they are relayed.
                count = min(wanted, MOST_FAILURES)
                assert (ends["failed"], failures) == (count, count)
                assert head.is_active == (count < MOST_FAILURES)
                assert set(ends) <= {"failed", "cancelled"}
            case "gone":
                assert (ends["failed"], failures, head.is_active) == (1, 1, False)
                assert set(ends) <= {"failed", "cancelled"}
            case "shaky" if head.is_active:
                ended = [one.status for one in sorted(log, key=lambda one: one.updated_at)]
                assert failures == _in_a_row(ended)


def _wanted(slug: str, kinds: Any) -> int:
    events = [one.image for one in read_outbox() if one.tenant == slug and "type" in one.image]
    return sum(event["type"]["S"] in kinds for event in events)


def _in_a_row(ended: Sequence[str]) -> int:
    """Failures since the last success."""
    return next(
        (count for count, status in enumerate(reversed(ended)) if status != "failed"), len(ended)
    )
