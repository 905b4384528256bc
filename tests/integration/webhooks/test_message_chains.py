"""Messages that the worker sends while it processes a message, and waits above 15 minutes.

Lambda counts such messages as a chain and stops a chain after about 16 invocations. The trace
header with which it counts does not exist here: the tests count the invocations themselves.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from shared.integration.webhooks.http_client import AttemptResult
from shared.integration.webhooks.repository import record_slow_endpoint
from shared.kernel.config import config
from shared.kernel.queue import MAX_DELAY_SECONDS
from tests.clock import Clock
from tests.webhook_scenario import SentRequest, WaitingMessage, WebhookScenario, respond_500

MAX_CHAIN = 12
"""Invocations in a chain, well below the 16 of Lambda."""
_EARLY_SECONDS = 59
"""EventBridge Scheduler has a precision of 60 s."""


def respond_503_for_a_day(_: SentRequest) -> AttemptResult:
    return AttemptResult(
        milliseconds=5, status=503, error="responded with status 503", retry_after=86_400
    )


@dataclass(slots=True)
class WorstCase:
    """Processes the messages of a delivery in the way that needs most messages.

    Each delayed message is received too early once, the endpoint is recorded as slow before each
    attempt, and each invocation crashes once after it has sent its message.
    """

    webhooks: WebhookScenario
    clock: Clock
    webhook: int
    longest: int = 0

    def follow(self, message: WaitingMessage, invocations: int = 1) -> None:
        """Process a message and those that follow; `invocations` of the chain include this one."""
        self.longest = max(self.longest, invocations)
        if message.delay:
            if message.scheduled:
                self.clock.advance(message.delay - _EARLY_SECONDS)
            (message,) = self._process(message)
            invocations += 1
            self.longest = max(self.longest, invocations)
        self.clock.advance(message.delay + 1)
        record_slow_endpoint(self.webhooks.stack.store(), self.webhook)
        self._process(message)  # and crash: SQS delivers the message again
        for following in self._process(message, receives=2):
            self.follow(following, 1 if following.scheduled else invocations + 1)

    def _process(self, message: WaitingMessage, receives: int = 1) -> list[WaitingMessage]:
        assert self.webhooks.run_worker(message.body, receives=receives) == []
        following = self.webhooks.waiting()
        self.webhooks.take_messages()
        return following


def first_message(webhooks: WebhookScenario) -> WaitingMessage:
    webhooks.create_product()
    webhooks.run_relay()
    (message,) = webhooks.waiting()
    webhooks.take_messages()
    return message


def fail_attempts(webhooks: WebhookScenario, clock: Clock, count: int) -> WaitingMessage:
    """Fail the first attempts; return the message of the next one."""
    while len(webhooks.requests) < count:
        (message,) = webhooks.waiting()
        clock.advance(message.delay + 1)
        assert webhooks.run_worker(*webhooks.take_messages()) == []
    (message,) = webhooks.waiting()
    return message


def test_no_chain_of_a_delivery_comes_near_the_limit_of_lambda(
    webhooks: WebhookScenario, clock: Clock
) -> None:
    number = webhooks.subscribe()["id"]
    webhooks.endpoint = respond_500
    worst = WorstCase(webhooks, clock, number)
    worst.follow(first_message(webhooks))

    (row,) = webhooks.deliveries(number)
    assert (row["status"], len(row["attempts"])) == ("failed", len(config().webhook_delays))
    assert len(webhooks.requests) == len(config().webhook_delays)
    assert 3 < worst.longest <= MAX_CHAIN


def test_a_wait_above_15_minutes_is_one_schedule_and_no_message(
    webhooks: WebhookScenario, clock: Clock
) -> None:
    webhooks.subscribe()
    webhooks.endpoint = respond_500
    webhooks.create_product()
    webhooks.run_relay()
    message = fail_attempts(webhooks, clock, 3)

    assert message.scheduled
    assert 1800 <= message.delay <= 1.1 * 1800 + 1
    ((name, schedule),) = webhooks.schedules().items()
    assert len(name) == 64
    assert schedule.schedule_expression_timezone == "UTC"
    assert schedule.flexible_time_window == {"Mode": "OFF"}
    assert schedule.action_after_completion == "DELETE"
    assert schedule.target["RoleArn"] == config().webhook_schedule_role
    assert schedule.target["Arn"] == "arn:aws:scheduler:::aws-sdk:sqs:sendMessage"
    assert message.group == f"{webhooks.slug}.1"


def test_a_schedule_is_never_early(webhooks: WebhookScenario, clock: Clock) -> None:
    webhooks.subscribe()
    webhooks.endpoint = respond_503_for_a_day
    webhooks.create_product()
    webhooks.run_relay()
    message = fail_attempts(webhooks, clock, 1)

    (schedule,) = webhooks.schedules().values()
    time = schedule.schedule_expression.removeprefix("at(").removesuffix(")")
    sent_at = datetime.fromisoformat(time).replace(tzinfo=UTC).timestamp()
    assert sent_at - 1 < message.body["due"] / 1000 <= sent_at


@pytest.mark.parametrize("wait", [MAX_DELAY_SECONDS - 1, MAX_DELAY_SECONDS + 2])
def test_the_delay_of_sqs_decides_between_queue_and_schedule(
    webhooks: WebhookScenario, clock: Clock, wait: int
) -> None:
    clock.freeze()
    webhooks.subscribe()
    webhooks.endpoint = lambda _: AttemptResult(
        milliseconds=5, status=503, error="responded with status 503", retry_after=wait
    )
    webhooks.create_product()
    webhooks.run_relay()

    assert fail_attempts(webhooks, clock, 1).scheduled == (wait > MAX_DELAY_SECONDS)


def test_a_repeated_message_creates_no_second_schedule(
    webhooks: WebhookScenario,
) -> None:
    webhooks.subscribe()
    webhooks.endpoint = respond_503_for_a_day
    webhooks.create_product()
    webhooks.run_relay()
    assert webhooks.run_worker(*webhooks.take_messages()) == []  # moves to the slow queue
    (body,) = webhooks.take_messages()

    for receives in (1, 2, 3):
        assert webhooks.run_worker(body, receives=receives) == []
        assert len(webhooks.schedules()) == 1
    assert len(webhooks.requests) == 1
