"""Concurrent requests and workers on the same webhook.

Each seed selects one interleaving of their AWS calls. Endpoints may take a second, so that
concurrent attempts overlap.
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
from tests.gateway import Response
from tests.integration.webhooks import event_pipeline
from tests.integration.webhooks.event_pipeline import (
    EventPipeline,
    QueuedMessage,
    fail_first_attempts,
    open_pipeline,
)
from tests.interleaving import Scheduler, seeds
from tests.stack import Stack
from tests.webhook_scenario import (
    EndpointStub,
    InlineExecutor,
    SentRequest,
    open_webhook_scenario,
    respond_204,
    respond_500,
)

_SEEDS = 3
_MAX_TRIES = 10

type Action = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class ConcurrentRun:
    """The webhooks of acme with a scheduler of concurrent actions."""

    pipeline: EventPipeline
    scheduler: Scheduler

    def seeds(self, count: int = _SEEDS) -> Iterator[int]:
        """Yield seeds; restore the initial state before each."""
        back = self.pipeline.snapshot()
        for seed in seeds(count):
            back()
            yield seed

    def run_concurrently(self, *actions: Action, seed: int) -> list[Any]:
        """Run actions concurrently, then the pipeline until all deliveries have ended."""
        clock = self.scheduler._clock
        clock._began += clock._ahead  # each run starts at the same time
        results = self.scheduler.run(actions, seed)
        self.pipeline.run()
        self.pipeline.assert_all_delivered()
        self.pipeline.assert_no_secret_leaked()
        return results

    def run_two_workers(self, seed: int) -> None:
        """Process the first two queued messages concurrently, then all that follows."""
        self.run_concurrently(self.worker(0), self.worker(1), seed=seed)

    def repeat_message(self) -> None:
        """Queue the first message once more, as SQS may deliver it twice."""
        message = QueuedMessage(dict(self.pipeline.queue[0].body), self.pipeline.clock.time())
        self.pipeline.queue.append(message)

    def set_endpoint(
        self, endpoint: EndpointStub, seconds: Sequence[float] = (0, 0.005, 1)
    ) -> None:
        """Set the endpoint; it responds after one of these durations."""

        def late(sent: SentRequest) -> AttemptResult:
            self.scheduler._clock.sleep(random.choice(seconds))  # noqa: S311
            return endpoint(sent)

        self.pipeline.scenario.endpoint = late

    def queue_first_attempts(self, *products: int) -> None:
        """Commit events; their first attempts are the next messages."""
        self.pipeline.commit_events(*products)
        self.pipeline.run_relay()
        if not any(health.quick for health in self.pipeline.state().health.values()):
            self.pipeline.run(until=lambda: all(one.body["slow"] for one in self.pipeline.queue))
        assert len(self.pipeline.queue) == len(products)

    def queue_second_attempt(self) -> None:
        """Commit an event whose first attempt fails; the second attempt is the next message."""
        self.set_endpoint(fail_first_attempts(self.pipeline, 1, respond_500))
        self.pipeline.commit_events(1)
        self.pipeline.run(
            until=lambda: any(one.tries for one in self.pipeline.state().open_deliveries())
        )
        self.pipeline.receivable()

    def worker(self, position: int = 0) -> Action:
        """Return the processing of a queued message by a worker."""
        message = self.pipeline.queue[position]
        return lambda: self.pipeline.run_worker([message])

    def send(self, method: str, path: str, body: object = None, key: str | None = None) -> Action:
        """Return a request that is repeated on 503."""
        erp = self.pipeline.erp()

        def action() -> Response:
            for _ in range(_MAX_TRIES):
                answer = erp.send(method, path, body, key=key)
                if answer.status < 300 and "secret" in answer.data:
                    self.pipeline.secrets.add(answer.data["secret"])
                if answer.status != 503:
                    return answer
            pytest.fail(f"{_MAX_TRIES} responses with 503: {answer.text}")

        return action

    def delivery(self) -> StoredDelivery:
        """Return the only delivery."""
        [found] = self.pipeline.state().deliveries.values()
        return found


@pytest.fixture
def concurrent_run(
    stack: Stack, scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ConcurrentRun]:
    # The scheduler runs one thread at a time, so a worker must not start others.
    monkeypatch.setattr(app, "_threads", InlineExecutor())
    monkeypatch.setattr(event_pipeline, "_own_threads", nullcontext)
    monkeypatch.setenv("WEBHOOK_RETRY_DELAYS", "0,5,1000")
    config.cache_clear()
    with (
        open_webhook_scenario(stack, monkeypatch) as webhooks,
        open_pipeline(webhooks, scheduler._clock) as pipeline,
    ):
        concurrent_run = ConcurrentRun(pipeline, scheduler)
        concurrent_run.set_endpoint(respond_204)
        yield concurrent_run


def _allow_one_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBHOOK_RETRY_DELAYS", "0")
    config.cache_clear()


def _statuses(delivery: StoredDelivery) -> list[int | None]:
    return [attempt.status for attempt in delivery.attempts]


# Requests


def test_concurrent_changes_of_different_subscriptions_succeed(
    concurrent_run: ConcurrentRun,
) -> None:
    first, second, third = (concurrent_run.pipeline.subscribe() for _ in range(3))
    for seed in concurrent_run.seeds():
        body = {"url": "https://hooks.example.com/new", "events": ["product.updated"]}
        answers = concurrent_run.run_concurrently(
            concurrent_run.send("PATCH", f"/webhooks/{first}", {"events": ["product.updated"]}),
            concurrent_run.send("PATCH", f"/webhooks/{second}", {"is_active": False}),
            concurrent_run.send("DELETE", f"/webhooks/{third}"),
            concurrent_run.send("POST", "/webhooks", body),
            seed=seed,
        )
        assert [answer.status for answer in answers] == [200, 200, 200, 201]
        new = answers[-1].data["id"]
        assert concurrent_run.pipeline.state().register.subscribers_of("product.updated") == [
            first,
            new,
        ]
        assert concurrent_run.pipeline.state().register.subscribers_of("product.created") == []


@pytest.mark.parametrize(("overlap", "after"), [(0, (False, True)), (24, (True, True))])
def test_rotation_during_a_delivery_uses_a_valid_set_of_secrets(
    concurrent_run: ConcurrentRun, overlap: int, after: tuple[bool, bool]
) -> None:
    number = concurrent_run.pipeline.subscribe()
    [old] = concurrent_run.pipeline.secrets
    concurrent_run.queue_first_attempts(1)
    path = f"/webhooks/{number}/rotate-secret"
    for seed in concurrent_run.seeds():
        rotate = concurrent_run.send("POST", path, {"overlap_hours": overlap})
        answer, _ = concurrent_run.run_concurrently(rotate, concurrent_run.worker(), seed=seed)
        [sent] = concurrent_run.pipeline.scenario.requests
        signed = _signed(sent, old), _signed(sent, answer.data["secret"])
        assert signed in {(True, False), after}


def _signed(sent: SentRequest, secret: str) -> bool:
    at = int(sent.headers["webhook-timestamp"])
    expected = signature_headers(sent.event["id"], sent.body, [secret], at)["webhook-signature"]
    return expected in sent.headers["webhook-signature"].split()


def test_two_concurrent_redelivery_requests_cause_one_delivery(
    concurrent_run: ConcurrentRun,
) -> None:
    number = concurrent_run.pipeline.subscribe()
    [event] = concurrent_run.pipeline.commit_events(1)
    concurrent_run.pipeline.run()
    for seed in concurrent_run.seeds():
        again = concurrent_run.send("POST", f"/webhooks/{number}/deliveries/{event}/redeliver")
        answers = concurrent_run.run_concurrently(again, again, seed=seed)
        assert [answer.status for answer in answers] == [202, 202]
        delivery = concurrent_run.delivery()
        assert (delivery.status, delivery.round, delivery.tries) == ("succeeded", 3, 1)
        # The message of the second round is obsolete and dropped.
        assert concurrent_run.pipeline.requests_per_event().total() == 2


# Workers


@pytest.mark.parametrize(("endpoint", "answers"), [(respond_204, [204]), (respond_500, [500, 204])])
def test_two_workers_with_the_same_message_log_one_attempt(
    concurrent_run: ConcurrentRun, endpoint: EndpointStub, answers: list[int]
) -> None:
    concurrent_run.pipeline.subscribe()
    concurrent_run.set_endpoint(
        fail_first_attempts(concurrent_run.pipeline, len(answers) - 1, endpoint)
    )
    concurrent_run.queue_first_attempts(1)
    concurrent_run.repeat_message()
    for seed in concurrent_run.seeds(2 * _SEEDS):
        concurrent_run.run_two_workers(seed)
        delivery = concurrent_run.delivery()
        assert delivery.status == "succeeded"
        assert _statuses(delivery) == answers
        assert concurrent_run.pipeline.requests_per_event().total() <= len(answers) + 1, (
            "only overlapping attempts are duplicates"
        )


@pytest.mark.parametrize("failures", [0, 8, 9])
def test_concurrent_failures_are_all_counted(
    concurrent_run: ConcurrentRun, failures: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _allow_one_attempt(monkeypatch)
    number = _failed(concurrent_run, failures)
    concurrent_run.queue_first_attempts(101, 102)
    concurrent_run.set_endpoint(respond_500, seconds=[1])
    for seed in concurrent_run.seeds(2 * _SEEDS):
        concurrent_run.run_two_workers(seed)
        state = concurrent_run.pipeline.state()
        assert state.health[number].failure_count == min(failures + 2, 10)
        assert state.webhooks[number].is_active == (failures + 2 < 10)
        statuses = Counter(delivery.status for delivery in state.deliveries.values())
        # If the first one deactivates the subscription, the second one may be cancelled.
        assert statuses["failed"] + statuses["cancelled"] == failures + 2
        assert statuses["cancelled"] <= (failures == 9)


def test_a_final_failure_at_two_workers_is_counted_once(
    concurrent_run: ConcurrentRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    _allow_one_attempt(monkeypatch)
    number = _failed(concurrent_run, 2)
    concurrent_run.queue_first_attempts(101)
    concurrent_run.repeat_message()
    concurrent_run.set_endpoint(respond_500, seconds=[1])
    for seed in concurrent_run.seeds(2 * _SEEDS):
        concurrent_run.run_two_workers(seed)
        state = concurrent_run.pipeline.state()
        assert state.health[number].failure_count == 3
        assert [_statuses(delivery) for delivery in state.deliveries.values()] == [[500]] * 3


def _failed(concurrent_run: ConcurrentRun, failures: int) -> int:
    """Create a subscription with this many consecutive failures."""
    number = concurrent_run.pipeline.subscribe()
    concurrent_run.set_endpoint(respond_500)
    concurrent_run.pipeline.commit_events(*range(1, failures + 1))
    concurrent_run.pipeline.run()
    assert concurrent_run.pipeline.state().health[number].failure_count == failures
    return number


def test_a_success_and_a_failure_at_the_same_time_count_at_most_one_failure(
    concurrent_run: ConcurrentRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The success resets the count, before or after the failure."""
    _allow_one_attempt(monkeypatch)
    number = _failed(concurrent_run, 3)
    concurrent_run.queue_first_attempts(101, 102)
    bad = concurrent_run.pipeline.queue[0].body["event"]
    concurrent_run.set_endpoint(
        lambda sent: (respond_500 if sent.event["id"] == bad else respond_204)(sent)
    )
    for seed in concurrent_run.seeds(2 * _SEEDS):
        concurrent_run.run_two_workers(seed)
        assert concurrent_run.pipeline.state().health[number].failure_count in {0, 1}


# A request and a worker


def test_activation_during_the_tenth_failure_leaves_the_subscription_active(
    concurrent_run: ConcurrentRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    _allow_one_attempt(monkeypatch)
    number = _failed(concurrent_run, 9)
    concurrent_run.queue_first_attempts(101)
    activate = concurrent_run.send("PATCH", f"/webhooks/{number}", {"is_active": True})
    for seed in concurrent_run.seeds(2 * _SEEDS):
        answer, _ = concurrent_run.run_concurrently(activate, concurrent_run.worker(), seed=seed)
        assert (answer.status, answer.data["failure_count"]) == (200, 0)
        state = concurrent_run.pipeline.state()
        assert state.webhooks[number].is_active
        assert state.health[number].failure_count in {0, 1}


def test_deactivation_during_the_tenth_failure_succeeds(
    concurrent_run: ConcurrentRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    _allow_one_attempt(monkeypatch)
    number = _failed(concurrent_run, 9)
    concurrent_run.queue_first_attempts(101)
    deactivate = concurrent_run.send("PATCH", f"/webhooks/{number}", {"is_active": False})
    for seed in concurrent_run.seeds(2 * _SEEDS):
        answer, _ = concurrent_run.run_concurrently(deactivate, concurrent_run.worker(), seed=seed)
        assert answer.status == 200
        assert not concurrent_run.pipeline.state().webhooks[number].is_active


@pytest.mark.parametrize("delays", ["0", "0,5,1000"])
@pytest.mark.parametrize("endpoint", [respond_204, respond_500])
def test_deletion_during_a_delivery_leaves_no_items(
    concurrent_run: ConcurrentRun,
    endpoint: EndpointStub,
    delays: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WEBHOOK_RETRY_DELAYS", delays)
    config.cache_clear()
    number = concurrent_run.pipeline.subscribe()
    concurrent_run.set_endpoint(endpoint)
    concurrent_run.queue_first_attempts(1)
    for seed in concurrent_run.seeds():
        delete = concurrent_run.send("DELETE", f"/webhooks/{number}")
        answer, _ = concurrent_run.run_concurrently(delete, concurrent_run.worker(), seed=seed)
        assert answer.status == 200
        assert concurrent_run.pipeline.erp().get(f"/webhooks/{number}").status == 410
        assert not concurrent_run.pipeline.state().health
        assert concurrent_run.pipeline.requests_per_event().total() <= 1


def test_redelivery_request_during_a_retry_starts_a_new_round(
    concurrent_run: ConcurrentRun,
) -> None:
    number = concurrent_run.pipeline.subscribe()
    concurrent_run.queue_second_attempt()
    [event] = [one.id for one in concurrent_run.pipeline.state().open_deliveries()]
    again = concurrent_run.send("POST", f"/webhooks/{number}/deliveries/{event}/redeliver")
    for seed in concurrent_run.seeds(2 * _SEEDS):
        answer, _ = concurrent_run.run_concurrently(again, concurrent_run.worker(), seed=seed)
        assert answer.status == 202
        delivery = concurrent_run.delivery()
        assert (delivery.status, delivery.round, delivery.tries) == ("succeeded", 2, 2)
        # The log has the result of the retry only if the retry came first.
        assert _statuses(delivery) in ([500, 204, 500, 204], [500, 500, 204])


@pytest.mark.parametrize("change", [{"events": ["wave.planned"]}, {"is_active": False}])
def test_change_during_the_relay_prevents_the_delivery(
    concurrent_run: ConcurrentRun, change: dict[str, object]
) -> None:
    number = concurrent_run.pipeline.subscribe()
    concurrent_run.pipeline.commit_events(1)
    for seed in concurrent_run.seeds():
        patch = concurrent_run.send("PATCH", f"/webhooks/{number}", change)
        answer, _ = concurrent_run.run_concurrently(
            patch, concurrent_run.pipeline.run_relay, seed=seed
        )
        assert answer.status == 200
        statuses = [
            delivery.status for delivery in concurrent_run.pipeline.state().deliveries.values()
        ]
        assert statuses in ([], ["cancelled"])
        assert not concurrent_run.pipeline.scenario.requests
