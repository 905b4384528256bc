"""What happens to webhooks, to be disturbed: requests, batches of the relay, messages."""

from collections.abc import Callable
from dataclasses import dataclass

from shared.integration.webhooks.http_client import AttemptResult
from tests.gateway import Response
from tests.integration.webhooks.event_pipeline import (
    CHOSEN_SECRET,
    EventPipeline,
    fail_first_attempts,
)
from tests.webhook_scenario import EndpointStub, SentRequest, respond_204, respond_500

_DELAYS = "0,5,1000"
"""Seconds before the attempts of a delivery; the last is longer than a message can wait."""

type Action = Callable[[], object]


def _gone(_: SentRequest) -> AttemptResult:
    return AttemptResult(milliseconds=12, status=410, error="responded with status 410")


def _fail_slowly(_: SentRequest) -> AttemptResult:
    return AttemptResult(milliseconds=2_500, status=500, error="responded with status 500")


@dataclass(frozen=True, slots=True)
class FaultCase:
    """What is prepared, then the act that is disturbed; it can be repeated.

    `ends`: the status and the number of tries of the delivery it is about, the failures in a
    row and whether the subscription is active; None for what is no delivery's.
    """

    name: str
    prepare: Callable[[EventPipeline], Action]
    expected: tuple[str, int, int, bool] | None = None
    delays: str = _DELAYS


# Requests


def _request(line: EventPipeline, method: str, path: str, body: object = None) -> Action:
    erp = line.erp()

    def act() -> Response:
        answer = erp.send(method, path, body, key="key-1")
        if answer.status < 300 and "secret" in answer.data:
            line.secrets.add(answer.data["secret"])
        return answer

    return act


def _create(line: EventPipeline) -> Action:
    line.subscribe("product.created")
    body = {"url": "https://hooks.example.com/new", "events": ["product.created"]}
    return _request(line, "POST", "/webhooks", body)


def _create_with_own_secret(line: EventPipeline) -> Action:
    body = {"url": "https://hooks.example.com/new", "events": ["product.created"]}
    return _request(line, "POST", "/webhooks", {**body, "secret": CHOSEN_SECRET})


def _between_attempts(line: EventPipeline, *, times: int = 1) -> int:
    """A subscription to which a delivery has failed at first and will be tried again."""
    number = line.subscribe()
    line.scenario.endpoint = fail_first_attempts(line, times, respond_500)
    line.commit_events(1)
    line.run(until=lambda: _tries(line) == 1)
    return number


def _tries(line: EventPipeline) -> int:
    return max((one.tries for one in line.state().open_deliveries()), default=0)


def _patch(body: dict[str, object]) -> Callable[[EventPipeline], Action]:
    def prepare(line: EventPipeline) -> Action:
        return _request(line, "PATCH", f"/webhooks/{_between_attempts(line)}", body)

    return prepare


def _move(line: EventPipeline) -> Action:
    number = _between_attempts(line)
    url = line.state().webhooks[number].url.replace("example.com", "example.com:8443")
    return _request(line, "PATCH", f"/webhooks/{number}", {"url": url})


def _activate(line: EventPipeline) -> Action:
    number = line.subscribe()
    line.scenario.endpoint = _gone
    line.commit_events(1)
    line.run()
    line.scenario.endpoint = respond_204
    return _request(line, "PATCH", f"/webhooks/{number}", {"is_active": True})


def _delete(line: EventPipeline) -> Action:
    return _request(line, "DELETE", f"/webhooks/{_between_attempts(line)}")


def _rotate(line: EventPipeline) -> Action:
    return _request(line, "POST", f"/webhooks/{_between_attempts(line)}/rotate-secret", {})


def _test(line: EventPipeline) -> Action:
    return _request(line, "POST", f"/webhooks/{line.subscribe()}/test")


def _redeliver(line: EventPipeline) -> Action:
    number = _between_attempts(line)
    [event] = [one.id for one in line.state().open_deliveries()]
    return _request(line, "POST", f"/webhooks/{number}/deliveries/{event}/redeliver")


# The relay


def _batch(line: EventPipeline) -> Action:
    """Events of two tenants, some for several subscriptions, some for none; and a request."""
    first = line.subscribe()
    line.scenario.endpoint = fail_first_attempts(line, 1, respond_500)
    [event] = line.commit_events(1)
    line.run()
    line.subscribe("product.created", "product.updated")
    line.subscribe("product.updated", slug="beta")
    answer = line.erp().post(f"/webhooks/{first}/deliveries/{event}/redeliver")
    assert answer.status == 202
    assert line.erp().post(f"/webhooks/{first}/test").status == 202
    line.commit_events(2, 3)
    line.commit_events(4, kind="product.updated")
    line.commit_events(5, kind="product.updated", slug="beta")
    line.commit_events(6, kind="wave.planned", slug="beta")
    return line.run_relay


# The worker


def _message(line: EventPipeline) -> Action:
    """Have the worker sent to the one message that waits; what it sends waits, too."""
    [letter] = line.queue
    line.clock.advance(max(0, letter.visible_at - line.clock.time()))

    def act() -> None:
        [one] = [one for one in line.queue if one.body == letter.body]
        line.run_worker([one])

    return act


def _first(line: EventPipeline) -> Action:
    """The first message of an event, in the slow queue, where those begin that nobody knows."""
    line.commit_events(1)
    line.run_relay()
    line.step()
    act = _message(line)
    assert line.queue[0].body["slow"]
    return act


def fail_then_succeed(
    times: int, answer: EndpointStub = respond_500
) -> Callable[[EventPipeline], Action]:
    """A message whose endpoint answers so, so many times, before it is well."""

    def prepare(line: EventPipeline) -> Action:
        line.subscribe()
        line.scenario.endpoint = fail_first_attempts(line, times, answer)
        return _first(line)

    return prepare


def _own(line: EventPipeline) -> Action:
    line.subscribe(secret=CHOSEN_SECRET)
    return _first(line)


def _quick(line: EventPipeline) -> Action:
    """The endpoint is known to be quick: one message, no way round."""
    line.subscribe()
    line.commit_events(2)
    line.run()
    line.commit_events(1)
    line.run_relay()
    return _message(line)


def _moved(line: EventPipeline) -> Action:
    line.subscribe()
    line.commit_events(1)
    line.run_relay()
    return _message(line)


def _last_attempt(line: EventPipeline) -> Action:
    _between_attempts(line, times=3)
    line.run(until=lambda: _tries(line) == 2)
    line.step()
    assert line.queue[0].body["due"] - line.clock.time() * 1000 < 900_000
    return _message(line)


def _not_due(line: EventPipeline) -> Action:
    """The last attempt is due later than a message can wait."""
    _between_attempts(line, times=3)
    line.run(until=lambda: _tries(line) == 2)
    act = _message(line)
    assert line.queue[0].body["due"] > line.clock.time() * 1000
    return act


def _tenth(line: EventPipeline) -> Action:
    number = line.subscribe()
    line.scenario.endpoint = fail_first_attempts(line, 3, respond_500)
    line.commit_events(*range(1, 10))
    line.run()
    assert line.state().health[number].failure_count == 9
    line.commit_events(10)
    line.run_relay()
    return _message(line)


def _obstacle(method: str, body: object = None) -> Callable[[EventPipeline], Action]:
    def prepare(line: EventPipeline) -> Action:
        number = _between_attempts(line)
        answer = line.erp().send(method, f"/webhooks/{number}", body)
        assert answer.status == 200
        return _message(line)

    return prepare


def _redelivered(line: EventPipeline) -> Action:
    """A delivery is asked for again while its retry waits: both messages are there."""
    number = _between_attempts(line)
    [event] = [one.id for one in line.state().open_deliveries()]
    [retry] = line.queue
    path = f"/webhooks/{number}/deliveries/{event}/redeliver"
    assert line.erp().post(path).status == 202
    line.run_relay()
    line.clock.advance(max(0, retry.visible_at - line.clock.time()))
    bodies = [one.body for one in line.queue]
    assert [body["round"] for body in bodies] == [1, 2]
    return lambda: line.run_worker([one for one in line.queue if one.body in bodies])


FAULT_CASES = (
    FaultCase("create", _create),
    FaultCase("create with a secret of its own", _create_with_own_secret),
    FaultCase("change the address", _move, ("succeeded", 2, 0, True)),
    FaultCase("unsubscribe", _patch({"events": ["wave.planned"]}), ("cancelled", 1, 0, True)),
    FaultCase("deactivate", _patch({"is_active": False}), ("cancelled", 1, 0, False)),
    FaultCase("activate", _activate, ("failed", 1, 0, True)),
    FaultCase("delete", _delete),
    FaultCase("rotate the secret", _rotate, ("succeeded", 2, 0, True)),
    FaultCase("send a test", _test, ("succeeded", 1, 0, True)),
    FaultCase("ask again", _redeliver, ("succeeded", 2, 0, True)),
    FaultCase("relay a batch", _batch),
    FaultCase("succeed", fail_then_succeed(0), ("succeeded", 1, 0, True)),
    FaultCase("succeed with a secret of its own", _own, ("succeeded", 1, 0, True)),
    FaultCase("succeed at once", _quick, ("succeeded", 1, 0, True)),
    FaultCase("fail at first", fail_then_succeed(1), ("succeeded", 2, 0, True)),
    FaultCase("fail slowly", fail_then_succeed(2, _fail_slowly), ("succeeded", 3, 0, True)),
    FaultCase("fail for good", _last_attempt, ("failed", 3, 1, True)),
    FaultCase("fail for the tenth time", _tenth, ("failed", 1, 10, False), delays="0"),
    FaultCase("an address that is gone", fail_then_succeed(9, _gone), ("failed", 1, 1, False)),
    FaultCase("not due yet", _not_due, ("failed", 3, 1, True)),
    FaultCase("move to the slow queue", _moved, ("succeeded", 1, 0, True)),
    FaultCase("deleted meanwhile", _obstacle("DELETE")),
    FaultCase(
        "deactivated meanwhile",
        _obstacle("PATCH", {"is_active": False}),
        ("cancelled", 1, 0, False),
    ),
    FaultCase(
        "unsubscribed meanwhile",
        _obstacle("PATCH", {"events": ["wave.planned"]}),
        ("cancelled", 1, 0, True),
    ),
    FaultCase("asked for again meanwhile", _redelivered, ("succeeded", 2, 0, True)),
)
