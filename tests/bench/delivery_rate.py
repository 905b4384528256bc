"""Deliveries per second: the webhook worker and an endpoint on this machine."""

import time

import pytest

from tests import faults
from tests.bench import cold_start
from tests.bench.report import Row, Table
from tests.stack import clear_caches_except_clients, deployed
from tests.webhook_scenario import WebhookScenario

EVENTS, QUICK_EVENTS = 300, 30
BATCH = 10
"""Messages of an invocation, as in `template.yaml`."""


def measure(quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Deliver events in batches, and measure the time of the worker."""
    events = QUICK_EVENTS if quick else EVENTS
    table = Table(
        "Deliveries per second",
        ["deliveries", "seconds", "per second", "CPU ms per delivery"],
        f"One worker, invoked with batches of {BATCH} messages, delivers to an endpoint on this"
        " machine over HTTP without TLS. Building, signing and sending of the request and moto in"
        " place of DynamoDB are included, the waiting for AWS is not. `WebhookConcurrency` workers"
        " run at once.",
    )
    with cold_start.endpoint() as address, pytest.MonkeyPatch.context() as patch:
        faults.install(patch)
        with deployed(patch) as stack:
            patch.setenv("WEBHOOK_LOCALHOST", "true")
            clear_caches_except_clients()
            webhooks = WebhookScenario(stack)
            webhooks.subscribe("product.created", url=address)
            webhooks.create_product(1_000_000)
            webhooks.run_until_idle()
            for number in range(events):
                webhooks.create_product(number)
            assert webhooks.run_relay() == []
            messages = webhooks.take_messages()
            assert len(messages) == events
            began, cpu = time.perf_counter(), time.process_time()
            for at in range(0, events, BATCH):
                assert webhooks.run_worker(*messages[at : at + BATCH]) == []
            seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
            assert not webhooks.take_messages()
    rate = f"{events / seconds:.0f}"
    cells = [f"{events}", f"{seconds:.2f}", rate, f"{1000 * cpu / events:.1f}"]
    table.rows.append(Row(cells))
    return [table]
