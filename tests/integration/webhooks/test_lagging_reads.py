"""Deliveries whose eventually consistent reads show the state of a moment ago."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from tests.clock import Clock
from tests.faults import AwsFaults
from tests.integration.webhooks.event_pipeline import lagging_reads
from tests.webhook_scenario import WebhookScenario, respond_500

_LAG_SECONDS = 1

type Act = Callable[[WebhookScenario], object]


@pytest.fixture(params=[True, False], ids=["all tables", "all but the outbox"])
def reads_lag(
    aws_faults: AwsFaults, clock: Clock, request: pytest.FixtureRequest
) -> AbstractContextManager[None]:
    """A block in which reads lag until the test advances the clock."""
    clock.freeze()
    return aws_faults.faulty(lagging_reads(clock, _LAG_SECONDS, with_outbox=request.param))


def _subscribe(webhooks: WebhookScenario) -> None:
    webhooks.subscribe("product.created")


def _change(**changes: object) -> Act:
    return lambda webhooks: webhooks.erp.patch("/webhooks/1", changes).ok()


def _send_test(webhooks: WebhookScenario) -> None:
    webhooks.erp.post("/webhooks/1/test").ok(202)


def _redeliver(webhooks: WebhookScenario) -> None:
    [delivery] = webhooks.deliveries(1)
    webhooks.erp.post(f"/webhooks/1/deliveries/{delivery['id']}/redeliver").ok(202)


@pytest.mark.parametrize(
    ("before", "meanwhile"),
    [
        ([], [_subscribe, WebhookScenario.create_product]),
        (
            [_subscribe, _change(is_active=False)],
            [_change(is_active=True), WebhookScenario.create_product],
        ),
        (
            [_subscribe, _change(events=["wave.planned"])],
            [_change(events=["product.created"]), WebhookScenario.create_product],
        ),
        ([_subscribe], [_send_test]),
        (
            [_subscribe, WebhookScenario.create_product, WebhookScenario.run_until_idle],
            [_redeliver],
        ),
    ],
    ids=["subscribed", "activated", "includes the event", "test event", "redelivery"],
)
def test_event_that_follows_a_change_at_once_is_delivered_once(
    before: list[Act],
    meanwhile: list[Act],
    webhooks: WebhookScenario,
    reads_lag: AbstractContextManager[None],
) -> None:
    for act in before:
        act(webhooks)
    webhooks.requests.clear()

    with reads_lag:
        for act in meanwhile:
            act(webhooks)
        webhooks.run_until_idle()

    assert len(webhooks.requests) == 1
    assert [one["status"] for one in webhooks.deliveries(1)] == ["succeeded"]


def _delete(webhooks: WebhookScenario) -> None:
    webhooks.erp.delete("/webhooks/1").ok()


@pytest.mark.parametrize("end", [_change(is_active=False), _delete])
@pytest.mark.parametrize("seconds", [0, _LAG_SECONDS])
def test_subscription_that_ended_gets_what_waits_only_as_long_as_reads_lag(
    end: Act,
    seconds: float,
    webhooks: WebhookScenario,
    reads_lag: AbstractContextManager[None],
    clock: Clock,
) -> None:
    """The attempt is made as if it had begun before the change."""
    _subscribe(webhooks)
    webhooks.create_product()
    webhooks.run_relay()

    with reads_lag:
        end(webhooks)
        clock.advance(seconds)
        webhooks.run_until_idle()

    assert len(webhooks.requests) == (0 if seconds else 1)


def _first_message(webhooks: WebhookScenario) -> dict[str, Any]:
    """Return the message of a first attempt, in the slow queue."""
    _subscribe(webhooks)
    webhooks.create_product()
    webhooks.run_relay()
    [message] = webhooks.take_messages()
    return {**message, "slow": True}


def test_message_that_returns_after_a_crash_is_decided_on_the_present_log(
    webhooks: WebhookScenario, reads_lag: AbstractContextManager[None]
) -> None:
    """The worker dies between the log and the next task."""
    message = _first_message(webhooks)
    webhooks.endpoint = respond_500

    with reads_lag:
        webhooks.run_worker(message)
        [lost] = webhooks.take_messages()
        assert webhooks.run_worker(message, receives=2) == []

    assert webhooks.take_messages() == [lost]
    assert len(webhooks.requests) == 1


def test_duplicate_message_may_repeat_an_attempt_which_is_logged_once(
    webhooks: WebhookScenario, reads_lag: AbstractContextManager[None], clock: Clock
) -> None:
    """As when two workers receive the same message at the same time."""
    message = _first_message(webhooks)

    with reads_lag:
        assert webhooks.run_worker(message) == []
        clock.advance(_LAG_SECONDS / 10)
        assert webhooks.run_worker(message) == ["m0"]
        assert webhooks.run_worker(message, receives=2) == []

    assert len(webhooks.requests) == 2
    [delivery] = webhooks.deliveries(1)
    assert (delivery["status"], len(delivery["attempts"])) == ("succeeded", 1)


def test_retry_follows_the_attempts_of_the_log(
    webhooks: WebhookScenario, reads_lag: AbstractContextManager[None]
) -> None:
    """A retry is due 5 seconds after the former attempt, but reads may lag longer than usual."""
    message = _first_message(webhooks)
    webhooks.endpoint = respond_500

    with reads_lag:
        webhooks.run_worker(message)
        [retry] = webhooks.take_messages()
        assert webhooks.run_worker({**retry, "due": 0}) == []

    [delivery] = webhooks.deliveries(1)
    assert [attempt["status"] for attempt in delivery["attempts"]] == [500, 500]
