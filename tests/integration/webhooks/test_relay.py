"""The relay from the outbox to the delivery queue."""

from base64 import b64encode
from functools import partial
from typing import Any

import pytest
from click.testing import CliRunner

from cli.main import main
from local.stack import _relay_missed_events
from operations import provisioning
from operations.tenant_rules import NewTenant
from shared.identity.tenancy.directory import directory
from shared.integration.webhooks.relay import relay_missed_entries
from shared.kernel.clock import now_ms
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.events.outbox import (
    Event,
    StoredEvent,
    find_event,
    parse_entry,
    partitions,
    raise_event,
)
from shared.kernel.queue import Queue
from tests.integration.cli.command_line import deploy_stack
from tests.stack import ADDRESS
from tests.tenant_cache import apply_now
from tests.webhook_scenario import WebhookScenario, run_relay, stream_batch

DAYS_32 = 32 * 86_400


def raise_wave_event(webhooks: WebhookScenario, **more: Any) -> None:
    """Raise an event without a warehouse operation."""
    facts = {"object": "wave", "id": 1, "version": 1, "href": "/waves/1", "attributes": {}, **more}
    run_transaction(
        webhooks.stack.store(), lambda tx: raise_event(tx, Event(type="wave.planned", **facts))
    )


def expiries(webhooks: WebhookScenario) -> list[int | None]:
    """Return the expiry of each outbox entry, oldest first; None if it was not relayed."""
    events = webhooks.stack.events(webhooks.slug)
    return [int(event["expires_at"]["N"]) if "expires_at" in event else None for event in events]


def test_an_entry_gets_an_expiry_only_when_it_is_relayed(webhooks: WebhookScenario) -> None:
    webhooks.subscribe("wave.planned")
    raise_wave_event(webhooks)
    assert expiries(webhooks) == [None]

    assert webhooks.run_relay() == []

    (expiry,) = expiries(webhooks)
    assert expiry is not None
    assert abs(expiry - now_ms() // 1000 - DAYS_32) < 10
    assert len(webhooks.messages()) == 1


def test_events_of_a_tenant_are_spread_over_the_partitions_of_the_outbox(
    webhooks: WebhookScenario,
) -> None:
    store = webhooks.stack.store()
    events = [Event("wave.planned", "wave", n, 1, f"/waves/{n}", {}) for n in range(80)]
    names = [run_transaction(store, partial(raise_event, event=event)) for event in events]

    used = {event["PK"]["S"] for event in webhooks.stack.events()}
    assert used <= set(partitions("acme"))
    assert len(used) > len(partitions("acme")) // 2  # of 16, all but 0.1 on average
    assert [found.id for name in names if (found := find_event(store, name))] == names
    assert sum(done for done, _ in relay_missed_entries("acme", older_than=-60)) == len(names)
    assert None not in expiries(webhooks)


def test_an_event_without_subscriptions_is_marked_as_relayed(webhooks: WebhookScenario) -> None:
    raise_wave_event(webhooks)
    assert webhooks.run_relay() == []
    assert None not in expiries(webhooks)
    assert webhooks.messages() == []


def test_each_event_is_sent_to_each_of_twenty_subscriptions(webhooks: WebhookScenario) -> None:
    for _ in range(20):
        webhooks.subscribe("wave.planned")
    for number in range(1, 8):
        raise_wave_event(webhooks, id=number)

    assert webhooks.run_relay() == []

    pairs = {(message["webhook"], message["event"]) for message in webhooks.messages()}
    assert len(pairs) == len(webhooks.messages()) == 140


def test_each_subscription_has_its_own_message_group(webhooks: WebhookScenario) -> None:
    webhooks.subscribe("wave.planned")
    webhooks.subscribe("wave.planned")
    raise_wave_event(webhooks)
    webhooks.run_relay()
    groups = {message.group for message in webhooks.waiting()}
    assert groups == {"acme.1", "acme.2"}


def test_messages_rejected_by_the_queue_are_reported_and_sent_again(
    webhooks: WebhookScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhooks.subscribe("wave.planned")
    webhooks.run_relay()
    for number in range(1, 4):
        raise_wave_event(webhooks, id=number)
    send = Queue.send_many

    def reject_second(queue: Queue, messages: Any) -> Any:
        send(queue, [message for message in messages if message is not messages[1]])
        return [messages[1]]

    batch = webhooks.new_stream_batch()
    with monkeypatch.context() as patch:
        patch.setattr(Queue, "send_many", reject_second)
        assert run_relay(batch) == ["2"]
    assert [expiry is None for expiry in expiries(webhooks)] == [False, True, False]

    again = {"Records": batch["Records"][1:]}
    assert run_relay(again) == []
    webhooks.run_until_idle()
    assert sorted(sent.event["data"]["id"] for sent in webhooks.requests) == [1, 2, 3]


def test_an_invalid_entry_does_not_block_the_others(webhooks: WebhookScenario) -> None:
    webhooks.subscribe("wave.planned")
    raise_wave_event(webhooks)
    batch = stream_batch([{"PK": {"S": "acme#0"}}, *webhooks.stack.events()])

    assert run_relay(batch) == ["1"]
    assert len(webhooks.messages()) == 1


def test_changed_and_removed_entries_are_ignored(webhooks: WebhookScenario) -> None:
    webhooks.subscribe("wave.planned")
    webhooks.run_relay()
    raise_wave_event(webhooks)
    batch = webhooks.new_stream_batch()
    for name in ("MODIFY", "REMOVE"):
        batch["Records"][0]["eventName"] = name
        assert run_relay(batch) == []
    assert webhooks.messages() == []


def test_marking_an_expired_entry_does_not_recreate_it(webhooks: WebhookScenario) -> None:
    raise_wave_event(webhooks)
    batch = webhooks.new_stream_batch()
    webhooks.stack.reset_tenant()
    assert run_relay(batch) == []
    assert webhooks.stack.outbox_items(webhooks.slug) == []


def test_an_unknown_tenant_receives_nothing(webhooks: WebhookScenario) -> None:
    raise_wave_event(webhooks)
    batch = webhooks.new_stream_batch()
    batch["Records"][0]["dynamodb"]["NewImage"]["PK"]["S"] = "nobody"
    assert run_relay(batch) == []
    assert webhooks.messages() == []


def test_an_upgrade_to_a_plan_with_webhooks_loses_no_event(webhooks: WebhookScenario) -> None:
    """Relay and worker still have the tenant with its old plan in their cache."""
    webhook = webhooks.subscribe("wave.planned")
    apply_now(provisioning.set_plan, "acme", "essentials")
    raise_wave_event(webhooks, id=1)
    assert webhooks.run_relay() == []
    assert webhooks.messages() == []

    provisioning.set_plan("acme", "professional")
    raise_wave_event(webhooks, id=2)
    assert webhooks.run_relay() == []
    (message,) = webhooks.take_messages()
    apply_now(provisioning.set_plan, "acme", "essentials")
    assert directory.tenant("acme") is not None
    provisioning.set_plan("acme", "professional")
    assert webhooks.run_worker({**message, "slow": True}) == []

    assert [sent.event["data"]["id"] for sent in webhooks.requests] == [2]
    assert [row["status"] for row in webhooks.deliveries(webhook["id"])] == ["succeeded"]


@pytest.mark.parametrize("size", [17_000, 17_900, 18_500, 350_000])
def test_a_body_has_at_most_20_kb(webhooks: WebhookScenario, size: int) -> None:
    webhooks.subscribe("wave.planned")
    raise_wave_event(webhooks, attributes={"note": "é" * (size // 2)})
    webhooks.run_until_idle()

    (sent,) = webhooks.requests
    assert len(sent.body) <= 20_000
    fits = size < 18_000
    assert (sent.event["data"]["attributes"] is not None) == fits


def test_the_size_limit_includes_the_base_url() -> None:
    (_, entry) = parse_entry(
        {
            "PK": {"S": "acme#0"}, "SK": {"S": "evt_" + "0" * 32}, "type": {"S": "wave.planned"},
            "object": {"S": "wave"}, "id": {"N": "1"}, "version": {"N": "1"},
            "href": {"S": "/waves/1"}, "created_at": {"S": "2026-01-01T00:00:00.000Z"},
            "attributes": {"B": b64encode(b'{"note":"' + b"x" * 17_900 + b'"}').decode()},
        }
    )  # fmt: skip
    assert isinstance(entry, StoredEvent)
    assert b'"attributes":null' in entry.body("https://api.example.com/" + "x" * 3_000)
    assert b'"attributes":{' in entry.body("https://api.example.com/api/v1")


def test_an_operator_relays_entries_discarded_by_the_stream(webhooks: WebhookScenario) -> None:
    deploy_stack()
    webhook = webhooks.subscribe("wave.planned")
    webhooks.run_relay()
    raise_wave_event(webhooks, id=1)
    webhooks.new_stream_batch()  # discarded after the last retry
    runner = CliRunner(mix_stderr=False)

    young = runner.invoke(main, ["--json", "events", "relay"])
    assert (young.exit_code, webhooks.messages()) == (0, [])
    done = runner.invoke(main, ["--json", "events", "relay", "acme", "--older-than", "0"])
    assert done.exit_code == 0, done.stderr
    assert '"relayed": 1' in done.stdout
    assert (
        '"relayed": 0'
        in runner.invoke(main, ["--json", "events", "relay", "acme", "--older-than", "0"]).stdout
    )

    webhooks.run_until_idle()
    assert [row["status"] for row in webhooks.deliveries(webhook["id"])] == ["succeeded"]


def test_the_next_local_run_relays_the_events_of_all_tenants(webhooks: WebhookScenario) -> None:
    provisioning.create_tenant(NewTenant("gamma", base_url=ADDRESS))  # no demo tenant
    event = Event("wave.planned", "wave", 1, 1, "/waves/1", {})
    run_transaction(webhooks.stack.store("gamma"), partial(raise_event, event=event))
    raise_wave_event(webhooks)

    _relay_missed_events()

    for slug in ("acme", "gamma"):
        assert ["expires_at" in event for event in webhooks.stack.events(slug)] == [True], slug


def test_two_events_of_one_version_are_rejected(webhooks: WebhookScenario) -> None:
    facts: dict[str, Any] = {"object": "wave", "id": 1, "href": "/waves/1", "attributes": {}}

    def twice(tx: Transaction) -> None:
        raise_event(tx, Event(type="wave.planned", version=3, **facts))
        raise_event(tx, Event(type="wave.released", version=4, **facts))
        raise_event(tx, Event(type="wave.completed", version=4, **facts))

    with pytest.raises(AssertionError, match="version 4 of wave 1"):
        run_transaction(webhooks.stack.store(), twice)
    assert webhooks.stack.events() == []
