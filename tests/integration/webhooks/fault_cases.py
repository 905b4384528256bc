"""What happens to webhooks, to be disturbed: requests, batches of the relay, messages."""

from collections.abc import Callable
from dataclasses import dataclass

from shared.integration.webhooks.http_client import Outcome
from tests.gateway import Response
from tests.integration.webhooks.event_pipeline import OWN_SECRET, Line, failing
from tests.webhook_scenario import Endpoint, Sent, accept, fail

_DELAYS = "0,5,1000"
"""Seconds before the attempts of a delivery; the last is longer than a message can wait."""

type Act = Callable[[], object]


def _gone(_: Sent) -> Outcome:
    return Outcome(milliseconds=12, status=410, error="answered 410")


def _fail_slowly(_: Sent) -> Outcome:
    return Outcome(milliseconds=2_500, status=500, error="answered 500")


@dataclass(frozen=True, slots=True)
class Scene:
    """What is prepared, then the act that is disturbed; it can be repeated.

    `ends`: the status and the number of tries of the delivery it is about, the failures in a
    row and whether the subscription is active; None for what is no delivery's.
    """

    name: str
    prepare: Callable[[Line], Act]
    ends: tuple[str, int, int, bool] | None = None
    delays: str = _DELAYS


# Requests


def _request(line: Line, method: str, path: str, body: object = None) -> Act:
    erp = line.erp()

    def act() -> Response:
        answer = erp.send(method, path, body, key="key-1")
        if answer.status < 300 and "secret" in answer.data:
            line.secrets.add(answer.data["secret"])
        return answer

    return act


def _create(line: Line) -> Act:
    line.subscribe("product.created")
    body = {"url": "https://hooks.example.com/new", "events": ["product.created"]}
    return _request(line, "POST", "/webhooks", body)


def _create_with_own_secret(line: Line) -> Act:
    body = {"url": "https://hooks.example.com/new", "events": ["product.created"]}
    return _request(line, "POST", "/webhooks", {**body, "secret": OWN_SECRET})


def _between_attempts(line: Line, *, times: int = 1) -> int:
    """A subscription to which a delivery has failed at first and will be tried again."""
    number = line.subscribe()
    line.desk.endpoint = failing(line, times, fail)
    line.happen(1)
    line.settle(until=lambda: _tries(line) == 1)
    return number


def _tries(line: Line) -> int:
    return max((one.tries for one in line.books().waiting()), default=0)


def _patch(body: dict[str, object]) -> Callable[[Line], Act]:
    def prepare(line: Line) -> Act:
        return _request(line, "PATCH", f"/webhooks/{_between_attempts(line)}", body)

    return prepare


def _move(line: Line) -> Act:
    number = _between_attempts(line)
    url = line.books().heads[number].url.replace("example.com", "example.com:8443")
    return _request(line, "PATCH", f"/webhooks/{number}", {"url": url})


def _activate(line: Line) -> Act:
    number = line.subscribe()
    line.desk.endpoint = _gone
    line.happen(1)
    line.settle()
    line.desk.endpoint = accept
    return _request(line, "PATCH", f"/webhooks/{number}", {"is_active": True})


def _delete(line: Line) -> Act:
    return _request(line, "DELETE", f"/webhooks/{_between_attempts(line)}")


def _rotate(line: Line) -> Act:
    return _request(line, "POST", f"/webhooks/{_between_attempts(line)}/rotate-secret", {})


def _test(line: Line) -> Act:
    return _request(line, "POST", f"/webhooks/{line.subscribe()}/test")


def _redeliver(line: Line) -> Act:
    number = _between_attempts(line)
    [event] = [one.id for one in line.books().waiting()]
    return _request(line, "POST", f"/webhooks/{number}/deliveries/{event}/redeliver")


# The relay


def _batch(line: Line) -> Act:
    """Events of two tenants, some for several subscriptions, some for none; and a request."""
    first = line.subscribe()
    line.desk.endpoint = failing(line, 1, fail)
    [event] = line.happen(1)
    line.settle()
    line.subscribe("product.created", "product.updated")
    line.subscribe("product.updated", slug="beta")
    answer = line.erp().post(f"/webhooks/{first}/deliveries/{event}/redeliver")
    assert answer.status == 202
    assert line.erp().post(f"/webhooks/{first}/test").status == 202
    line.happen(2, 3)
    line.happen(4, kind="product.updated")
    line.happen(5, kind="product.updated", slug="beta")
    line.happen(6, kind="wave.planned", slug="beta")
    return line.relay


# The worker


def _message(line: Line) -> Act:
    """Have the worker sent to the one message that waits; what it sends waits, too."""
    [letter] = line.letters
    line.clock.advance(max(0, letter.at - line.clock.time()))

    def act() -> None:
        [one] = [one for one in line.letters if one.body == letter.body]
        line.deliver([one])

    return act


def _first(line: Line) -> Act:
    """The first message of an event, in the slow queue, where those begin that nobody knows."""
    line.happen(1)
    line.relay()
    line.step()
    act = _message(line)
    assert line.letters[0].body["slow"]
    return act


def attempt(times: int, answer: Endpoint = fail) -> Callable[[Line], Act]:
    """A message whose endpoint answers so, so many times, before it is well."""

    def prepare(line: Line) -> Act:
        line.subscribe()
        line.desk.endpoint = failing(line, times, answer)
        return _first(line)

    return prepare


def _own(line: Line) -> Act:
    line.subscribe(secret=OWN_SECRET)
    return _first(line)


def _quick(line: Line) -> Act:
    """The endpoint is known to be quick: one message, no way round."""
    line.subscribe()
    line.happen(2)
    line.settle()
    line.happen(1)
    line.relay()
    return _message(line)


def _moved(line: Line) -> Act:
    line.subscribe()
    line.happen(1)
    line.relay()
    return _message(line)


def _last_attempt(line: Line) -> Act:
    _between_attempts(line, times=3)
    line.settle(until=lambda: _tries(line) == 2)
    line.step()
    assert line.letters[0].body["due"] - line.clock.time() * 1000 < 900_000
    return _message(line)


def _not_due(line: Line) -> Act:
    """The last attempt is due later than a message can wait."""
    _between_attempts(line, times=3)
    line.settle(until=lambda: _tries(line) == 2)
    act = _message(line)
    assert line.letters[0].body["due"] > line.clock.time() * 1000
    return act


def _tenth(line: Line) -> Act:
    number = line.subscribe()
    line.desk.endpoint = failing(line, 3, fail)
    line.happen(*range(1, 10))
    line.settle()
    assert line.books().pulses[number].failure_count == 9
    line.happen(10)
    line.relay()
    return _message(line)


def _obstacle(method: str, body: object = None) -> Callable[[Line], Act]:
    def prepare(line: Line) -> Act:
        number = _between_attempts(line)
        answer = line.erp().send(method, f"/webhooks/{number}", body)
        assert answer.status == 200
        return _message(line)

    return prepare


def _redelivered(line: Line) -> Act:
    """A delivery is asked for again while its retry waits: both messages are there."""
    number = _between_attempts(line)
    [event] = [one.id for one in line.books().waiting()]
    [retry] = line.letters
    path = f"/webhooks/{number}/deliveries/{event}/redeliver"
    assert line.erp().post(path).status == 202
    line.relay()
    line.clock.advance(max(0, retry.at - line.clock.time()))
    bodies = [one.body for one in line.letters]
    assert [body["round"] for body in bodies] == [1, 2]
    return lambda: line.deliver([one for one in line.letters if one.body in bodies])


SCENES = (
    Scene("create", _create),
    Scene("create with a secret of its own", _create_with_own_secret),
    Scene("change the address", _move, ("succeeded", 2, 0, True)),
    Scene("unsubscribe", _patch({"events": ["wave.planned"]}), ("cancelled", 1, 0, True)),
    Scene("deactivate", _patch({"is_active": False}), ("cancelled", 1, 0, False)),
    Scene("activate", _activate, ("failed", 1, 0, True)),
    Scene("delete", _delete),
    Scene("rotate the secret", _rotate, ("succeeded", 2, 0, True)),
    Scene("send a test", _test, ("succeeded", 1, 0, True)),
    Scene("ask again", _redeliver, ("succeeded", 2, 0, True)),
    Scene("relay a batch", _batch),
    Scene("succeed", attempt(0), ("succeeded", 1, 0, True)),
    Scene("succeed with a secret of its own", _own, ("succeeded", 1, 0, True)),
    Scene("succeed at once", _quick, ("succeeded", 1, 0, True)),
    Scene("fail at first", attempt(1), ("succeeded", 2, 0, True)),
    Scene("fail slowly", attempt(2, _fail_slowly), ("succeeded", 3, 0, True)),
    Scene("fail for good", _last_attempt, ("failed", 3, 1, True)),
    Scene("fail for the tenth time", _tenth, ("failed", 1, 10, False), delays="0"),
    Scene("an address that is gone", attempt(9, _gone), ("failed", 1, 1, False)),
    Scene("not due yet", _not_due, ("failed", 3, 1, True)),
    Scene("move to the slow queue", _moved, ("succeeded", 1, 0, True)),
    Scene("deleted meanwhile", _obstacle("DELETE")),
    Scene(
        "deactivated meanwhile",
        _obstacle("PATCH", {"is_active": False}),
        ("cancelled", 1, 0, False),
    ),
    Scene(
        "unsubscribed meanwhile",
        _obstacle("PATCH", {"events": ["wave.planned"]}),
        ("cancelled", 1, 0, True),
    ),
    Scene("asked for again meanwhile", _redelivered, ("succeeded", 2, 0, True)),
)
