"""Messages of the two queues: fast or slow, duplicate, lost, from the dead-letter queue."""

import asyncio
import threading
from typing import Any

import pytest

from shared.integration.webhooks import repository, rules
from shared.integration.webhooks.http_client import AttemptResult
from tests.clock import Clock
from tests.webhook_scenario import SentRequest, WebhookScenario, respond_204, respond_500


def slow(_: SentRequest) -> AttemptResult:
    return AttemptResult(milliseconds=10_000, error="timed out after 10 s")


def take_slow_message(webhooks: WebhookScenario) -> dict[str, Any]:
    """Create a product; return the message to its subscriber as it is in the slow queue."""
    webhooks.create_product()
    webhooks.run_relay()
    (message,) = webhooks.take_messages()
    return {**message, "slow": True}


def test_messages_to_new_and_slow_endpoints_use_the_slow_queue(webhooks: WebhookScenario) -> None:
    webhooks.subscribe()
    webhooks.create_product(1)
    webhooks.run_relay()
    (first,) = webhooks.take_messages()
    assert not first["slow"]
    assert webhooks.run_worker(first) == []
    (moved,) = webhooks.take_messages()
    assert (moved["slow"], webhooks.requests) == (True, []), "a new endpoint is not fast yet"
    assert webhooks.run_worker(moved) == []
    assert len(webhooks.requests) == 1

    webhooks.create_product(2)
    webhooks.run_relay()
    webhooks.endpoint = slow
    (second,) = webhooks.take_messages()
    assert webhooks.run_worker(second) == []
    assert len(webhooks.requests) == 2, "its last response was fast"
    (retry,) = webhooks.take_messages()
    assert retry["slow"], "its last response was slow"


def test_an_endpoint_is_recorded_as_slow_during_the_attempt(
    webhooks: WebhookScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook = webhooks.subscribe()
    webhooks.create_product(1)
    webhooks.run_until_idle()
    monkeypatch.setattr(rules, "SLOW_AFTER_SECONDS", 0.01)
    store = webhooks.stack.store()
    seen: list[bool] = []

    def is_fast() -> bool:
        health = repository.read_health(store, webhook["id"])
        return health is not None and health.quick

    def respond_slowly(_: SentRequest) -> AttemptResult:
        for _tick in range(500):
            if not is_fast():
                break
            threading.Event().wait(0.01)
        seen.append(is_fast())
        return AttemptResult(milliseconds=1, status=200)

    webhooks.endpoint = respond_slowly
    webhooks.create_product(2)
    webhooks.run_until_idle()
    assert seen == [False]


def test_concurrent_duplicate_messages_do_not_lose_the_next_task(webhooks: WebhookScenario) -> None:
    """The first worker crashes before it sends the next task; the message of the other returns."""
    webhooks.subscribe()
    message = take_slow_message(webhooks)
    copies = iter([message])

    def answer(sent: SentRequest) -> AttemptResult:
        for copy in copies:
            assert webhooks.run_worker(copy) == []
            assert len(webhooks.take_messages()) == 1  # lost in a crash
        return respond_500(sent)

    webhooks.endpoint = answer
    assert webhooks.run_worker(message) == ["m0"]
    assert webhooks.run_worker(message, receives=2) == []

    (following,) = webhooks.take_messages()
    assert following["attempt"] == 2


def test_duplicate_messages_cause_one_attempt(webhooks: WebhookScenario) -> None:
    webhook = webhooks.subscribe()
    message = take_slow_message(webhooks)
    assert webhooks.run_worker(message) == []
    assert webhooks.run_worker(message) == []
    assert webhooks.run_worker(message, receives=2) == []
    assert len(webhooks.requests) == 1
    assert len(webhooks.deliveries(webhook["id"])[0]["attempts"]) == 1


def test_a_crash_after_the_log_entry_does_not_lose_the_next_task(webhooks: WebhookScenario) -> None:
    webhooks.subscribe()
    webhooks.endpoint = respond_500
    message = take_slow_message(webhooks)
    assert webhooks.run_worker(message) == []
    (following,) = webhooks.take_messages()  # lost in a crash

    assert webhooks.run_worker(message, receives=2) == []

    (sent_again,) = webhooks.take_messages()
    assert sent_again["attempt"] == following["attempt"] == 2
    assert sent_again["due"] == following["due"]


def test_an_overdue_message_from_the_dead_letter_queue_sends_the_next_task(
    webhooks: WebhookScenario, clock: Clock
) -> None:
    webhooks.subscribe()
    webhooks.endpoint = respond_500
    message = take_slow_message(webhooks)
    assert webhooks.run_worker(message) == []
    webhooks.take_messages()  # lost
    assert webhooks.run_worker(message) == []
    assert webhooks.messages() == [], "the next task is not overdue yet"

    clock.advance(3600)
    assert webhooks.run_worker(message) == []

    (following,) = webhooks.take_messages()
    assert following["attempt"] == 2


def test_a_batch_of_ten_is_delivered_concurrently(webhooks: WebhookScenario) -> None:
    webhooks.subscribe()
    for number in range(10):
        webhooks.create_product(number)
    webhooks.run_relay()
    messages = webhooks.take_messages()
    all_arrived = threading.Barrier(10, timeout=30)

    def wait_for_the_others(sent: SentRequest) -> AttemptResult:
        all_arrived.wait()
        return respond_204(sent)

    webhooks.endpoint = wait_for_the_others
    assert webhooks.run_worker(*({**message, "slow": True} for message in messages)) == []
    assert len(webhooks.requests) == 10


def test_only_the_failed_messages_of_a_batch_are_reported(webhooks: WebhookScenario) -> None:
    webhooks.subscribe()
    for number in range(3):
        webhooks.create_product(number)
    webhooks.run_relay()
    messages = [{**message, "slow": True} for message in webhooks.take_messages()]
    crashing = messages[1]["event"]

    def crash_once(sent: SentRequest) -> AttemptResult:
        if sent.event["id"] == crashing:
            raise RuntimeError("unexpected")
        return respond_204(sent)

    webhooks.endpoint = crash_once
    failed = webhooks.run_worker(*messages, {"not": "a task"})
    assert failed == ["m1", "m3"]
    assert len(webhooks.requests) == 3


def test_a_batch_that_fails_as_a_whole_is_reported_message_by_message(
    webhooks: WebhookScenario,
) -> None:
    assert webhooks.run_worker({"not": "a task"}, {"not": "a task"}) == ["m0", "m1"]


def test_invocations_in_lambda_share_an_event_loop(
    webhooks: WebhookScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With LAMBDA_TASK_ROOT, Powertools reuses the event loop of the execution environment."""
    monkeypatch.setenv("LAMBDA_TASK_ROOT", "/var/task")
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    webhooks.subscribe()
    try:
        for number in range(2):
            webhooks.create_product(number)
            webhooks.run_until_idle()
    finally:
        asyncio.set_event_loop(None)
        loop.close()
    assert len(webhooks.requests) == 2
