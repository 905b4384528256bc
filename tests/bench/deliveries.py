"""AWS calls per event, from the outbox to the endpoint."""

from tests import clock as clocks
from tests.bench.bench_stack import bench_stack
from tests.bench.report import Table
from tests.clock import Clock
from tests.dynamodb.request_cost import Reading, measured
from tests.webhook_scenario import WebhookScenario, open_webhook_scenario, respond_204, respond_500

EVENTS, SUBSCRIPTIONS = 100, 3


def measure() -> list[Table]:
    """Measure a relay batch, its deliveries, and a failed attempt."""
    table = Table(
        "Webhooks, from the outbox to the endpoint",
        {
            "step": "", "AWS calls": ".2f", "read units": ".2f", "write units": ".2f",
            "USD per million, DynamoDB": ".2f",
        },
        f"A batch of {EVENTS} events with {SUBSCRIPTIONS} subscriptions each. Tenant and secrets"
        " are cached. SQS calls are counted, but not priced. The health of the endpoint is written"
        " every ten seconds, which takes one unit more.",
    )  # fmt: skip

    def add(step: str, cost: Reading, share: int) -> None:
        units = cost.units
        each = [one / share for one in (cost.calls, units.reads, units.writes)]
        figures = {"read units": each[1], "write units": each[2]}
        table.add(step, *each, units.usd_per_million / share, figures=figures)

    with bench_stack() as bench, open_webhook_scenario(bench.stack, bench.patch) as webhooks:
        # The health of an endpoint is written every ten seconds, however fast the machine is.
        clock = Clock()
        clocks.install(bench.patch, clock)
        clock.freeze()
        _warm(webhooks)
        for number in range(EVENTS):
            webhooks.create_product(number)
        with measured(bench.aws_faults) as relay:
            assert webhooks.run_relay() == []
        add("relay, per event", relay, EVENTS)
        first, *others = webhooks.take_messages()
        assert len(others) == EVENTS * SUBSCRIPTIONS - 1
        with measured(bench.aws_faults) as accepted:
            for message in others:
                assert webhooks.run_worker(message) == []
        add("delivery, accepted", accepted, len(others))
        webhooks.endpoint = respond_500
        with measured(bench.aws_faults) as failed:
            assert webhooks.run_worker(first) == []
        add("attempt that fails", failed, 1)
    return [table]


def _warm(webhooks: WebhookScenario) -> None:
    """Fill the caches, and record the endpoints as fast."""
    webhooks.endpoint = respond_204
    for _ in range(SUBSCRIPTIONS):
        webhooks.subscribe("product.created")
    webhooks.create_product(1_000_000)
    webhooks.run_until_idle()
