"""Benchmark of the AWS calls per event, from the outbox to the endpoint."""

import pytest

from tests.bench.report import Row, Table
from tests.dynamodb.meter import metered
from tests.dynamodb.request_cost import Reading
from tests.faults import AwsFaults, install
from tests.stack import deployed
from tests.webhook_scenario import WebhookScenario, open_webhook_scenario, respond_204, respond_500

EVENTS, QUICK_EVENTS = 100, 20
SUBSCRIPTIONS = 3


def measure(quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Measure a relay batch, its deliveries, and a failed attempt."""
    events = QUICK_EVENTS if quick else EVENTS
    table = Table(
        "Webhooks, from the outbox to the endpoint",
        ["step", "AWS calls", "read units", "write units", "USD per million, DynamoDB"],
        f"A batch of {events} events with {SUBSCRIPTIONS} subscriptions each. Tenant and secrets"
        " are cached. SQS calls are counted, but not priced.",
    )
    with pytest.MonkeyPatch.context() as patch:
        aws_faults = install(patch)
        with deployed(patch) as stack, open_webhook_scenario(stack, patch) as webhooks:
            _warm(webhooks)
            for number in range(events):
                webhooks.create_product(number)
            reading = Reading()
            with aws_faults.recorded() as seen, metered(aws_faults) as units:
                assert webhooks.run_relay() == []
            reading.add(seen, units)
            table.rows.append(_row("relay, per event", reading, events))
            messages = webhooks.take_messages()
            assert len(messages) == events * SUBSCRIPTIONS
            delivered = _run_worker(webhooks, aws_faults, messages[1:])
            share = len(messages) - 1
            table.rows.append(_row("delivery, accepted", delivered, share))
            webhooks.endpoint = respond_500
            failed = _run_worker(webhooks, aws_faults, messages[:1])
            table.rows.append(_row("attempt that fails", failed, 1))
    return [table]


def compared(_quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Measure as many events as without --quick, since the size of a batch is part of the cost."""
    return measure(quick=False)


def _warm(webhooks: WebhookScenario) -> None:
    """Fill the caches, and record the endpoints as fast."""
    webhooks.endpoint = respond_204
    for _ in range(SUBSCRIPTIONS):
        webhooks.subscribe("product.created")
    webhooks.create_product(1_000_000)
    webhooks.run_until_idle()


def _run_worker(
    webhooks: WebhookScenario, aws_faults: AwsFaults, messages: list[dict[str, object]]
) -> Reading:
    reading = Reading()
    with aws_faults.recorded() as seen, metered(aws_faults) as units:
        for message in messages:
            assert webhooks.run_worker(message) == []
    reading.add(seen, units)
    return reading


def _row(name: str, reading: Reading, share: int) -> Row:
    cells = [
        name,
        f"{reading.calls / share:.2f}",
        f"{reading.units.reads / share:.2f}",
        f"{reading.units.writes / share:.2f}",
        f"{reading.units.usd_per_million / share:.2f}",
    ]
    # Rounded: on a slow machine, a few deliveries of many see a cache of seconds expire.
    figures = {
        "read units": round(reading.units.reads / share, 2),
        "write units": round(reading.units.writes / share, 2),
    }
    return Row(cells, figures)
