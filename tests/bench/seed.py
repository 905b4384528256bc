"""The data of the benchmarks, created through the API."""

from collections.abc import Callable, Container, Mapping
from typing import Any

from shared.kernel.db.outbox_item import VersionChange
from shared.kernel.db.store import Store
from tests.dns import HOOKS
from tests.feed_scenario import append_transactions
from tests.gateway import Erp
from tests.integration.entity_factories import PLANTED
from tests.integration.write_routes import MAP
from tests.stack import Stack

LINES = 10
BINS = 3
PAGE = 25
"""Rows of a page."""
SUBSCRIPTIONS = 20
"""Maximum number of subscriptions of a tenant."""


def fill(erp: Erp) -> None:
    """Create a warehouse with layout and positions, and products, documents and a subscription."""
    _created(erp, "/warehouses", {"whs_code": "W1", "name": "Central"})
    assert erp.put("/warehouses/1/layout", MAP).status == 200
    for number in range(1, BINS + 1):
        _created(erp, "/warehouse-positions", {"whs_code": "W1", "bin_code": f"A-{number:02d}"})
    for number in range(1, LINES + 1):
        _created(erp, "/products", product(number))
    _created(erp, "/product-categories", {"name": "Fasteners"})
    _created(erp, "/entry-documents", entry("PO-1"), key="seed-entry")
    _created(erp, "/exit-documents", exit_("SO-1"), key="seed-exit")
    _created(erp, "/webhooks", hook(1))


def fill_feed(store: Store) -> None:
    """Append 500 transactions with three changes each to the feed."""
    objects = ("stock", "stock_level", "stock_movement")
    append_transactions(
        store,
        (
            [VersionChange(noun, number, number, number + 1) for noun in objects]
            for number in range(1, 501)
        ),
    )


def hook(number: int) -> dict[str, Any]:
    events = ["product.created", "picking.completed", "shipment.dispatched", "stock.updated"]
    return {"url": f"https://{HOOKS}/stowage/{number}", "events": events}


def product(number: int) -> dict[str, Any]:
    return {
        "item_code": f"ITEM-{number:04d}",
        "name": f"Hexagon bolt M{number}",
        "barcode": f"4006381{number:06d}",
        "type": "fastener",
        "sales_unit": "piece",
    }


def entry(reference: str) -> dict[str, Any]:
    return {
        "external_ref": reference,
        "type": "purchase_order",
        "doc_date": "2026-03-01",
        "due_date": "2026-03-15",
        "partner_code": "P-100",
        "partner_name": "Ferretería Central S.A.",
        "warehouse_code": "W1",
        "comments": "Ring the bell at gate 4.",
        "lines": [
            {
                "item_code": f"ITEM-{number:04d}",
                "qty": number * 2.5,
                "destination_bin": f"A-{number % BINS + 1:02d}",
            }
            for number in range(1, LINES + 1)
        ],
    }


def exit_(reference: str) -> dict[str, Any]:
    return {
        "external_ref": reference,
        "type": "sale_order",
        "doc_date": "2026-03-01",
        "partner_code": "C-200",
        "partner_name": "Talleres Norte",
        "warehouse_code": "W1",
        "priority": "high",
        "lines": [
            {"item_code": f"ITEM-{number:04d}", "qty": number} for number in range(1, LINES + 1)
        ],
    }


def transfer_order(reference: str) -> dict[str, Any]:
    """Return the body of a transfer order of ten lines to the first warehouse of `fill_pages`."""
    return {
        "from_warehouse": "W1",
        "to_warehouse": "X0",
        "external_ref": reference,
        "lines": [
            {"item_code": f"ITEM-{number:04d}", "qty": number} for number in range(1, LINES + 1)
        ],
    }


def quantities() -> list[dict[str, Any]]:
    """Return the lines of a reconciliation of the products and warehouses of `fill_pages`."""
    return [
        {"item_code": f"ITEM-{number:04d}", "warehouse_code": f"X{warehouse}", "qty": 1}
        for number in range(1, LINES + PAGE + 2)
        for warehouse in range(PAGE + 1)
    ]


def _created(erp: Erp, path: str, body: dict[str, Any], key: str | None = None) -> None:
    answer = erp.post(path, body, key=key)
    assert answer.status == 201, answer.text


_ROW_BODIES: Mapping[str, Callable[[int], dict[str, Any]]] = {
    "/products": lambda number: product(LINES + 1 + number),
    "/product-categories": lambda number: {"name": f"Category {number}"},
    "/clients": lambda number: {"name": f"Client {number}", "document_id": 1000 + number},
    "/providers": lambda number: {"name": f"Provider {number}"},
    "/warehouses": lambda number: {"whs_code": f"X{number}", "name": f"Hall {number}"},
    "/entry-documents": lambda number: entry(f"PO-P{number}"),
    "/exit-documents": lambda number: exit_(f"SO-P{number}"),
    "/transfer-orders": lambda number: transfer_order(f"TO-P{number}"),
    "/pick-faces": lambda number: {
        "item_code": f"ITEM-{number + 1:04d}",
        "warehouse_code": "W1",
        "bin_code": "A-01",
    },
    "/api-clients": lambda number: {"name": f"Shop {number}", "scopes": ["stocks:read"]},
    "/users": lambda number: {"username": f"user-{number}", "name": f"User {number}"},
    "/roles": lambda number: {"name": f"Role {number}", "permissions": []},
}
"""Path of a list → body of one more row."""


def fill_pages(stack: Stack, paths: Container[str]) -> None:
    """Add rows until every list of `paths` exceeds one page or has its maximum length."""
    erp, store = stack.erp(), stack.store()
    for path, body in _ROW_BODIES.items():
        if path in paths:
            for number in range(PAGE + 1):
                _created(erp, path, body(number), key=f"seed-{path}-{number}")
    if "/imports" in paths:
        _fill_imports(erp)
    if "/webhooks" in paths:
        _fill_webhooks(erp)
    for path, create_row in PLANTED.items():
        if path in paths:
            for _ in range(PAGE + 1):
                create_row(store)
    _created(erp, "/reconciliations", {"lines": quantities()[:1]})
    bins = {"from": 1, "to": PAGE}
    mask = {"whs_code": "W1", "naming_mask": "{aisle}-{slot}", "aisles": ["Z"], "slots": bins}
    _created(erp, "/warehouse-positions/bulk", mask)


def _fill_imports(erp: Erp) -> None:
    flawed = ("catalog.csv", b"item_code,name\nBOLT-X,\nBOLT-Y,Hexagon bolt\n")
    assert erp.upload("/imports", {"kind": "products"}, flawed).status == 202
    for number in range(PAGE + 1):
        announced = {"kind": "products", "filename": f"catalog-{number}.csv"}
        _created(erp, "/imports/uploads", announced)


def _fill_webhooks(erp: Erp) -> None:
    """Add subscriptions, and deliveries of the first one."""
    for number in range(2, SUBSCRIPTIONS + 1):
        _created(erp, "/webhooks", hook(number))
    for _ in range(PAGE + 1):
        assert erp.post("/webhooks/1/test").status == 202
