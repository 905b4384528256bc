"""Messages of the two queues: which one they wait in, twice, lost, from the dead letters."""

import threading

import pytest

from shared.integration.webhooks import repository, rules
from shared.integration.webhooks.http_client import AttemptResult
from tests.clock import Clock
from tests.webhook_scenario import SentRequest, WebhookDesk, respond_204, respond_500


def slow(_: SentRequest) -> AttemptResult:
    return AttemptResult(milliseconds=10_000, error="timed out after 10 s")


def test_endpoints_that_are_not_quick_wait_among_themselves(desk: WebhookDesk) -> None:
    desk.subscribe()
    desk.happen(1)
    desk.relay()
    (first,) = desk.take()
    assert not first["slow"]
    assert desk.work(first) == []
    (moved,) = desk.take()
    assert (moved["slow"], desk.sent) == (True, []), "it is not known yet"
    assert desk.work(moved) == []
    assert len(desk.sent) == 1

    desk.happen(2)
    desk.relay()
    desk.endpoint = slow
    (second,) = desk.take()
    assert desk.work(second) == []
    assert len(desk.sent) == 2, "it was quick"
    (retry,) = desk.take()
    assert retry["slow"], "it is no more"


def test_an_endpoint_is_known_as_slow_while_it_still_takes_its_time(
    desk: WebhookDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = desk.subscribe()
    desk.happen(1)
    desk.run_until_idle()
    monkeypatch.setattr(rules, "SLOW_AFTER_SECONDS", 0.01)
    store = desk.stack.store()
    seen: list[bool] = []

    def is_quick() -> bool:
        pulse = repository.read_health(store, hook["id"])
        return pulse is not None and pulse.quick

    def take_long(_: SentRequest) -> AttemptResult:
        for _tick in range(500):
            if not is_quick():
                break
            threading.Event().wait(0.01)
        seen.append(is_quick())
        return AttemptResult(milliseconds=1, status=200)

    desk.endpoint = take_long
    desk.happen(2)
    desk.run_until_idle()
    assert seen == [False]


def test_a_message_twice_at_once_does_not_end_the_retries(desk: WebhookDesk) -> None:
    """The copy that was faster dies before it sends what follows; the other one comes back."""
    desk.subscribe()
    desk.happen()
    desk.relay()
    (message,) = desk.take()
    message["slow"] = True
    copies = iter([message])

    def answer(sent: SentRequest) -> AttemptResult:
        for copy in copies:
            assert desk.work(copy) == []
            assert len(desk.take()) == 1  # and dies
        return respond_500(sent)

    desk.endpoint = answer
    assert desk.work(message) == ["m0"]
    assert desk.work(message, receives=2) == []

    (following,) = desk.take()
    assert following["attempt"] == 2


def test_a_message_twice_is_one_attempt(desk: WebhookDesk) -> None:
    hook = desk.subscribe()
    desk.happen()
    desk.relay()
    (message,) = desk.take()
    message["slow"] = True
    assert desk.work(message) == []
    assert desk.work(message) == []
    assert desk.work(message, receives=2) == []
    assert len(desk.sent) == 1
    assert len(desk.deliveries(hook["id"])[0]["attempts"]) == 1


def test_a_death_after_the_log_does_not_end_the_retries(desk: WebhookDesk) -> None:
    desk.subscribe()
    desk.endpoint = respond_500
    desk.happen()
    desk.relay()
    (message,) = desk.take()
    message["slow"] = True
    assert desk.work(message) == []
    (following,) = desk.take()  # as if the function had died before it sent it

    assert desk.work(message, receives=2) == []

    (sent_again,) = desk.take()
    assert sent_again["attempt"] == following["attempt"] == 2
    assert sent_again["due"] == following["due"]


def test_a_message_from_the_dead_letters_goes_on(desk: WebhookDesk, clock: Clock) -> None:
    desk.subscribe()
    desk.endpoint = respond_500
    desk.happen()
    desk.relay()
    (message,) = desk.take()
    message["slow"] = True
    assert desk.work(message) == []
    desk.take()  # lost
    assert desk.work(message) == []
    assert desk.messages() == [], "the one that follows should be under way"

    clock.advance(3600)
    assert desk.work(message) == []

    (following,) = desk.take()
    assert following["attempt"] == 2


def test_a_message_that_makes_no_sense_comes_back(desk: WebhookDesk) -> None:
    assert desk.work({"no": "task"}) == ["m0"]


def test_a_batch_of_ten_is_delivered_concurrently(desk: WebhookDesk) -> None:
    desk.subscribe()
    for number in range(10):
        desk.happen(number)
    desk.relay()
    messages = desk.take()
    all_arrived = threading.Barrier(10, timeout=30)

    def wait_for_the_others(sent: SentRequest) -> AttemptResult:
        all_arrived.wait()
        return respond_204(sent)

    desk.endpoint = wait_for_the_others
    assert desk.work(*({**message, "slow": True} for message in messages)) == []
    assert len(desk.sent) == 10


def test_only_the_failed_messages_of_a_batch_are_reported(desk: WebhookDesk) -> None:
    desk.subscribe()
    for number in range(3):
        desk.happen(number)
    desk.relay()
    messages = [{**message, "slow": True} for message in desk.take()]
    crashing = messages[1]["event"]

    def crash_once(sent: SentRequest) -> AttemptResult:
        if sent.event["id"] == crashing:
            raise RuntimeError("unexpected")
        return respond_204(sent)

    desk.endpoint = crash_once
    failed = desk.work(*messages, {"not": "a task"})
    assert failed == ["m1", "m3"]
    assert len(desk.sent) == 3


def test_a_batch_that_fails_as_a_whole_is_reported_message_by_message(desk: WebhookDesk) -> None:
    assert desk.work({"not": "a task"}, {"not": "a task"}) == ["m0", "m1"]
