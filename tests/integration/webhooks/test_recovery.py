"""Recovery: what a subscription has not received is delivered in order, each event once."""

from collections.abc import Callable
from typing import Any

import pytest

from shared.integration.webhooks import recovery
from shared.integration.webhooks.repository import RETENTION_DAYS
from shared.kernel.clock import instant, now_ms
from shared.kernel.events import outbox
from shared.kernel.events.outbox import next_events
from tests.clock import Clock
from tests.faults import AwsFaults, Killed, kill_after, kill_before
from tests.webhook_scenario import SentRequest, WebhookScenario, respond_204, respond_500

_DAY_MS = 86_400_000
_OWN_DELIVERY = 61
"""Seconds after which an event is not left to its own delivery any more."""


def _recover(webhooks: WebhookScenario, number: int, since: str | None = None) -> Any:
    since = since or instant(now_ms() - _DAY_MS)
    return webhooks.erp.post(f"/webhooks/{number}/recover", {"since": since})


def _received(webhooks: WebhookScenario) -> list[str]:
    """Return the codes of the products of which events were sent, in order."""
    return [sent.event["data"]["attributes"]["item_code"] for sent in webhooks.requests]


def _statuses(webhooks: WebhookScenario, number: int) -> dict[str, str]:
    return {row["id"]: row["status"] for row in webhooks.deliveries(number, per_page=100)}


def _fail(webhooks: WebhookScenario, *products: int) -> None:
    """Create products whose events fail."""
    webhooks.endpoint = respond_500
    for product in products:
        webhooks.create_product(product)
        webhooks.run_until_idle()
    webhooks.endpoint = respond_204
    webhooks.requests.clear()


def _miss(webhooks: WebhookScenario, number: int, *products: int) -> None:
    """Create products while the subscription is inactive."""
    webhooks.erp.patch(f"/webhooks/{number}", {"is_active": False}).ok()
    for product in products:
        webhooks.create_product(product)
    webhooks.run_until_idle()
    webhooks.erp.patch(f"/webhooks/{number}", {"is_active": True}).ok()


@pytest.fixture
def hook(webhooks: WebhookScenario, clock: Clock) -> int:
    """A subscription that has received 1, not received 2, and missed 3 to 5 and another kind."""
    number: int = webhooks.subscribe()["id"]
    webhooks.create_product(1)
    webhooks.run_until_idle()
    _fail(webhooks, 2)
    _miss(webhooks, number, 3, 4, 5)
    webhooks.erp.patch("/products/5", {"name": "Another"}).ok()
    webhooks.run_until_idle()
    clock.advance(_OWN_DELIVERY)
    return number


def test_what_failed_or_was_missed_is_delivered_in_order_and_once(
    webhooks: WebhookScenario, hook: int
) -> None:
    answer = _recover(webhooks, hook)

    assert (answer.status, answer.data["webhook_id"]) == (202, hook)
    assert answer.headers["Location"].endswith(f"/webhooks/{hook}/deliveries")
    webhooks.run_until_idle()
    assert _received(webhooks) == ["P-2", "P-3", "P-4", "P-5"]
    assert set(_statuses(webhooks, hook).values()) == {"succeeded"}
    assert len(_statuses(webhooks, hook)) == 5
    _recover(webhooks, hook)
    webhooks.run_until_idle()
    assert len(webhooks.requests) == 4


def test_recovery_begins_at_its_time(webhooks: WebhookScenario, hook: int) -> None:
    fourth = webhooks.erp.get("/products/4").data["created_at"]

    assert _recover(webhooks, hook, since=fourth).status == 202

    webhooks.run_until_idle()
    assert _received(webhooks) == ["P-4", "P-5"]


def test_the_next_event_waits_until_the_one_before_has_ended(
    webhooks: WebhookScenario, hook: int
) -> None:
    failures = 3

    def answers(sent: SentRequest) -> Any:
        nonlocal failures
        failures -= 1
        return (respond_500 if failures >= 0 else respond_204)(sent)

    webhooks.endpoint = answers
    _recover(webhooks, hook)
    webhooks.run_until_idle()

    assert _received(webhooks) == ["P-2"] * 4 + ["P-3", "P-4", "P-5"]


def test_a_final_failure_does_not_hold_up_the_others(webhooks: WebhookScenario, hook: int) -> None:
    webhooks.endpoint = lambda sent: (respond_500 if b'"P-2"' in sent.body else respond_204)(sent)
    _recover(webhooks, hook)
    webhooks.run_until_idle()

    found = _received(webhooks)
    assert found[-3:] == ["P-3", "P-4", "P-5"]
    assert set(found[:-3]) == {"P-2"}


@pytest.mark.parametrize("ends", ["disabled", "deleted"])
def test_recovery_ends_with_its_subscription(
    webhooks: WebhookScenario, hook: int, ends: str
) -> None:
    path = f"/webhooks/{hook}"

    def end(sent: SentRequest) -> Any:
        if ends == "disabled":
            webhooks.erp.patch(path, {"is_active": False}).ok()
        else:
            webhooks.erp.delete(path).ok()
        return respond_204(sent)

    webhooks.endpoint = end
    _recover(webhooks, hook)
    webhooks.run_until_idle()
    assert _received(webhooks) == ["P-2"]

    if ends == "disabled":
        webhooks.endpoint = respond_204
        webhooks.erp.patch(path, {"is_active": True}).ok()
        _recover(webhooks, hook)
        webhooks.run_until_idle()
        assert _received(webhooks) == ["P-2", "P-3", "P-4", "P-5"]


def test_young_event_is_left_to_its_own_delivery(
    webhooks: WebhookScenario, hook: int, clock: Clock
) -> None:
    webhooks.create_product(6)
    _recover(webhooks, hook)
    webhooks.run_relay()
    own, recovery = webhooks.take_messages()
    assert webhooks.run_worker({**recovery, "slow": True}) == []
    assert _received(webhooks) == ["P-2", "P-3", "P-4", "P-5"]
    (waiting,) = webhooks.take_messages()

    assert webhooks.run_worker(own) == []
    webhooks.run_until_idle()
    clock.advance(_OWN_DELIVERY)
    assert webhooks.run_worker(waiting) == []

    assert _received(webhooks)[4:] == ["P-6"]


def test_repeated_messages_and_requests_deliver_nothing_twice(
    webhooks: WebhookScenario, hook: int
) -> None:
    for _ in range(2):
        _recover(webhooks, hook)
    webhooks.run_relay()
    tasks = [{**one, "slow": True} for one in webhooks.take_messages()]

    assert webhooks.run_worker(*tasks, *tasks) == []
    webhooks.run_until_idle()
    for task in tasks:
        assert webhooks.run_worker(task, receives=2) == []

    assert sorted(set(_received(webhooks))) == ["P-2", "P-3", "P-4", "P-5"]
    assert len({sent.event["id"] for sent in webhooks.requests}) == 4
    assert set(_statuses(webhooks, hook).values()) == {"succeeded"}


@pytest.mark.parametrize("kill", [kill_before, kill_after])
def test_killed_recovery_goes_on(
    webhooks: WebhookScenario,
    hook: int,
    aws_faults: AwsFaults,
    clock: Clock,
    kill: Callable[[int], Any],
) -> None:
    _recover(webhooks, hook)
    webhooks.run_relay()
    (task,) = ({**one, "slow": True} for one in webhooks.take_messages())
    for call in range(200):
        try:
            with aws_faults.faulty(kill(call)):
                webhooks.run_worker(task, receives=2)
        except Killed:
            clock.advance(16 * 60)  # what was begun is overdue
            webhooks.take_messages()
        else:
            break
    webhooks.run_until_idle()

    received = _received(webhooks)
    assert sorted(set(received), key=received.index) == ["P-2", "P-3", "P-4", "P-5"]
    assert set(_statuses(webhooks, hook).values()) == {"succeeded"}


@pytest.mark.parametrize(
    ("since", "problem"),
    [
        (lambda: instant(now_ms() + 60_000), "must not be in the future"),
        (lambda: instant(now_ms() - RETENTION_DAYS * _DAY_MS - 60_000), "at most 31 days ago"),
        (lambda: "yesterday", ""),
        (lambda: None, ""),
    ],
)
def test_other_times_are_refused(
    webhooks: WebhookScenario, since: Callable[[], Any], problem: str
) -> None:
    number = webhooks.subscribe()["id"]

    answer = webhooks.erp.post(f"/webhooks/{number}/recover", {"since": since()})

    assert (answer.status, answer.json()["error"]["field"]) == (422, "since")
    assert problem in answer.json()["error"]["message"]


def test_inactive_subscription_is_not_recovered(webhooks: WebhookScenario) -> None:
    number = webhooks.subscribe()["id"]
    webhooks.erp.patch(f"/webhooks/{number}", {"is_active": False}).ok()

    assert _recover(webhooks, number).code == "conflict"
    assert webhooks.stack.outbox_items("acme")[-1:] == [] or webhooks.run_relay() == []


def test_recovery_that_finds_nothing_to_deliver_goes_on_in_another_task(
    webhooks: WebhookScenario, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = webhooks.subscribe()["id"]
    monkeypatch.setattr(outbox, "_PAGE", 1)
    for product in range(40):
        webhooks.create_product(product)
    webhooks.run_until_idle()
    webhooks.requests.clear()
    clock.advance(_OWN_DELIVERY)
    pages = 0

    def slow_page(*arguments: Any) -> Any:
        nonlocal pages
        pages += 1
        clock.advance(4)
        return next_events(*arguments)

    monkeypatch.setattr(recovery, "next_events", slow_page)
    _recover(webhooks, number)
    webhooks.run_relay()
    (task,) = webhooks.take_messages()

    assert webhooks.run_worker({**task, "slow": True}) == []

    assert pages == 3
    (left,) = webhooks.take_messages()
    assert left["after"] > task["after"]
    assert webhooks.run_worker({**left, "due": 0}) == []
    webhooks.run_until_idle()
    assert pages > 3
    assert webhooks.requests == []


def test_attempt_that_is_under_way_is_not_repeated_by_a_recovery(
    webhooks: WebhookScenario, hook: int, clock: Clock
) -> None:
    first = True

    def recover_meanwhile(sent: SentRequest) -> Any:
        nonlocal first
        if first:
            first = False
            clock.advance(1)
            _recover(webhooks, hook)
            webhooks.run_relay()
            (other,) = webhooks.take_messages()
            assert webhooks.run_worker({**other, "slow": True}) == []
        return respond_204(sent)

    webhooks.endpoint = recover_meanwhile
    _recover(webhooks, hook)
    webhooks.run_until_idle()
    clock.advance(_OWN_DELIVERY)
    webhooks.run_until_idle()

    assert _received(webhooks) == ["P-2", "P-3", "P-4", "P-5"]


def test_what_was_received_31_days_ago_is_not_delivered_again(
    webhooks: WebhookScenario, clock: Clock
) -> None:
    number = webhooks.subscribe()["id"]
    webhooks.create_product(1)
    webhooks.run_until_idle()
    clock.advance(RETENTION_DAYS * 86_400 - 60)
    webhooks.requests.clear()
    since = instant(now_ms() - RETENTION_DAYS * _DAY_MS + 10_000)
    assert _recover(webhooks, number, since).status == 202
    webhooks.run_relay()
    (task,) = webhooks.take_messages()
    clock.advance(120)

    assert webhooks.run_worker({**task, "slow": True}) == []

    assert webhooks.requests == []
    assert webhooks.take_messages() == []
