"""The events of one transaction are stored in few items of the outbox and delivered one by one."""

import random
import string
from collections.abc import Sequence

import pytest

from shared.integration.webhooks.relay import relay_missed_entries
from shared.kernel.db.actions import StaleRead
from shared.kernel.db.steps import commit_in_steps
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.events.outbox import Event, find_event, raise_event
from tests.dynamodb.capacity import item_size
from tests.faults import (
    AwsFaults,
    Fault,
    conflict,
    lose_answer,
    throttle,
)
from tests.integration.call_faults import at_calls, die
from tests.webhook_scenario import WebhookScenario, run_relay

_LETTERS = string.ascii_letters + string.digits + "!#$%&'()*+,-./:;<=>?@[]^_`{|}~"


def _wave(number: int, **attributes: object) -> Event:
    return Event("wave.planned", "wave", number, 1, f"/waves/{number}", attributes)


def test_events_of_one_transaction_are_stored_in_one_item_and_delivered_one_by_one(
    webhooks: WebhookScenario,
) -> None:
    webhooks.subscribe("wave.planned")
    store = webhooks.stack.store()

    def change(tx: Transaction) -> list[str]:
        return [
            raise_event(tx, _wave(number, id=number), only_subscription=only)
            for number, only in ((1, None), (2, 1), (3, 1))
        ]

    events = run_transaction(store, change)
    *_, item = webhooks.stack.outbox_items(webhooks.slug)
    assert events == [str(event["SK"]["S"]) for event in webhooks.stack.events(webhooks.slug)]

    assert webhooks.run_relay() == []
    assert sorted(task["event"] for task in webhooks.messages()) == events
    *_, item = webhooks.stack.outbox_items(webhooks.slug)
    assert "expires_at" in item
    found = [find_event(store, event) for event in events]
    assert [one and (one.item["id"], one.attributes) for one in found] == [
        (number, {"id": number}) for number in (1, 2, 3)
    ]
    assert find_event(store, events[0][:-4] + "003" + events[0][-1]) is None
    webhooks.run_until_idle()
    assert sorted(sent.event["id"] for sent in webhooks.requests) == events


def test_an_event_is_found_with_one_read(webhooks: WebhookScenario, aws_faults: AwsFaults) -> None:
    store = webhooks.stack.store()
    alone = run_transaction(store, lambda tx: raise_event(tx, _wave(1)))
    together = run_transaction(store, lambda tx: [raise_event(tx, _wave(n)) for n in (2, 3, 4)])

    with aws_faults.recorded() as seen:
        assert all(find_event(store, event) for event in [alone, *together])
    assert len(seen.calls) == 4


@pytest.mark.parametrize(
    ("count", "attributes", "items"),
    [(2, 18_000, 1), (80, 1_300, 1), (80, 18_000, 8), (129, 10, 2), (80, 18_001, 1)],
)
def test_events_that_are_too_large_for_one_item_are_in_several(
    webhooks: WebhookScenario, aws_faults: AwsFaults, count: int, attributes: int, items: int
) -> None:
    """Their text is random, so that it hardly gets smaller; quotation marks get longer in JSON."""
    letters = random.Random(7)  # noqa: S311 - not for a secret
    most = attributes - len('{"note":""}')
    quotes = most // 90

    def note() -> str:
        return '"' * quotes + "".join(letters.choices(_LETTERS, k=most - 2 * quotes))

    notes = [note() for _ in range(count)]

    def change(tx: Transaction) -> list[str]:
        events = [raise_event(tx, _wave(at, note=text)) for at, text in enumerate(notes)]
        assert tx.cost.actions == items
        return events

    with aws_faults.recorded() as seen:
        events = run_transaction(webhooks.stack.store(), change)
    stored = webhooks.stack.outbox_items(webhooks.slug)
    assert len(seen.calls) == 1
    assert len(stored) == items
    assert all(item_size(item) < 250_000 for item in stored)
    assert len(set(events)) == count
    found = [find_event(webhooks.stack.store(), event) for event in events]
    expected = [{"note": text} if attributes <= 18_000 else None for text in notes]
    assert [one and one.attributes for one in found] == expected


def test_events_of_a_refused_attempt_are_not_stored(webhooks: WebhookScenario) -> None:
    attempts: list[list[str]] = []

    def change(tx: Transaction) -> None:
        attempts.append([raise_event(tx, _wave(number)) for number in (1, 2)])
        assert not tx.is_empty
        if len(attempts) == 1:
            raise StaleRead
        if len(attempts) == 2:
            tx.check(("nothing", "HEAD"), condition="attribute_exists(PK)")

    run_transaction(webhooks.stack.store(), change)
    assert len(attempts) == 3
    stored = [str(event["SK"]["S"]) for event in webhooks.stack.events(webhooks.slug)]
    assert stored == attempts[2]


def test_each_step_stores_its_events(webhooks: WebhookScenario) -> None:
    """A step that is run again stores them once."""
    tx = Transaction(webhooks.stack.store(), is_retried=True)
    stale = [5]
    done: list[str] = []

    def step(left: Sequence[int]) -> int:
        part = [raise_event(tx, _wave(number)) for number in left[:3]]
        if left[0] in stale:
            stale.remove(left[0])
            raise StaleRead
        tx.after_step(lambda: done.extend(part))
        return len(part)

    commit_in_steps(tx, range(2, 10), step)
    stored = [str(event["SK"]["S"]) for event in webhooks.stack.events(webhooks.slug)]
    assert sorted(done) == stored
    assert len(stored) == 8
    assert len(webhooks.stack.outbox_items(webhooks.slug)) == 3
    assert not stale


@pytest.mark.parametrize("fault", [lose_answer(0), conflict(2), throttle(0, 2)])
def test_events_of_a_transaction_that_is_sent_again_are_stored_once(
    webhooks: WebhookScenario, aws_faults: AwsFaults, fault: Fault
) -> None:
    webhooks.subscribe("wave.planned")
    tx = Transaction(webhooks.stack.store())
    events = [raise_event(tx, _wave(number)) for number in (1, 2, 3)]
    with aws_faults.faulty(fault), aws_faults.recorded() as seen:
        tx.commit()
    assert len(seen.calls) > 1
    webhooks.run_until_idle()
    assert sorted(sent.event["id"] for sent in webhooks.requests) == events


def test_events_that_are_relayed_twice_are_delivered_once(
    webhooks: WebhookScenario, aws_faults: AwsFaults
) -> None:
    """The relay dies after it has sent the tasks of the first events; AWS repeats its batch."""
    webhooks.subscribe("wave.planned")
    store = webhooks.stack.store()
    events = run_transaction(store, lambda tx: [raise_event(tx, _wave(n)) for n in range(1, 26)])
    batch = webhooks.new_stream_batch()
    death = at_calls("SendMessageBatch", [1], before=die)
    assert aws_faults.kills(death, lambda: run_relay(batch))
    assert 0 < len(webhooks.messages()) < 25
    assert run_relay(batch) == []
    assert len(webhooks.messages()) > 25
    webhooks.run_until_idle()
    assert sorted(sent.event["id"] for sent in webhooks.requests) == events


def test_the_number_of_relayed_events_is_reported(
    webhooks: WebhookScenario, aws_faults: AwsFaults
) -> None:
    webhooks.subscribe("wave.planned")
    webhooks.run_relay()  # what the subscription wrote may be in the same partition
    run_transaction(
        webhooks.stack.store(), lambda tx: [raise_event(tx, _wave(n)) for n in (1, 2, 3)]
    )

    def fail() -> None:
        raise RuntimeError

    with aws_faults.faulty(at_calls("SendMessageBatch", before=fail)):
        assert (0, 3) in relay_missed_entries(webhooks.slug, older_than=-60)
    assert (3, 0) in relay_missed_entries(webhooks.slug, older_than=-60)


def test_an_event_is_delivered_again_under_its_id(webhooks: WebhookScenario) -> None:
    webhook = webhooks.subscribe("wave.planned")
    store = webhooks.stack.store()
    events = run_transaction(store, lambda tx: [raise_event(tx, _wave(n)) for n in (1, 2, 3)])
    webhooks.run_until_idle()
    path = f"/webhooks/{webhook['id']}/deliveries/{events[1]}/redeliver"
    assert webhooks.stack.erp().post(path).status in {200, 202}
    webhooks.run_until_idle()
    sent = [sent.event for sent in webhooks.requests]
    assert [one["id"] for one in sent if one["data"]["id"] == 2] == [events[1]] * 2
    assert len(sent) == 4
