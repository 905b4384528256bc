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
from shared.integration.webhooks.http_client import Outcome
from shared.integration.webhooks.models import StoredDelivery
from shared.integration.webhooks.signatures import signature_headers
from shared.kernel.config import config
from tests.faults import AwsFaults
from tests.gateway import Response
from tests.integration.webhooks import event_pipeline as lines
from tests.integration.webhooks.event_pipeline import Letter, Line, failing, open_line
from tests.integration.webhooks.stored_state import MOST
from tests.interleaving import Scheduler, replayable, seeds
from tests.stack import Stack
from tests.webhook_scenario import Endpoint, InlineExecutor, Sent, accept, fail, open_desk

_WAYS = 3
_TOO_MANY = 5
_PATIENCE = 10

type Act = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Play:
    """Webhooks of acme, and how their time passes."""

    line: Line
    scheduler: Scheduler

    def ways(self, count: int = _WAYS) -> Iterator[int]:
        """Begin anew for each of the seeds."""
        back = self.line.take_back()
        for seed in seeds(count):
            back()
            with replayable(seed):
                yield seed

    def at_once(self, *acts: Act, seed: int) -> list[Any]:
        """Act at the same time, then let everything come to its end."""
        clock = self.scheduler._clock
        clock._began += clock._ahead  # it begins each run at the same time
        results = self.scheduler.run(acts, seed)
        self.line.settle()
        self.line.ensure_all_arrived()
        self.line.ensure_secret()
        return results

    def answer(self, endpoint: Endpoint, seconds: Sequence[float] = (0, 0.005, 1)) -> None:
        """Let endpoints answer so, after one of these times."""

        def late(sent: Sent) -> Outcome:
            self.scheduler._clock.sleep(random.choice(seconds))  # noqa: S311
            return endpoint(sent)

        self.line.desk.endpoint = late

    def attempt_1(self, *products: int) -> None:
        """Let events happen whose first attempts are next."""
        self.line.happen(*products)
        self.line.relay()
        if not any(pulse.quick for pulse in self.line.books().pulses.values()):
            self.line.settle(until=lambda: all(one.body["slow"] for one in self.line.letters))
        assert len(self.line.letters) == len(products)

    def attempt_2(self) -> None:
        """Let an event happen whose delivery fails at first; its second attempt is next."""
        self.answer(failing(self.line, 1, fail))
        self.line.happen(1)
        self.line.settle(until=lambda: any(one.tries for one in self.line.books().waiting()))
        self.line.visible()

    def worker(self, place: int = 0) -> Act:
        """Have the worker sent to one of the messages."""
        letter = self.line.letters[place]
        return lambda: self.line.deliver([letter])

    def send(self, method: str, path: str, body: object = None, key: str | None = None) -> Act:
        """Have a request made, and again when the service is too busy."""
        erp = self.line.erp()

        def act() -> Response:
            for _ in range(_PATIENCE):
                answer = erp.send(method, path, body, key=key)
                if answer.status < 300 and "secret" in answer.data:
                    self.line.secrets.add(answer.data["secret"])
                if answer.status != 503:
                    return answer
            pytest.fail(f"always too busy: {answer.text}")

        return act

    def delivery(self) -> StoredDelivery:
        """The only delivery."""
        [found] = self.line.books().deliveries.values()
        return found


@pytest.fixture
def play(stack: Stack, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch) -> Iterator[Play]:
    scheduler = Scheduler(aws_faults, monkeypatch)
    monkeypatch.setattr("shared.kernel.db.counters.SHARDS", 2)
    monkeypatch.setattr("shared.kernel.db.transaction.SHARDS", 2)
    # One goes at a time: a worker does everything in its own thread.
    monkeypatch.setattr(app, "_threads", InlineExecutor())
    monkeypatch.setattr(lines, "_fresh_threads", nullcontext)
    monkeypatch.setenv("WEBHOOK_RETRY_DELAYS", "0,5,1000")
    config.cache_clear()
    with open_desk(stack, monkeypatch) as desk, open_line(desk, scheduler._clock) as line:
        play = Play(line, scheduler)
        play.answer(accept)
        yield play


def _one_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBHOOK_RETRY_DELAYS", "0")
    config.cache_clear()


def _answers(delivery: StoredDelivery) -> list[int | None]:
    return [attempt.status for attempt in delivery.attempts]


# Requests


def test_a_tenant_never_has_more_subscriptions_than_it_may(play: Play) -> None:
    body = {"url": "https://hooks.example.com/x", "events": ["product.created"]}
    for seed in play.ways(1):
        creates = [
            play.send("POST", "/webhooks", {**body, "url": f"{body['url']}{number}"})
            for number in range(MOST + _TOO_MANY)
        ]
        answers = play.at_once(*creates, seed=seed)
        assert Counter(answer.status for answer in answers) == {201: MOST, 402: _TOO_MANY}
        assert {answer.code for answer in answers if answer.status == 402} == {"limit_reached"}
        assert len(play.line.books().heads) == MOST


def test_different_subscriptions_change_side_by_side(play: Play) -> None:
    first, second, third = (play.line.subscribe() for _ in range(3))
    for seed in play.ways():
        body = {"url": "https://hooks.example.com/new", "events": ["product.updated"]}
        answers = play.at_once(
            play.send("PATCH", f"/webhooks/{first}", {"events": ["product.updated"]}),
            play.send("PATCH", f"/webhooks/{second}", {"is_active": False}),
            play.send("DELETE", f"/webhooks/{third}"),
            play.send("POST", "/webhooks", body),
            seed=seed,
        )
        assert [answer.status for answer in answers] == [200, 200, 200, 201]
        new = answers[-1].data["id"]
        assert play.line.books().register.wanting("product.updated") == [first, new]
        assert play.line.books().register.wanting("product.created") == []


@pytest.mark.parametrize(("overlap", "after"), [(0, (False, True)), (24, (True, True))])
def test_a_secret_is_rotated_while_it_signs(
    play: Play, overlap: int, after: tuple[bool, bool]
) -> None:
    number = play.line.subscribe()
    [old] = play.line.secrets
    play.attempt_1(1)
    path = f"/webhooks/{number}/rotate-secret"
    for seed in play.ways():
        rotate = play.send("POST", path, {"overlap_hours": overlap})
        answer, _ = play.at_once(rotate, play.worker(), seed=seed)
        [sent] = play.line.desk.sent
        signed = _signed(sent, old), _signed(sent, answer.data["secret"])
        assert signed in {(True, False), after}


def _signed(sent: Sent, secret: str) -> bool:
    at = int(sent.headers["webhook-timestamp"])
    expected = signature_headers(sent.event["id"], sent.body, [secret], at)["webhook-signature"]
    return expected in sent.headers["webhook-signature"].split()


def test_asked_for_twice_it_is_delivered_once_more(play: Play) -> None:
    number = play.line.subscribe()
    [event] = play.line.happen(1)
    play.line.settle()
    for seed in play.ways():
        again = play.send("POST", f"/webhooks/{number}/deliveries/{event}/redeliver")
        answers = play.at_once(again, again, seed=seed)
        assert [answer.status for answer in answers] == [202, 202]
        delivery = play.delivery()
        assert (delivery.status, delivery.round, delivery.tries) == ("succeeded", 3, 1)
        # The message of the second round is dropped: there is a later one.
        assert play.line.posts().total() == 2


# Workers


@pytest.mark.parametrize(("endpoint", "answers"), [(accept, [204]), (fail, [500, 204])])
def test_one_message_comes_to_two_workers(
    play: Play, endpoint: Endpoint, answers: list[int]
) -> None:
    play.line.subscribe()
    play.answer(failing(play.line, len(answers) - 1, endpoint))
    play.attempt_1(1)
    play.line.letters.append(Letter(dict(play.line.letters[0].body), play.line.clock.time()))
    for seed in play.ways(2 * _WAYS):
        play.at_once(play.worker(0), play.worker(1), seed=seed)
        delivery = play.delivery()
        assert delivery.status == "succeeded"
        assert _answers(delivery) == answers
        assert play.line.posts().total() <= len(answers) + 1, "only what met was sent twice"


def test_a_message_comes_again_while_its_worker_is_not_dead(play: Play) -> None:
    play.line.subscribe()
    play.answer(failing(play.line, 1, fail))
    play.attempt_1(1)
    again = Letter(dict(play.line.letters[0].body), play.line.clock.time(), receives=1)
    play.line.letters.append(again)
    for seed in play.ways(2 * _WAYS):
        play.at_once(play.worker(0), play.worker(1), seed=seed)
        delivery = play.delivery()
        assert (delivery.status, _answers(delivery)) == ("succeeded", [500, 204])


@pytest.mark.parametrize("failures", [0, 8, 9])
def test_failures_at_once_are_counted_one_by_one(
    play: Play, failures: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _one_attempt(monkeypatch)
    number = _failed(play, failures)
    play.attempt_1(101, 102)
    play.answer(fail, seconds=[1])
    for seed in play.ways(2 * _WAYS):
        play.at_once(play.worker(0), play.worker(1), seed=seed)
        books = play.line.books()
        assert books.pulses[number].failure_count == min(failures + 2, 10)
        assert books.heads[number].is_active == (failures + 2 < 10)
        ends = Counter(delivery.status for delivery in books.deliveries.values())
        # Of two of which the first ends it, the second may be spared its attempt.
        assert ends["failed"] + ends["cancelled"] == failures + 2
        assert ends["cancelled"] <= (failures == 9)


def test_one_last_failure_at_two_workers_is_one_failure(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    _one_attempt(monkeypatch)
    number = _failed(play, 2)
    play.attempt_1(101)
    play.line.letters.append(Letter(dict(play.line.letters[0].body), play.line.clock.time()))
    play.answer(fail, seconds=[1])
    for seed in play.ways(2 * _WAYS):
        play.at_once(play.worker(0), play.worker(1), seed=seed)
        books = play.line.books()
        assert books.pulses[number].failure_count == 3
        assert [_answers(delivery) for delivery in books.deliveries.values()] == [[500]] * 3


def _failed(play: Play, failures: int) -> int:
    """A subscription behind which lie so many failures in a row."""
    number = play.line.subscribe()
    play.answer(fail)
    play.line.happen(*range(1, failures + 1))
    play.line.settle()
    assert play.line.books().pulses[number].failure_count == failures
    return number


def test_a_success_and_a_failure_at_once(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """The failure counts from nothing or, when it came first, not at all."""
    _one_attempt(monkeypatch)
    number = _failed(play, 3)
    play.attempt_1(101, 102)
    bad = play.line.letters[0].body["event"]
    play.answer(lambda sent: (fail if sent.event["id"] == bad else accept)(sent))
    for seed in play.ways(2 * _WAYS):
        play.at_once(play.worker(0), play.worker(1), seed=seed)
        assert play.line.books().pulses[number].failure_count in {0, 1}


# A request and a worker


def test_activated_at_the_tenth_failure(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    _one_attempt(monkeypatch)
    number = _failed(play, 9)
    play.attempt_1(101)
    activate = play.send("PATCH", f"/webhooks/{number}", {"is_active": True})
    for seed in play.ways(2 * _WAYS):
        answer, _ = play.at_once(activate, play.worker(), seed=seed)
        assert (answer.status, answer.data["failure_count"]) == (200, 0)
        books = play.line.books()
        assert books.heads[number].is_active
        assert books.pulses[number].failure_count in {0, 1}


def test_deactivated_at_the_tenth_failure(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    _one_attempt(monkeypatch)
    number = _failed(play, 9)
    play.attempt_1(101)
    deactivate = play.send("PATCH", f"/webhooks/{number}", {"is_active": False})
    for seed in play.ways(2 * _WAYS):
        answer, _ = play.at_once(deactivate, play.worker(), seed=seed)
        assert answer.status == 200
        assert not play.line.books().heads[number].is_active


@pytest.mark.parametrize("delays", ["0", "0,5,1000"])
@pytest.mark.parametrize("endpoint", [accept, fail])
def test_deleted_while_it_is_delivered(
    play: Play, endpoint: Endpoint, delays: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBHOOK_RETRY_DELAYS", delays)
    config.cache_clear()
    number = play.line.subscribe()
    play.answer(endpoint)
    play.attempt_1(1)
    for seed in play.ways():
        delete = play.send("DELETE", f"/webhooks/{number}")
        answer, _ = play.at_once(delete, play.worker(), seed=seed)
        assert answer.status == 200
        assert play.line.erp().get(f"/webhooks/{number}").status == 410
        assert not play.line.books().pulses
        assert play.line.posts().total() <= 1


def test_asked_for_again_while_it_is_retried(play: Play) -> None:
    number = play.line.subscribe()
    play.attempt_2()
    [event] = [one.id for one in play.line.books().waiting()]
    again = play.send("POST", f"/webhooks/{number}/deliveries/{event}/redeliver")
    for seed in play.ways(2 * _WAYS):
        answer, _ = play.at_once(again, play.worker(), seed=seed)
        assert answer.status == 202
        delivery = play.delivery()
        assert (delivery.status, delivery.round, delivery.tries) == ("succeeded", 2, 2)
        # What the retry answered is in the log when it was first, and only then.
        assert _answers(delivery) in ([500, 204, 500, 204], [500, 500, 204])


@pytest.mark.parametrize("change", [{"events": ["wave.planned"]}, {"is_active": False}])
def test_a_subscription_changes_while_an_event_is_relayed(
    play: Play, change: dict[str, object]
) -> None:
    number = play.line.subscribe()
    play.line.happen(1)
    for seed in play.ways():
        patch = play.send("PATCH", f"/webhooks/{number}", change)
        answer, _ = play.at_once(patch, play.line.relay, seed=seed)
        assert answer.status == 200
        ends = [delivery.status for delivery in play.line.books().deliveries.values()]
        assert ends in ([], ["cancelled"])
        assert not play.line.desk.sent
