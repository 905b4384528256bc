"""Exports of a company whose feed of changes is complete."""

import pytest

from shared.integration.exports import worker
from shared.kernel.db.sequences import allocate_ids
from tests.clock import Clock
from tests.export_scenario import ExportScenario
from tests.feed_scenario import FeedScenario
from tests.warehouse_scenario import WarehouseScenario
from tests.webhook_scenario import WebhookScenario


@pytest.fixture
def exports(webhooks: WebhookScenario, clock: Clock) -> ExportScenario:
    """Exports of acme, which has master data, stock, an order and a picking."""
    yard = WarehouseScenario.with_master_data(webhooks.erp, "YARD", "SHOP")
    for item_code in ("BRICK", "CEMENT"):
        more = {"batch": "L1"} if item_code == "CEMENT" else {}
        yard.stock(item_code, 10, **more)
    yard.picking(yard.order(("BRICK", 3)))
    allocate_ids(webhooks.stack.store(), "user", 7)  # the picker has an id without its sequence
    shop = {"name": "Shop", "scopes": ["stocks:read"]}
    assert webhooks.erp.post("/api-clients", shop).status == 201
    gone = webhooks.create_product(9)["id"]
    assert webhooks.erp.delete(f"/products/{gone}").status == 200
    feed = FeedScenario.started(webhooks)
    clock.advance(60)
    return ExportScenario(feed)


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read two places at once, and write files of two rows."""
    monkeypatch.setattr(worker, "_FIRST_PLACES", 2)
    monkeypatch.setattr(worker, "_PLACES", 2)
    monkeypatch.setattr(worker, "_MOST_ROWS", 2)
