"""From the outbox to the queue."""

from typing import Any

import pytest
from click.testing import CliRunner

from cli.main import main
from operations import provisioning
from shared.identity.tenancy.directory import directory
from shared.kernel.clock import now_ms
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.events.outbox import Event, StoredEvent, entry_of, raise_event
from shared.kernel.queue import Queue
from tests.integration.cli.command_line import deploy_stack
from tests.stack import Stack
from tests.webhook_desk import WebhookDesk, relay_batch, stream_of

DAYS_31 = 31 * 86_400


def told(desk: WebhookDesk, **more: Any) -> None:
    """Let something happen that nothing in the warehouse has to happen for."""
    facts = {"object": "wave", "id": 1, "version": 1, "href": "/waves/1", "attributes": {}, **more}
    run_transaction(
        desk.stack.store(), lambda tx: raise_event(tx, Event(type="wave.planned", **facts))
    )


def expiries(desk: WebhookDesk) -> list[int | None]:
    """When each entry of the outbox ends, the oldest first; None for those not relayed."""
    events = desk.stack.events(desk.slug)
    return [int(event["expires_at"]["N"]) if "expires_at" in event else None for event in events]


def test_an_entry_expires_only_once_it_was_relayed(desk: WebhookDesk) -> None:
    desk.subscribe("wave.planned")
    told(desk)
    assert expiries(desk) == [None]

    assert desk.relay() == []

    (expiry,) = expiries(desk)
    assert expiry is not None
    assert abs(expiry - now_ms() // 1000 - DAYS_31) < 10
    assert len(desk.messages()) == 1


def test_what_nobody_wants_is_relayed_too(desk: WebhookDesk) -> None:
    told(desk)
    assert desk.relay() == []
    assert None not in expiries(desk)
    assert desk.messages() == []


def test_twenty_subscriptions_and_many_events(desk: WebhookDesk) -> None:
    for _ in range(20):
        desk.subscribe("wave.planned")
    for number in range(1, 8):
        told(desk, id=number)

    assert desk.relay() == []

    pairs = {(message["webhook"], message["event"]) for message in desk.messages()}
    assert len(pairs) == len(desk.messages()) == 140


def test_groups_are_fair_between_tenants_and_endpoints(desk: WebhookDesk) -> None:
    desk.subscribe("wave.planned")
    desk.subscribe("wave.planned")
    told(desk)
    desk.relay()
    groups = {message.group_id for queue in desk._queues() for message in queue._messages}
    assert groups == {"acme.1", "acme.2"}


def test_what_the_queue_refuses_is_reported_and_sent_again(
    desk: WebhookDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.subscribe("wave.planned")
    for number in range(1, 4):
        told(desk, id=number)
    send = Queue.send_many

    def refuse_second(queue: Queue, messages: Any) -> Any:
        send(queue, [message for message in messages if message is not messages[1]])
        return [messages[1]]

    batch = desk.stream()
    with monkeypatch.context() as patch:
        patch.setattr(Queue, "send_many", refuse_second)
        assert relay_batch(batch) == ["2"]
    assert [expiry is None for expiry in expiries(desk)] == [False, True, False]

    again = {"Records": batch["Records"][1:]}
    assert relay_batch(again) == []
    desk.flow()
    assert sorted(sent.event["data"]["id"] for sent in desk.sent) == [1, 2, 3]


def test_an_entry_that_cannot_be_read_does_not_stop_the_others(desk: WebhookDesk) -> None:
    desk.subscribe("wave.planned")
    told(desk)
    batch = stream_of([{"PK": {"S": "acme"}}, *desk.stack.events()])

    assert relay_batch(batch) == ["1"]
    assert len(desk.messages()) == 1


def test_changes_of_entries_are_no_events(desk: WebhookDesk) -> None:
    desk.subscribe("wave.planned")
    told(desk)
    batch = desk.stream()
    for name in ("MODIFY", "REMOVE"):
        batch["Records"][0]["eventName"] = name
        assert relay_batch(batch) == []
    assert desk.messages() == []


def test_an_entry_that_is_gone_does_not_come_back(desk: WebhookDesk) -> None:
    told(desk)
    batch = desk.stream()
    desk.stack.empty()
    assert relay_batch(batch) == []
    assert desk.stack.events() == []


def test_a_tenant_that_is_suspended_or_unknown_gets_nothing(desk: WebhookDesk) -> None:
    told(desk)
    batch = desk.stream()
    batch["Records"][0]["dynamodb"]["NewImage"]["PK"]["S"] = "nobody"
    assert relay_batch(batch) == []
    assert desk.messages() == []


def test_a_plan_that_has_just_got_webhooks_loses_no_event(desk: WebhookDesk) -> None:
    """The environment of relay and worker still knows the tenant as it was."""
    hook = desk.subscribe("wave.planned")
    provisioning.set_plan("acme", "essentials")
    directory.forget()
    told(desk, id=1)
    assert desk.relay() == []
    assert desk.messages() == []

    provisioning.set_plan("acme", "professional")
    told(desk, id=2)
    assert desk.relay() == []
    (message,) = desk.take()
    provisioning.set_plan("acme", "essentials")
    directory.forget()
    assert directory.tenant("acme") is not None
    provisioning.set_plan("acme", "professional")
    assert desk.work({**message, "slow": True}) == []

    assert [sent.event["data"]["id"] for sent in desk.sent] == [2]
    assert [row["status"] for row in desk.log(hook["id"])] == ["succeeded"]


@pytest.mark.parametrize("size", [17_000, 17_900, 18_500, 350_000])
def test_a_body_has_at_most_20_kb(desk: WebhookDesk, size: int) -> None:
    desk.subscribe("wave.planned")
    told(desk, attributes={"note": "é" * (size // 2)})
    desk.flow()

    (sent,) = desk.sent
    assert len(sent.body) <= 20_000
    fits = size < 18_000
    assert (sent.event["data"]["attributes"] is not None) == fits


def test_a_long_address_counts_too() -> None:
    (_, entry) = entry_of(
        {
            "PK": {"S": "acme"}, "SK": {"S": "evt_" + "0" * 32}, "type": {"S": "wave.planned"},
            "object": {"S": "wave"}, "id": {"N": "1"}, "version": {"N": "1"},
            "href": {"S": "/waves/1"}, "created_at": {"S": "2026-01-01T00:00:00.000Z"},
            "attributes": {"S": '{"note":"' + "x" * 17_900 + '"}'},
        }
    )  # fmt: skip
    assert isinstance(entry, StoredEvent)
    assert b'"attributes":null' in entry.body("https://api.example.com/" + "x" * 3_000)
    assert b'"attributes":{' in entry.body("https://api.example.com/api/v1")


def test_an_operator_relays_what_the_stream_gave_up(desk: WebhookDesk, stack: Stack) -> None:
    del stack
    deploy_stack()
    hook = desk.subscribe("wave.planned")
    told(desk, id=1)
    desk.stream()  # and it gives them up
    runner = CliRunner(mix_stderr=False)

    young = runner.invoke(main, ["--json", "events", "relay"])
    assert (young.exit_code, desk.messages()) == (0, [])
    done = runner.invoke(main, ["--json", "events", "relay", "acme", "--older-than", "0"])
    assert done.exit_code == 0, done.stderr
    assert '"relayed": 1' in done.stdout
    assert (
        '"relayed": 0'
        in runner.invoke(main, ["--json", "events", "relay", "acme", "--older-than", "0"]).stdout
    )

    desk.flow()
    assert [row["status"] for row in desk.log(hook["id"])] == ["succeeded"]


def test_a_version_of_a_resource_has_one_event(desk: WebhookDesk) -> None:
    facts: dict[str, Any] = {"object": "wave", "id": 1, "href": "/waves/1", "attributes": {}}

    def twice(tx: Transaction) -> None:
        raise_event(tx, Event(type="wave.planned", version=3, **facts))
        raise_event(tx, Event(type="wave.released", version=4, **facts))
        raise_event(tx, Event(type="wave.completed", version=4, **facts))

    with pytest.raises(AssertionError, match="version 4 of wave 1"):
        run_transaction(desk.stack.store(), twice)
    assert desk.stack.events() == []
