"""What an event costs on its way from the outbox to those who subscribed."""

import pytest

from tests.bench.meter import metered
from tests.bench.report import Row, Table, at_most
from tests.bench.request_cost import Reading
from tests.faults import AwsFaults, install
from tests.stack import deployed
from tests.webhook_desk import WebhookDesk, accept, fail, open_desk

EVENTS, QUICK_EVENTS = 100, 20
SUBSCRIPTIONS = 3
RELAY_CALLS, RELAY_WRITES = 1.5, 1.0
DELIVERY_CALLS, DELIVERY_WRITES, RETRY_WRITES = 4, 2.0, 3.0


def measure(quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Relay a batch of events, deliver them, and have one fail."""
    events = QUICK_EVENTS if quick else EVENTS
    table = Table(
        "Webhooks, from the outbox to the endpoint",
        ["step", "AWS calls", "read units", "write units", "USD per million, DynamoDB"],
        f"A batch of {events} events for {SUBSCRIPTIONS} subscriptions each, of a tenant that the"
        " environment knows. Calls of queues are counted, not priced.",
    )
    with pytest.MonkeyPatch.context() as patch:
        aws_faults = install(patch)
        with deployed(patch) as stack, open_desk(stack, patch) as desk:
            _warm(desk)
            for number in range(events):
                desk.happen(number)
            reading = Reading()
            with aws_faults.recorded() as seen, metered(aws_faults) as units:
                assert desk.relay() == []
            reading.add(seen, units)
            table.rows.append(_row("relay, per event", reading, events, RELAY_CALLS, RELAY_WRITES))
            messages = desk.take()
            assert len(messages) == events * SUBSCRIPTIONS
            delivered = _worked(desk, aws_faults, messages[1:])
            share = len(messages) - 1
            row = _row("delivery, accepted", delivered, share, DELIVERY_CALLS, DELIVERY_WRITES)
            table.rows.append(row)
            desk.endpoint = fail
            failed = _worked(desk, aws_faults, messages[:1])
            row = _row("attempt that fails", failed, 1, DELIVERY_CALLS + 1, RETRY_WRITES)
            table.rows.append(row)
    return [table]


def _warm(desk: WebhookDesk) -> None:
    """Let the environment know tenant, secrets and endpoints."""
    desk.endpoint = accept
    for _ in range(SUBSCRIPTIONS):
        desk.subscribe("product.created")
    desk.happen(1_000_000)
    desk.flow()


def _worked(desk: WebhookDesk, aws_faults: AwsFaults, messages: list[dict[str, object]]) -> Reading:
    reading = Reading()
    with aws_faults.recorded() as seen, metered(aws_faults) as units:
        for message in messages:
            assert desk.work(message) == []
    reading.add(seen, units)
    return reading


def _row(name: str, reading: Reading, share: int, calls: float, writes: float) -> Row:
    few, holds = at_most(reading.calls / share, calls, "{:.3g}")
    cheap, frugal = at_most(reading.units.writes / share, writes, "{:.3g}")
    cells = [
        name,
        f"{reading.calls / share:.2f}",
        f"{reading.units.reads / share:.2f}",
        f"{reading.units.writes / share:.2f}",
        f"{reading.units.usd_per_million / share:.2f}",
    ]
    return Row(cells, f"calls {few}, write units {cheap}", holds and frugal)
