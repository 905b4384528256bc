"""What is tried again, how often, and when a subscription ends."""

from datetime import datetime, timedelta

from shared.integration.webhooks.http_client import AttemptResult
from shared.kernel.config import config
from tests.clock import Clock
from tests.webhook_scenario import SentRequest, WebhookDesk, respond_204, respond_500

DELAYS = (0, 5, 300, 1800, 7200, 18000, 36000)


def gone(_: SentRequest) -> AttemptResult:
    return AttemptResult(milliseconds=5, status=410, error="responded with status 410")


def test_retries_come_later_and_later(desk: WebhookDesk, clock: Clock) -> None:
    assert config().webhook_delays == DELAYS
    hook = desk.subscribe()
    desk.endpoint = respond_500
    desk.happen()
    desk.relay()

    for number, delay in enumerate(DELAYS[1:], 1):
        while len(desk.sent) < number:
            assert desk.work(*desk.take()) == []
        (row,) = desk.deliveries(hook["id"])
        assert (row["status"], len(row["attempts"])) == ("retrying", number)
        due = datetime.fromisoformat(row["next_attempt_at"])
        last = datetime.fromisoformat(row["updated_at"])
        assert timedelta(seconds=delay) <= due - last <= timedelta(seconds=1.1 * delay + 0.001)
        (message,) = desk.messages()
        assert message["attempt"] == number + 1
        (waits,) = desk.message_delays()
        assert waits <= 900
        if delay > 1000:  # longer than a message can wait: it goes through the queue again
            clock.advance(900)
            assert desk.work(*desk.take()) == []
            assert (len(desk.sent), desk.messages()) == (number, [message])
        clock.advance(1.1 * delay + 1)
    assert desk.work(*desk.take()) == []
    (row,) = desk.deliveries(hook["id"])
    assert (row["status"], len(row["attempts"]), row["next_attempt_at"]) == ("failed", 7, None)
    assert row["attempts"][0]["response"] == "oh no"
    assert desk.messages() == []
    assert desk.get(hook["id"])["failure_count"] == 1
    assert len({sent.body for sent in desk.sent}) == 1


def test_retry_after_is_honoured(desk: WebhookDesk) -> None:
    hook = desk.subscribe()
    desk.endpoint = lambda _: AttemptResult(
        milliseconds=5, status=429, error="responded with status 429", retry_after=77
    )
    desk.happen()
    desk.relay()
    for _ in range(2):  # once more since the endpoint is new
        assert desk.work(*desk.take()) == []

    (row,) = desk.deliveries(hook["id"])
    due = datetime.fromisoformat(row["next_attempt_at"])
    assert due - datetime.fromisoformat(row["updated_at"]) == timedelta(seconds=77)


def test_a_success_forgets_failures_and_ten_in_a_row_end_it(desk: WebhookDesk) -> None:
    hook = desk.subscribe()
    desk.endpoint = respond_500
    for number in range(9):
        desk.happen(number)
        desk.run_until_idle()
    assert desk.get(hook["id"])["failure_count"] == 9
    desk.endpoint = respond_204
    desk.happen(9)
    desk.run_until_idle()
    assert desk.get(hook["id"])["failure_count"] == 0

    desk.endpoint = respond_500
    for number in range(10, 20):
        assert desk.get(hook["id"])["is_active"]
        desk.happen(number)
        desk.run_until_idle()
    shown = desk.get(hook["id"])
    assert (shown["is_active"], shown["failure_count"]) == (False, 10)

    sent = len(desk.sent)
    desk.happen(20)
    desk.run_until_idle()
    assert len(desk.sent) == sent, "what happens while it is not active is not sent"

    again = desk.erp.patch(f"/webhooks/{hook['id']}", {"is_active": True}).data
    assert (again["is_active"], again["failure_count"]) == (True, 0)
    desk.endpoint = respond_204
    desk.happen(21)
    desk.run_until_idle()
    assert len(desk.sent) == sent + 1


def test_410_ends_it_at_once(desk: WebhookDesk) -> None:
    hook = desk.subscribe()
    desk.endpoint = gone
    desk.happen()
    desk.run_until_idle()

    shown = desk.get(hook["id"])
    assert (shown["is_active"], shown["failure_count"]) == (False, 1)
    (row,) = desk.deliveries(hook["id"])
    assert (row["status"], len(row["attempts"])) == ("failed", 1)
