"""Operations on webhooks for fault injection: requests, relay batches, delivery messages."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from shared.integration.webhooks.http_client import AttemptResult
from tests.gateway import Response
from tests.integration.webhooks.event_pipeline import (
    CHOSEN_SECRET,
    EventPipeline,
    fail_first_attempts,
)
from tests.webhook_scenario import EndpointStub, SentRequest, respond_204, respond_500

_DELAYS = "0,5,1000"
"""Retry delays in seconds; the last one exceeds the maximum delay of SQS."""

type Action = Callable[[], object]


def _gone(_: SentRequest) -> AttemptResult:
    return AttemptResult(milliseconds=12, status=410, error="responded with status 410")


def _fail_slowly(_: SentRequest) -> AttemptResult:
    return AttemptResult(milliseconds=2_500, status=500, error="responded with status 500")


@dataclass(frozen=True, slots=True)
class FaultCase:
    """A repeatable action and its preparation.

    `expected`: status and tries of the delivery, failure count and `is_active` of the
    subscription; None if the case has no delivery.
    """

    name: str
    prepare: Callable[[EventPipeline], Action]
    expected: tuple[str, int, int, bool] | None = None
    delays: str = _DELAYS


# Requests


def _request(pipeline: EventPipeline, method: str, path: str, body: object = None) -> Action:
    erp = pipeline.erp()

    def action() -> Response:
        answer = erp.send(method, path, body, key="key-1")
        if answer.status < 300 and "secret" in answer.data:
            pipeline.secrets.add(answer.data["secret"])
        return answer

    return action


def _create(pipeline: EventPipeline) -> Action:
    pipeline.subscribe("product.created")
    body = {"url": "https://hooks.example.com/new", "events": ["product.created"]}
    return _request(pipeline, "POST", "/webhooks", body)


def _create_with_own_secret(pipeline: EventPipeline) -> Action:
    body = {"url": "https://hooks.example.com/new", "events": ["product.created"]}
    return _request(pipeline, "POST", "/webhooks", {**body, "secret": CHOSEN_SECRET})


def _between_attempts(pipeline: EventPipeline, *, times: int = 1) -> int:
    """Create a subscription with a delivery between its first and second attempt."""
    number = pipeline.subscribe()
    pipeline.scenario.endpoint = fail_first_attempts(pipeline, times, respond_500)
    pipeline.commit_events(1)
    pipeline.run(until=lambda: _tries(pipeline) == 1)
    return number


def _tries(pipeline: EventPipeline) -> int:
    return max((one.tries for one in pipeline.state().open_deliveries()), default=0)


def _change(body: dict[str, object]) -> Callable[[EventPipeline], Action]:
    def prepare(pipeline: EventPipeline) -> Action:
        return _request(pipeline, "PATCH", f"/webhooks/{_between_attempts(pipeline)}", body)

    return prepare


def _change_url(pipeline: EventPipeline) -> Action:
    number = _between_attempts(pipeline)
    url = pipeline.state().webhooks[number].url.replace("example.com", "example.com:8443")
    return _request(pipeline, "PATCH", f"/webhooks/{number}", {"url": url})


def _activate(pipeline: EventPipeline) -> Action:
    number = pipeline.subscribe()
    pipeline.scenario.endpoint = _gone
    pipeline.commit_events(1)
    pipeline.run()
    pipeline.scenario.endpoint = respond_204
    return _request(pipeline, "PATCH", f"/webhooks/{number}", {"is_active": True})


def _delete(pipeline: EventPipeline) -> Action:
    return _request(pipeline, "DELETE", f"/webhooks/{_between_attempts(pipeline)}")


def _rotate(pipeline: EventPipeline) -> Action:
    return _request(pipeline, "POST", f"/webhooks/{_between_attempts(pipeline)}/rotate-secret", {})


def _send_test(pipeline: EventPipeline) -> Action:
    return _request(pipeline, "POST", f"/webhooks/{pipeline.subscribe()}/test")


def _redeliver(pipeline: EventPipeline) -> Action:
    number = _between_attempts(pipeline)
    [event] = [one.id for one in pipeline.state().open_deliveries()]
    return _request(pipeline, "POST", f"/webhooks/{number}/deliveries/{event}/redeliver")


# The relay


def _relay_batch(pipeline: EventPipeline) -> Action:
    """Prepare events of two tenants with several or no subscriptions, and a redelivery."""
    first = pipeline.subscribe()
    pipeline.scenario.endpoint = fail_first_attempts(pipeline, 1, respond_500)
    [event] = pipeline.commit_events(1)
    pipeline.run()
    pipeline.subscribe("product.created", "product.updated")
    pipeline.subscribe("product.updated", slug="beta")
    pipeline.erp().post(f"/webhooks/{first}/deliveries/{event}/redeliver").ok(202)
    assert pipeline.erp().post(f"/webhooks/{first}/test").status == 202
    pipeline.commit_events(2, 3)
    pipeline.commit_events(4, kind="product.updated")
    pipeline.commit_events(5, kind="product.updated", slug="beta")
    pipeline.commit_events(6, kind="wave.planned", slug="beta")
    return pipeline.run_relay


# The worker


def _message(pipeline: EventPipeline) -> Action:
    """Return the processing of the only queued message by the worker."""
    [message] = pipeline.queue
    pipeline.clock.advance(max(0, message.visible_at - pipeline.clock.time()))

    def action() -> None:
        [one] = [one for one in pipeline.queue if one.body == message.body]
        pipeline.run_worker([one])

    return action


def _first_attempt(pipeline: EventPipeline) -> Action:
    """Return the processing of an event's first message in the slow queue."""
    pipeline.commit_events(1)
    pipeline.run_relay()
    pipeline.step()
    action = _message(pipeline)
    assert pipeline.queue[0].body["slow"]
    return action


def fail_then_succeed(
    times: int, answer: EndpointStub = respond_500
) -> Callable[[EventPipeline], Action]:
    """Return a case whose endpoint responds with `answer` `times` times before it succeeds."""

    def prepare(pipeline: EventPipeline) -> Action:
        pipeline.subscribe()
        pipeline.scenario.endpoint = fail_first_attempts(pipeline, times, answer)
        return _first_attempt(pipeline)

    return prepare


def _chosen_secret(pipeline: EventPipeline) -> Action:
    pipeline.subscribe(secret=CHOSEN_SECRET)
    return _first_attempt(pipeline)


def _fast_endpoint(pipeline: EventPipeline) -> Action:
    """Prepare a message to a fast endpoint."""
    pipeline.subscribe()
    pipeline.commit_events(2)
    pipeline.run()
    pipeline.commit_events(1)
    pipeline.run_relay()
    return _message(pipeline)


def _moved_to_slow_queue(pipeline: EventPipeline) -> Action:
    pipeline.subscribe()
    pipeline.commit_events(1)
    pipeline.run_relay()
    return _message(pipeline)


def _last_attempt(pipeline: EventPipeline, early_seconds: float = 0) -> Action:
    """Prepare a message that arrives some seconds before its attempt is due."""
    _between_attempts(pipeline, times=3)
    pipeline.run(until=lambda: _tries(pipeline) == 2)
    [message] = pipeline.queue
    message.visible_at = message.body["due"] / 1000 - early_seconds
    return _message(pipeline)


def _tenth_failure(pipeline: EventPipeline) -> Action:
    number = pipeline.subscribe()
    pipeline.scenario.endpoint = fail_first_attempts(pipeline, 3, respond_500)
    pipeline.commit_events(*range(1, 10))
    pipeline.run()
    assert pipeline.state().health[number].failure_count == 9
    pipeline.commit_events(10)
    pipeline.run_relay()
    return _message(pipeline)


def _changed_before_attempt(method: str, body: object = None) -> Callable[[EventPipeline], Action]:
    def prepare(pipeline: EventPipeline) -> Action:
        number = _between_attempts(pipeline)
        pipeline.erp().send(method, f"/webhooks/{number}", body).ok()
        return _message(pipeline)

    return prepare


def _redelivered_before_retry(pipeline: EventPipeline) -> Action:
    """Prepare a redelivery request during the retry delay: both messages are queued."""
    number = _between_attempts(pipeline)
    [event] = [one.id for one in pipeline.state().open_deliveries()]
    [retry] = pipeline.queue
    path = f"/webhooks/{number}/deliveries/{event}/redeliver"
    assert pipeline.erp().post(path).status == 202
    pipeline.run_relay()
    pipeline.clock.advance(max(0, retry.visible_at - pipeline.clock.time()))
    bodies = [one.body for one in pipeline.queue]
    assert [body["round"] for body in bodies] == [1, 2]
    return lambda: pipeline.run_worker([one for one in pipeline.queue if one.body in bodies])


FAULT_CASES = (
    FaultCase("create", _create),
    FaultCase("create with a chosen secret", _create_with_own_secret),
    FaultCase("change the URL", _change_url, ("succeeded", 2, 0, True)),
    FaultCase("unsubscribe", _change({"events": ["wave.planned"]}), ("cancelled", 1, 0, True)),
    FaultCase("deactivate", _change({"is_active": False}), ("cancelled", 1, 0, False)),
    FaultCase("activate", _activate, ("failed", 1, 0, True)),
    FaultCase("delete", _delete),
    FaultCase("rotate the secret", _rotate, ("succeeded", 2, 0, True)),
    FaultCase("send a test", _send_test, ("succeeded", 1, 0, True)),
    FaultCase("redeliver", _redeliver, ("succeeded", 2, 0, True)),
    FaultCase("relay a batch", _relay_batch),
    FaultCase("succeed", fail_then_succeed(0), ("succeeded", 1, 0, True)),
    FaultCase("succeed with a chosen secret", _chosen_secret, ("succeeded", 1, 0, True)),
    FaultCase("succeed in the fast queue", _fast_endpoint, ("succeeded", 1, 0, True)),
    FaultCase("fail once", fail_then_succeed(1), ("succeeded", 2, 0, True)),
    FaultCase("fail slowly", fail_then_succeed(2, _fail_slowly), ("succeeded", 3, 0, True)),
    FaultCase("fail all attempts", _last_attempt, ("failed", 3, 1, True)),
    FaultCase("fail for the tenth time", _tenth_failure, ("failed", 1, 10, False), delays="0"),
    FaultCase("respond with 410", fail_then_succeed(9, _gone), ("failed", 1, 1, False)),
    FaultCase("not due yet", partial(_last_attempt, early_seconds=30), ("failed", 3, 1, True)),
    FaultCase("move to the slow queue", _moved_to_slow_queue, ("succeeded", 1, 0, True)),
    FaultCase("deleted before the attempt", _changed_before_attempt("DELETE")),
    FaultCase(
        "deactivated before the attempt",
        _changed_before_attempt("PATCH", {"is_active": False}),
        ("cancelled", 1, 0, False),
    ),
    FaultCase(
        "unsubscribed before the attempt",
        _changed_before_attempt("PATCH", {"events": ["wave.planned"]}),
        ("cancelled", 1, 0, True),
    ),
    FaultCase("redelivered before the retry", _redelivered_before_retry, ("succeeded", 2, 0, True)),
)
