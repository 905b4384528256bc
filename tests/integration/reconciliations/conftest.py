"""Reconciliations of a company whose feed of changes is complete."""

import pytest

from tests.clock import Clock
from tests.feed_scenario import FeedScenario
from tests.reconciliation_scenario import ReconciliationScenario
from tests.warehouse_scenario import WarehouseScenario
from tests.webhook_scenario import WebhookScenario


@pytest.fixture
def erp(webhooks: WebhookScenario, clock: Clock) -> ReconciliationScenario:
    """Acme with stock in two warehouses."""
    yard = WarehouseScenario.with_master_data(webhooks.erp, "YARD", "SHOP")
    yard.stock("BRICK", 10)
    yard.stock("CEMENT", 10, batch="L1")
    yard.stock("CEMENT", 5, batch="L2")
    feed = FeedScenario.started(webhooks)
    clock.advance(60)
    return ReconciliationScenario(feed, yard)
