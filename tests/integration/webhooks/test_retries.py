"""Retries, and the deactivation of subscriptions."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from shared.integration.webhooks.http_client import AttemptResult
from shared.kernel.config import config
from shared.kernel.queue import MAX_DELAY_SECONDS
from tests.clock import Clock
from tests.webhook_scenario import SentRequest, WebhookScenario, respond_204, respond_500

DELAYS = (0, 5, 300, 1800, 7200, 18000, 36000)


def gone(_: SentRequest) -> AttemptResult:
    return AttemptResult(milliseconds=5, status=410, error="responded with status 410")


def test_retries_follow_the_configured_delays(webhooks: WebhookScenario, clock: Clock) -> None:
    assert config().webhook_delays == DELAYS
    webhook = webhooks.subscribe()
    webhooks.endpoint = respond_500
    webhooks.create_product()
    webhooks.run_relay()

    for number, delay in enumerate(DELAYS[1:], 1):
        while len(webhooks.requests) < number:
            assert webhooks.run_worker(*webhooks.take_messages()) == []
        (row,) = webhooks.deliveries(webhook["id"])
        assert (row["status"], len(row["attempts"])) == ("retrying", number)
        due = datetime.fromisoformat(row["next_attempt_at"])
        last = datetime.fromisoformat(row["updated_at"])
        assert timedelta(seconds=delay) <= due - last <= timedelta(seconds=1.1 * delay + 0.001)
        (message,) = webhooks.waiting()
        assert message.body["attempt"] == number + 1
        assert message.scheduled == (delay > MAX_DELAY_SECONDS)
        assert message.delay <= 1.1 * delay + 1
        clock.advance(message.delay + 1)
    assert webhooks.run_worker(*webhooks.take_messages()) == []
    (row,) = webhooks.deliveries(webhook["id"])
    assert (row["status"], len(row["attempts"]), row["next_attempt_at"]) == ("failed", 7, None)
    assert row["attempts"][0]["response"] == "internal error"
    assert webhooks.messages() == []
    assert webhooks.get(webhook["id"])["failure_count"] == 1
    assert len({sent.body for sent in webhooks.requests}) == 1


def test_retry_after_delays_the_next_attempt(webhooks: WebhookScenario) -> None:
    webhook = webhooks.subscribe()
    webhooks.endpoint = lambda _: AttemptResult(
        milliseconds=5, status=429, error="responded with status 429", retry_after=77
    )
    webhooks.create_product()
    webhooks.run_relay()
    for _ in range(2):  # twice, because a new endpoint moves to the slow queue
        assert webhooks.run_worker(*webhooks.take_messages()) == []

    (row,) = webhooks.deliveries(webhook["id"])
    due = datetime.fromisoformat(row["next_attempt_at"])
    assert due - datetime.fromisoformat(row["updated_at"]) == timedelta(seconds=77)


def test_ten_consecutive_failures_deactivate_and_a_success_resets_the_count(
    webhooks: WebhookScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBHOOK_RETRY_DELAYS", "0")
    config.cache_clear()
    webhook = webhooks.subscribe()
    webhooks.endpoint = respond_500
    for number in range(9):
        webhooks.create_product(number)
        webhooks.run_until_idle()
    assert webhooks.get(webhook["id"])["failure_count"] == 9
    webhooks.endpoint = respond_204
    webhooks.create_product(9)
    webhooks.run_until_idle()
    assert webhooks.get(webhook["id"])["failure_count"] == 0

    webhooks.endpoint = respond_500
    for number in range(10, 20):
        assert webhooks.get(webhook["id"])["is_active"]
        webhooks.create_product(number)
        webhooks.run_until_idle()
    shown = webhooks.get(webhook["id"])
    assert (shown["is_active"], shown["failure_count"]) == (False, 10)

    sent = len(webhooks.requests)
    webhooks.create_product(20)
    webhooks.run_until_idle()
    assert len(webhooks.requests) == sent, "events are not sent while the subscription is inactive"

    again = webhooks.erp.patch(f"/webhooks/{webhook['id']}", {"is_active": True}).data
    assert (again["is_active"], again["failure_count"]) == (True, 0)
    webhooks.endpoint = respond_204
    webhooks.create_product(21)
    webhooks.run_until_idle()
    assert len(webhooks.requests) == sent + 1


def test_410_deactivates_the_subscription_at_once(webhooks: WebhookScenario) -> None:
    webhook = webhooks.subscribe()
    webhooks.endpoint = gone
    webhooks.create_product()
    webhooks.run_until_idle()

    shown = webhooks.get(webhook["id"])
    assert (shown["is_active"], shown["failure_count"]) == (False, 1)
    (row,) = webhooks.deliveries(webhook["id"])
    assert (row["status"], len(row["attempts"])) == ("failed", 1)


@pytest.mark.parametrize("old_endpoint", [gone, respond_500])
def test_a_last_failure_at_a_former_url_is_repeated_at_the_new_one(
    webhooks: WebhookScenario,
    monkeypatch: pytest.MonkeyPatch,
    old_endpoint: Callable[[SentRequest], AttemptResult],
) -> None:
    monkeypatch.setenv("WEBHOOK_RETRY_DELAYS", "0")
    config.cache_clear()
    webhook = webhooks.subscribe()
    path, new_url = f"/webhooks/{webhook['id']}", "https://hooks.example.com/moved"

    def endpoint(request: SentRequest) -> AttemptResult:
        if request.url == new_url:
            return respond_204(request)
        webhooks.erp.patch(path, {"url": new_url}).ok()
        return old_endpoint(request)

    webhooks.endpoint = endpoint
    webhooks.create_product()
    webhooks.run_relay()
    while not webhooks.requests:  # a new endpoint moves to the slow queue
        bodies = webhooks.take_messages()
        failed = webhooks.run_worker(*bodies)
    assert failed == ["m0"]
    assert webhooks.run_worker(*bodies, receives=2) == []

    assert [sent.url for sent in webhooks.requests] == [webhook["url"], new_url]
    shown = webhooks.get(webhook["id"])
    assert (shown["is_active"], shown["failure_count"]) == (True, 0)
    (row,) = webhooks.deliveries(webhook["id"])
    assert (row["status"], len(row["attempts"])) == ("succeeded", 1)
