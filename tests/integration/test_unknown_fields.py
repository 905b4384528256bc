"""Every write keeps the fields that only the next release knows, and nothing shows them.

Two releases serve one table during a gradual deployment and after a rollback. An import accepts
every item that a write leaves, with such fields.
"""

import json
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from operations.stored_collections import COLLECTIONS
from operations.verify import verify_tenant
from shared.kernel.db.collection import Collection
from shared.kernel.db.records import HEAD
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.fields import Stored
from shared.warehouse.stock.level_book import LevelBook
from shared.warehouse.stock.level_rules import LevelChange
from shared.warehouse.stock.models import LevelPlace
from tests.count_scenario import CountScenario
from tests.export_scenario import ExportScenario
from tests.feed_scenario import FeedScenario
from tests.gateway import Erp
from tests.integration.repeated_requests import ROUTES
from tests.integration.unknown_fields import (
    NAME,
    add_unknown_fields,
    lost_fields,
    models,
    refused_items,
    stored_items,
)
from tests.integration.verify.company import build_company
from tests.integration.write_routes import EXAMPLES, FOUND, MAP, resource_of
from tests.stack import Stack, event_attributes
from tests.webhook_scenario import WebhookScenario, respond_500


@pytest.mark.parametrize("route", ROUTES)
def test_write_keeps_unknown_fields_and_shows_none(erp: Erp, stack: Stack, route: str) -> None:
    method, _, path = route.partition(" ")
    example = EXAMPLES[route]
    values = example.prepared(erp)
    target, body, sender = (
        path.format(**values),
        example.filled(values),
        example.sender(erp, values),
    )
    events = len(stack.events())
    add_unknown_fields(stack)
    before = stored_items(stack)

    answer = sender.send(method, target, body, key="once")

    assert answer.status == example.status, answer.text
    assert lost_fields(before, stored_items(stack)) == []
    assert refused_items(stack) == []
    shown = [answer.text, erp.get(resource_of(target, answer)[0]).text]
    raised = [event for event in stack.events()[events:] if "type" in event]  # no redelivery
    shown += [json.dumps(event_attributes(event)) for event in raised]
    assert not [text for text in shown if NAME in text]


def test_every_collection_keeps_unknown_fields(
    erp: Erp, stack: Stack, webhooks: WebhookScenario
) -> None:
    """No model is left out, and an unknown field is no drift."""
    reached = set[type[Stored]]()
    undo = stack.take_snapshot()
    for prepare, write in (
        (partial(_build_company, erp, stack), partial(_adjust_batch, erp)),
        (partial(EXAMPLES["POST /imports/{id}/commit"].prepared, erp), None),
        (partial(_fail_delivery, webhooks), webhooks.run_until_idle),
        (partial(_export_products, webhooks), None),
    ):
        prepare()
        reached |= add_unknown_fields(stack)
        before = stored_items(stack)

        assert verify_tenant("acme", repair=True).listed == []
        if write:
            write()
        for collection in COLLECTIONS.values():
            _write_again(stack, collection)

        assert lost_fields(before, stored_items(stack)) == []
        assert refused_items(stack) == []
        undo()
    assert reached == models()


def _build_company(erp: Erp, stack: Stack) -> None:
    """Create a company with every kind of data, a map, an approved receipt and a lost serial.

    Goods are held and counted, a pick face is replenished, and a change of a level is prepared.
    """
    build_company(erp)
    erp.put("/warehouses/1/layout", MAP).ok(200)
    grant = EXAMPLES["POST /approvals/{id}/grant"]
    grant.sender(erp, {}).post("/approvals/1/grant", grant.body).ok(200)
    receipt = erp.get("/receipts").data[0]["id"]
    more = {"item_code": "BRICK", "qty": 7, "bin_code": "B-01"}
    erp.post(f"/receipts/{receipt}/lines", more).ok(200)
    goods = [{"item_code": "CEMENT", "qty": 1}]
    erp.post("/holds", {"warehouse_code": "YARD", "ttl_seconds": 9_000, "lines": goods}).ok(201)
    assert erp.post("/replenishments", {"warehouse_code": "YARD", "all": True}).ok(201)["created"]
    counts = CountScenario(stack)
    counts.count(counts.create(positions=["A-01"]).id, item_code="CEMENT", batch="L1", qty=1)
    lost = {"item_code": "DRILL", "warehouse": "YARD", "bin_code": "B-01", "serial": "S2"}
    erp.post("/stock-adjustments", {**lost, "decrease": 1, "reason": "Lost"}).ok(201)
    prepared = LevelChange(LevelPlace(1, 1, "BRICK", "YARD"), {"incoming": Decimal(1)})
    run_transaction(stack.store(), lambda tx: LevelBook(tx)._add_pending(tx, "name", [prepared]))


def _adjust_batch(erp: Erp) -> None:
    body = {**FOUND, "item_code": "CEMENT", "warehouse": "YARD", "bin_code": "A-01", "batch": "L1"}
    erp.post("/stock-adjustments", body).ok(201)


def _fail_delivery(webhooks: WebhookScenario) -> None:
    """Let the first attempt of a delivery fail; the next one waits."""
    webhooks.endpoint = respond_500
    webhooks.subscribe()
    webhooks.create_product()
    webhooks.run_relay()
    while not webhooks.requests:
        webhooks.run_worker(*webhooks.take_messages())


def _export_products(webhooks: WebhookScenario) -> None:
    """Export a product into a file."""
    webhooks.create_product()
    exports = ExportScenario(FeedScenario.started(webhooks))
    exports.start("product")
    exports.worker.drain_queue()
    assert exports.get().files


def _write_again(stack: Stack, collection: Collection[Any]) -> None:
    """Replace every entity of a collection by one with the same known fields."""
    store = stack.store()
    heads = [item for item in stack.items() if item["SK"]["S"] == HEAD and "data" in item]
    for head in heads:
        if head["PK"]["S"].partition("#")[0] == collection.kind:
            record = collection.get(store, int(head["id"]["N"]))
            run_transaction(store, partial(collection.replace, record=record, entity=record.entity))
