"""Two at the same webhook at the same instant: requests, workers, a request and a worker.

Of the many ways in which their calls can come after one another, each seed draws one. An
endpoint may take a second: then whoever delivers at the same time meets there.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import pytest

from functions.webhook_worker import app
from shared.integration.webhooks.http_client import AttemptResult
from shared.integration.webhooks.models import StoredDelivery
from shared.integration.webhooks.signatures import signature_headers
from shared.kernel.config import config
from tests.faults import AwsFaults
from tests.gateway import Response
from tests.integration.webhooks import event_pipeline as lines
from tests.integration.webhooks.event_pipeline import (
    EventPipeline,
    QueuedMessage,
    fail_first_attempts,
    open_pipeline,
)
from tests.integration.webhooks.stored_state import MAX_SUBSCRIPTIONS
from tests.interleaving import Scheduler, replayable, seeds
from tests.stack import Stack
from tests.webhook_scenario import (
    EndpointStub,
    InlineExecutor,
    SentRequest,
    open_desk,
    respond_204,
    respond_500,
)

_SEEDS = 3
_TOO_MANY = 5
_MAX_TRIES = 10

type Action = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class ConcurrentRun:
    """Webhooks of acme, and how their time passes."""

    pipeline: EventPipeline
    scheduler: Scheduler

    def seeds(self, count: int = _SEEDS) -> Iterator[int]:
        """Begin anew for each of the seeds."""
        back = self.pipeline.snapshot()
        for seed in seeds(count):
            back()
            with replayable(seed):
                yield seed

    def run_concurrently(self, *acts: Action, seed: int) -> list[Any]:
        """Act at the same time, then let everything come to its end."""
        clock = self.scheduler._clock
        clock._began += clock._ahead  # it begins each run at the same time
        results = self.scheduler.run(acts, seed)
        self.pipeline.run()
        self.pipeline.assert_all_delivered()
        self.pipeline.assert_no_secret_leaked()
        return results

    def set_endpoint(
        self, endpoint: EndpointStub, seconds: Sequence[float] = (0, 0.005, 1)
    ) -> None:
        """Let endpoints answer so, after one of these times."""

        def late(sent: SentRequest) -> AttemptResult:
            self.scheduler._clock.sleep(random.choice(seconds))  # noqa: S311
            return endpoint(sent)

        self.pipeline.scenario.endpoint = late

    def queue_first_attempts(self, *products: int) -> None:
        """Let events happen whose first attempts are next."""
        self.pipeline.commit_events(*products)
        self.pipeline.run_relay()
        if not any(pulse.quick for pulse in self.pipeline.state().health.values()):
            self.pipeline.run(until=lambda: all(one.body["slow"] for one in self.pipeline.queue))
        assert len(self.pipeline.queue) == len(products)

    def queue_second_attempt(self) -> None:
        """Let an event happen whose delivery fails at first; its second attempt is next."""
        self.set_endpoint(fail_first_attempts(self.pipeline, 1, respond_500))
        self.pipeline.commit_events(1)
        self.pipeline.run(
            until=lambda: any(one.tries for one in self.pipeline.state().open_deliveries())
        )
        self.pipeline.receivable()

    def worker(self, place: int = 0) -> Action:
        """Have the worker sent to one of the messages."""
        letter = self.pipeline.queue[place]
        return lambda: self.pipeline.run_worker([letter])

    def send(self, method: str, path: str, body: object = None, key: str | None = None) -> Action:
        """Have a request made, and again when the service is too busy."""
        erp = self.pipeline.erp()

        def act() -> Response:
            for _ in range(_MAX_TRIES):
                answer = erp.send(method, path, body, key=key)
                if answer.status < 300 and "secret" in answer.data:
                    self.pipeline.secrets.add(answer.data["secret"])
                if answer.status != 503:
                    return answer
            pytest.fail(f"always too busy: {answer.text}")

        return act

    def delivery(self) -> StoredDelivery:
        """The only delivery."""
        [found] = self.pipeline.state().deliveries.values()
        return found


@pytest.fixture
def play(
    stack: Stack, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ConcurrentRun]:
    scheduler = Scheduler(aws_faults, monkeypatch)
    monkeypatch.setattr("shared.kernel.db.counters.SHARDS", 2)
    monkeypatch.setattr("shared.kernel.db.transaction.SHARDS", 2)
    # One goes at a time: a worker does everything in its own thread.
    monkeypatch.setattr(app, "_threads", InlineExecutor())
    monkeypatch.setattr(lines, "_own_threads", nullcontext)
    monkeypatch.setenv("WEBHOOK_RETRY_DELAYS", "0,5,1000")
    config.cache_clear()
    with open_desk(stack, monkeypatch) as desk, open_pipeline(desk, scheduler._clock) as line:
        play = ConcurrentRun(line, scheduler)
        play.set_endpoint(respond_204)
        yield play


def _allow_one_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBHOOK_RETRY_DELAYS", "0")
    config.cache_clear()


def _statuses(delivery: StoredDelivery) -> list[int | None]:
    return [attempt.status for attempt in delivery.attempts]


# Requests


def test_a_tenant_never_has_more_subscriptions_than_it_may(play: ConcurrentRun) -> None:
    body = {"url": "https://hooks.example.com/x", "events": ["product.created"]}
    for seed in play.seeds(1):
        creates = [
            play.send("POST", "/webhooks", {**body, "url": f"{body['url']}{number}"})
            for number in range(MAX_SUBSCRIPTIONS + _TOO_MANY)
        ]
        answers = play.run_concurrently(*creates, seed=seed)
        assert Counter(answer.status for answer in answers) == {
            201: MAX_SUBSCRIPTIONS,
            402: _TOO_MANY,
        }
        assert {answer.code for answer in answers if answer.status == 402} == {"limit_reached"}
        assert len(play.pipeline.state().webhooks) == MAX_SUBSCRIPTIONS


def test_different_subscriptions_change_side_by_side(play: ConcurrentRun) -> None:
    first, second, third = (play.pipeline.subscribe() for _ in range(3))
    for seed in play.seeds():
        body = {"url": "https://hooks.example.com/new", "events": ["product.updated"]}
        answers = play.run_concurrently(
            play.send("PATCH", f"/webhooks/{first}", {"events": ["product.updated"]}),
            play.send("PATCH", f"/webhooks/{second}", {"is_active": False}),
            play.send("DELETE", f"/webhooks/{third}"),
            play.send("POST", "/webhooks", body),
            seed=seed,
        )
        assert [answer.status for answer in answers] == [200, 200, 200, 201]
        new = answers[-1].data["id"]
        assert play.pipeline.state().register.subscribers_of("product.updated") == [first, new]
        assert play.pipeline.state().register.subscribers_of("product.created") == []


@pytest.mark.parametrize(("overlap", "after"), [(0, (False, True)), (24, (True, True))])
def test_a_secret_is_rotated_while_it_signs(
    play: ConcurrentRun, overlap: int, after: tuple[bool, bool]
) -> None:
    number = play.pipeline.subscribe()
    [old] = play.pipeline.secrets
    play.queue_first_attempts(1)
    path = f"/webhooks/{number}/rotate-secret"
    for seed in play.seeds():
        rotate = play.send("POST", path, {"overlap_hours": overlap})
        answer, _ = play.run_concurrently(rotate, play.worker(), seed=seed)
        [sent] = play.pipeline.scenario.sent
        signed = _signed(sent, old), _signed(sent, answer.data["secret"])
        assert signed in {(True, False), after}


def _signed(sent: SentRequest, secret: str) -> bool:
    at = int(sent.headers["webhook-timestamp"])
    expected = signature_headers(sent.event["id"], sent.body, [secret], at)["webhook-signature"]
    return expected in sent.headers["webhook-signature"].split()


def test_asked_for_twice_it_is_delivered_once_more(play: ConcurrentRun) -> None:
    number = play.pipeline.subscribe()
    [event] = play.pipeline.commit_events(1)
    play.pipeline.run()
    for seed in play.seeds():
        again = play.send("POST", f"/webhooks/{number}/deliveries/{event}/redeliver")
        answers = play.run_concurrently(again, again, seed=seed)
        assert [answer.status for answer in answers] == [202, 202]
        delivery = play.delivery()
        assert (delivery.status, delivery.round, delivery.tries) == ("succeeded", 3, 1)
        # The message of the second round is dropped: there is a later one.
        assert play.pipeline.requests_per_event().total() == 2


# Workers


@pytest.mark.parametrize(("endpoint", "answers"), [(respond_204, [204]), (respond_500, [500, 204])])
def test_one_message_comes_to_two_workers(
    play: ConcurrentRun, endpoint: EndpointStub, answers: list[int]
) -> None:
    play.pipeline.subscribe()
    play.set_endpoint(fail_first_attempts(play.pipeline, len(answers) - 1, endpoint))
    play.queue_first_attempts(1)
    play.pipeline.queue.append(
        QueuedMessage(dict(play.pipeline.queue[0].body), play.pipeline.clock.time())
    )
    for seed in play.seeds(2 * _SEEDS):
        play.run_concurrently(play.worker(0), play.worker(1), seed=seed)
        delivery = play.delivery()
        assert delivery.status == "succeeded"
        assert _statuses(delivery) == answers
        assert play.pipeline.requests_per_event().total() <= len(answers) + 1, (
            "only what met was sent twice"
        )


def test_a_message_comes_again_while_its_worker_is_not_dead(play: ConcurrentRun) -> None:
    play.pipeline.subscribe()
    play.set_endpoint(fail_first_attempts(play.pipeline, 1, respond_500))
    play.queue_first_attempts(1)
    again = QueuedMessage(dict(play.pipeline.queue[0].body), play.pipeline.clock.time(), receives=1)
    play.pipeline.queue.append(again)
    for seed in play.seeds(2 * _SEEDS):
        play.run_concurrently(play.worker(0), play.worker(1), seed=seed)
        delivery = play.delivery()
        assert (delivery.status, _statuses(delivery)) == ("succeeded", [500, 204])


@pytest.mark.parametrize("failures", [0, 8, 9])
def test_failures_at_once_are_counted_one_by_one(
    play: ConcurrentRun, failures: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _allow_one_attempt(monkeypatch)
    number = _failed(play, failures)
    play.queue_first_attempts(101, 102)
    play.set_endpoint(respond_500, seconds=[1])
    for seed in play.seeds(2 * _SEEDS):
        play.run_concurrently(play.worker(0), play.worker(1), seed=seed)
        books = play.pipeline.state()
        assert books.health[number].failure_count == min(failures + 2, 10)
        assert books.webhooks[number].is_active == (failures + 2 < 10)
        ends = Counter(delivery.status for delivery in books.deliveries.values())
        # Of two of which the first ends it, the second may be spared its attempt.
        assert ends["failed"] + ends["cancelled"] == failures + 2
        assert ends["cancelled"] <= (failures == 9)


def test_one_last_failure_at_two_workers_is_one_failure(
    play: ConcurrentRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    _allow_one_attempt(monkeypatch)
    number = _failed(play, 2)
    play.queue_first_attempts(101)
    play.pipeline.queue.append(
        QueuedMessage(dict(play.pipeline.queue[0].body), play.pipeline.clock.time())
    )
    play.set_endpoint(respond_500, seconds=[1])
    for seed in play.seeds(2 * _SEEDS):
        play.run_concurrently(play.worker(0), play.worker(1), seed=seed)
        books = play.pipeline.state()
        assert books.health[number].failure_count == 3
        assert [_statuses(delivery) for delivery in books.deliveries.values()] == [[500]] * 3


def _failed(play: ConcurrentRun, failures: int) -> int:
    """A subscription behind which lie so many failures in a row."""
    number = play.pipeline.subscribe()
    play.set_endpoint(respond_500)
    play.pipeline.commit_events(*range(1, failures + 1))
    play.pipeline.run()
    assert play.pipeline.state().health[number].failure_count == failures
    return number


def test_a_success_and_a_failure_at_once(
    play: ConcurrentRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The failure counts from nothing or, when it came first, not at all."""
    _allow_one_attempt(monkeypatch)
    number = _failed(play, 3)
    play.queue_first_attempts(101, 102)
    bad = play.pipeline.queue[0].body["event"]
    play.set_endpoint(lambda sent: (respond_500 if sent.event["id"] == bad else respond_204)(sent))
    for seed in play.seeds(2 * _SEEDS):
        play.run_concurrently(play.worker(0), play.worker(1), seed=seed)
        assert play.pipeline.state().health[number].failure_count in {0, 1}


# A request and a worker


def test_activated_at_the_tenth_failure(
    play: ConcurrentRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    _allow_one_attempt(monkeypatch)
    number = _failed(play, 9)
    play.queue_first_attempts(101)
    activate = play.send("PATCH", f"/webhooks/{number}", {"is_active": True})
    for seed in play.seeds(2 * _SEEDS):
        answer, _ = play.run_concurrently(activate, play.worker(), seed=seed)
        assert (answer.status, answer.data["failure_count"]) == (200, 0)
        books = play.pipeline.state()
        assert books.webhooks[number].is_active
        assert books.health[number].failure_count in {0, 1}


def test_deactivated_at_the_tenth_failure(
    play: ConcurrentRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    _allow_one_attempt(monkeypatch)
    number = _failed(play, 9)
    play.queue_first_attempts(101)
    deactivate = play.send("PATCH", f"/webhooks/{number}", {"is_active": False})
    for seed in play.seeds(2 * _SEEDS):
        answer, _ = play.run_concurrently(deactivate, play.worker(), seed=seed)
        assert answer.status == 200
        assert not play.pipeline.state().webhooks[number].is_active


@pytest.mark.parametrize("delays", ["0", "0,5,1000"])
@pytest.mark.parametrize("endpoint", [respond_204, respond_500])
def test_deleted_while_it_is_delivered(
    play: ConcurrentRun, endpoint: EndpointStub, delays: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBHOOK_RETRY_DELAYS", delays)
    config.cache_clear()
    number = play.pipeline.subscribe()
    play.set_endpoint(endpoint)
    play.queue_first_attempts(1)
    for seed in play.seeds():
        delete = play.send("DELETE", f"/webhooks/{number}")
        answer, _ = play.run_concurrently(delete, play.worker(), seed=seed)
        assert answer.status == 200
        assert play.pipeline.erp().get(f"/webhooks/{number}").status == 410
        assert not play.pipeline.state().health
        assert play.pipeline.requests_per_event().total() <= 1


def test_asked_for_again_while_it_is_retried(play: ConcurrentRun) -> None:
    number = play.pipeline.subscribe()
    play.queue_second_attempt()
    [event] = [one.id for one in play.pipeline.state().open_deliveries()]
    again = play.send("POST", f"/webhooks/{number}/deliveries/{event}/redeliver")
    for seed in play.seeds(2 * _SEEDS):
        answer, _ = play.run_concurrently(again, play.worker(), seed=seed)
        assert answer.status == 202
        delivery = play.delivery()
        assert (delivery.status, delivery.round, delivery.tries) == ("succeeded", 2, 2)
        # What the retry answered is in the log when it was first, and only then.
        assert _statuses(delivery) in ([500, 204, 500, 204], [500, 500, 204])


@pytest.mark.parametrize("change", [{"events": ["wave.planned"]}, {"is_active": False}])
def test_a_subscription_changes_while_an_event_is_relayed(
    play: ConcurrentRun, change: dict[str, object]
) -> None:
    number = play.pipeline.subscribe()
    play.pipeline.commit_events(1)
    for seed in play.seeds():
        patch = play.send("PATCH", f"/webhooks/{number}", change)
        answer, _ = play.run_concurrently(patch, play.pipeline.run_relay, seed=seed)
        assert answer.status == 200
        ends = [delivery.status for delivery in play.pipeline.state().deliveries.values()]
        assert ends in ([], ["cancelled"])
        assert not play.pipeline.scenario.sent
