"""An example of every write route with its effects.

A new write route needs an entry here. `test_crashes.py` then tests it with killed processes, lost
responses and throttling.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from tests.gateway import Erp, Response
from tests.integration.route_example import Example, Values, creation, deletion, prepared_once, step
from tests.integration.write_imports import import_examples
from tests.integration.write_packing import packing_examples
from tests.integration.write_returns import return_examples
from tests.integration.write_settings import settings_examples
from tests.integration.write_transfers import transfer_examples
from tests.integration.write_users import user_examples
from tests.integration.write_waves import wave_examples
from tests.integration.write_webhooks import webhook_examples
from tests.people import add_user


def resource_of(path: str, answer: Response) -> tuple[str, Mapping[str, Any]]:
    """Return the path of the resource in a response, and the resource.

    Of several resources, it is the last one. A resource without an id has the request path.
    """
    shown = answer.data[-1] if isinstance(answer.data, list) else answer.data
    if "id" not in shown:
        return path, shown
    # Upload forms, signing secrets and passwords are returned only once, and the subscriptions of a
    # user only when the user's access ends.
    once = {"upload", "secret", "password", "client_secret", "webhooks"}
    shown = {name: value for name, value in shown.items() if name not in once}
    location = urlsplit(answer.headers.get("Location", "")).path.partition("/v1")[2]
    named = location.endswith(f"/{shown['id']}")
    return location if named else f"/{path.split('/')[1]}/{shown['id']}", shown


BOLT = {"item_code": "BOLT-M8", "name": "Bolt M8", "barcode": "4006381333931"}
PACKAGING = {
    "weight_kg": 0.012,
    "length_mm": 60,
    "width_mm": 13,
    "height_mm": 13,
    "gtins": [{"gtin": "4006381333931"}, {"gtin": "14006381333938", "unit": "BOX"}],
    "units": [{"unit": "BOX", "qty": 200}],
}
NORTH = {"whs_code": "NORTH", "name": "North hall"}
POSITION = {"whs_code": "NORTH", "bin_code": "A-01-1", "type": "storage"}
BUILDER = {"name": "Brindley Electrical", "document_type": "V", "document_id": 999_000_100}
CABLE_WORKS = {"name": "Midland Cable Works", "email": "sales@midlandcable.example"}
PURCHASE = {
    "external_ref": "PO-4711",
    "type": "purchase_order",
    "doc_date": "2026-03-01",
    "partner_code": "P-100",
    "warehouse_code": "NORTH",
    "lines": [
        {"item_code": "BOLT-M8", "qty": 250, "destination_bin": "A-01-1"},
        {"item_code": "BOLT-M8", "qty": 0.5},
    ],
}
SALE = {
    "external_ref": "SO-9",
    "type": "Orden de venta",
    "doc_date": "01/03/2026",
    "partner_code": "C-7",
    "warehouse_code": "NORTH",
    "priority": "Alta",
    "lines": [{"item_code": "BOLT-M8", "qty": 12}],
}
MOVE = {
    "from_warehouse": "NORTH",
    "to_warehouse": "SOUTH",
    "external_ref": "MOVE-1",
    "due_at": "2026-03-02T08:00:00+01:00",
    "release": True,
    "picker_id": 7,
    "lines": [{"item_code": "BOLT-M8", "qty": 40}, {"item_code": "BOLT-M8", "qty": 2.5}],
}
MAP = {
    "width_m": 40,
    "depth_m": 25.5,
    "depot": {"x": 1, "y": 0.5},
    "zones": [{"code": "S", "polygon": [[0, 0], [40, 0], [40, 20], [0, 20]], "color": "#2f855a"}],
    "aisles": [{"number": "A", "x1": 5, "y1": 10, "x2": 35, "y2": 10, "zone": "S"}],
    "bays": [
        {
            "side": "left",
            "number": 1,
            "x": 5,
            "y": 11.5,
            "w": 2.7,
            "d": 1.1,
            "aisle": "A",
            "levels": [{"level_no": 1, "z_from_m": 0, "height_m": 1.8, "golden": True}],
        }
    ],
    "points": [{"code": "D1", "kind": "dock", "x": 0, "y": 12.5}],
}


FOUND = {
    "item_code": "BOLT-M8",
    "warehouse": "NORTH",
    "bin_code": "A-01-1",
    "increase": 40,
    "reason": "Found at the yearly count",
}
HOLD = {
    "warehouse_code": "NORTH",
    "external_ref": "CART-1",
    "ttl_seconds": 9_000,
    "lines": [{"item_code": "BOLT-M8", "qty": 12}],
}
RECONCILIATION = {"warehouse_code": "NORTH", "lines": [{"item_code": "BOLT-M8", "qty": 12}]}
COUNT = {"warehouse_code": "NORTH", "positions": ["A-01-1"], "comments": "Yearly"}
COUNTED = {"bin_code": "A-01-1", "item_code": "BOLT-M8", "qty": 38}
ARRIVAL = {"item_code": "BOLT-M8", "qty": 40, "bin_code": "A-01-1"}
PICK = {"item_code": "BOLT-M8", "qty": 5, "bin_code": "A-01-1"}
PICK_FACE = {
    "item_code": "BOLT-M8",
    "warehouse_code": "NORTH",
    "bin_code": "A-01-1",
    "minimum": 40,
    "maximum": 400,
}
SHORT = {"shortage_reason": "could_not_locate"}


_product = creation("/products", BOLT)
_category = creation("/product-categories", {"name": "Fasteners"})
_warehouse = creation("/warehouses", NORTH)
_position = creation("/warehouse-positions", POSITION, after=_warehouse)
_client = creation("/clients", BUILDER)
_provider = creation("/providers", CABLE_WORKS)


@prepared_once
def _emptied(erp: Erp) -> Values:
    """Create a product and a position that had stock and have none left."""
    _product(erp)
    _position(erp)
    assert erp.post("/stock-adjustments", FOUND).status == 201
    body = {**FOUND, "increase": None, "decrease": FOUND["increase"]}
    assert erp.post("/stock-adjustments", body).status == 201
    return {"id": 1}


def _emptied_warehouse(erp: Erp) -> Values:
    values = _emptied(erp)
    assert erp.delete("/warehouse-positions/1").status == 200
    return values


@prepared_once
def _master_data(erp: Erp) -> Values:
    """Create everything that a document refers to, and the picker."""
    add_user()
    _product(erp)
    return _position(erp)


_found = prepared_once(step("/stock-adjustments", FOUND, after=_master_data, status=201))
_hold = prepared_once(creation("/holds", HOLD, after=_found))
_count = prepared_once(creation("/counts", COUNT, after=_found))
_counted = prepared_once(step("/counts/{id}/lines", COUNTED, after=_count))
_count_finished = prepared_once(step("/counts/{id}/finish", after=_counted))
_pick_face = creation("/pick-faces", PICK_FACE, after=_master_data)
_reserve = creation("/warehouse-positions", {**POSITION, "bin_code": "F-01"}, after=_found)
_low = prepared_once(creation("/pick-faces", {**PICK_FACE, "bin_code": "F-01"}, after=_reserve))
"""A pick face without stock."""
_two_warehouses = prepared_once(
    creation("/warehouses", {"whs_code": "SOUTH", "name": "South"}, after=_master_data)
)
_purchase = prepared_once(
    creation("/entry-documents", PURCHASE, after=_master_data, key="purchase")
)
_receipt = creation("/receipts", {"document_id": 1}, after=_purchase)
_receiving = prepared_once(step("/receipts/{id}/start", after=_receipt))
_received = prepared_once(step("/receipts/{id}/lines", ARRIVAL, after=_receiving))
_receipt_ended = step("/receipts/{id}/finalize", after=_received)
_second_line = step("/receipts/{id}/lines", {**ARRIVAL, "qty": 0.5}, after=_received)
_long_receipt_ended = step("/receipts/{id}/finalize", after=_second_line)
"""It is reverted in two steps with the limits of `test_crashes.py`."""


def _approval(erp: Erp) -> Values:
    number = _receiving(erp)["id"]
    answer = erp.post(f"/receipts/{number}/lines", {**ARRIVAL, "qty": 1_000})
    assert answer.code == "approval_required", answer.text
    return {"id": answer.json()["error"]["approval_id"]}


_sale = prepared_once(creation("/exit-documents", SALE, after=_master_data, key="sale"))
_sale_with_stock = prepared_once(
    step("/stock-adjustments", {**FOUND, "increase": 100}, after=_sale, status=201)
)
_picking = prepared_once(creation("/pickings", {"document_id": 1}, after=_sale_with_stock))
_unallocated = creation("/pickings", {"document_id": 1, "allocate": False}, after=_sale_with_stock)
_started = prepared_once(step("/pickings/{id}/start", after=_picking))
_partly_picked = prepared_once(step("/pickings/{id}/picks", PICK, after=_started))
_finalized = prepared_once(step("/pickings/{id}/finalize", SHORT, after=_partly_picked))


_RENAMED = Example(
    200,
    body={"item_code": "BOLT-M8-ZN", "name": "Bolt M8 zinc-plated"},
    prepare=_emptied,
    events=["product.updated"],
)
_RENAMED_CATEGORY = Example(200, body={"name": "Bolts and nuts"}, prepare=_category)
_RENAMED_WAREHOUSE = Example(
    200, body={"whs_code": "N1", "name": "Hall N1"}, prepare=_emptied_warehouse
)
_BLOCKED_POSITION = Example(200, body={"bin_code": "A-01-2", "is_blocked": True}, prepare=_emptied)
_RENUMBERED_CLIENT = Example(200, body={"document_id": 7, "phone": "555-0111"}, prepare=_client)
_DECISION = Example(
    200,
    body={"comment": "Goes to the next truck"},
    prepare=_approval,
    grows={"audit": 1},
    permissions="approvals.grant",
)
_RENAMED_PROVIDER = Example(200, body={"name": "Midland Cable"}, prepare=_provider)


def _new_document(body: Mapping[str, object], kind: str) -> Example:
    """Return the example that creates a document of a product without levels."""
    return Example(
        201,
        body=body,
        prepare=_master_data,
        grows={kind: 1, "level": 1, "level_total": 1},
        events=["stock.updated"],
    )


EXAMPLES: Mapping[str, Example] = {
    "POST /products": Example(201, body=BOLT, grows={"product": 1}, events=["product.created"]),
    "PUT /products/{id}": _RENAMED,
    "PATCH /products/{id}": _RENAMED,
    "DELETE /products/{id}": deletion(_product, "product"),
    "PUT /products/{id}/packaging": Example(
        200, body=PACKAGING, prepare=_product, events=["product.updated"]
    ),
    "POST /product-categories": Example(201, body={"name": "Fasteners"}, grows={"category": 1}),
    "PUT /product-categories/{id}": _RENAMED_CATEGORY,
    "PATCH /product-categories/{id}": _RENAMED_CATEGORY,
    "DELETE /product-categories/{id}": deletion(_category, "category"),
    "POST /warehouses": Example(201, body=NORTH, grows={"warehouse": 1}),
    "PUT /warehouses/{id}": _RENAMED_WAREHOUSE,
    "PATCH /warehouses/{id}": _RENAMED_WAREHOUSE,
    "DELETE /warehouses/{id}": deletion(_warehouse, "warehouse"),
    "PUT /warehouses/{id}/layout": Example(
        200, body=MAP, prepare=_warehouse, grows={"layout": 1}, events=["layout.published"]
    ),
    "POST /warehouse-positions": Example(
        201, body=POSITION, prepare=_warehouse, grows={"position": 1}
    ),
    "POST /warehouse-positions/bulk": Example(
        201,
        body={
            "whs_code": "NORTH",
            "naming_mask": "{aisle}-{slot}",
            "aisles": ["B"],
            "slots": {"from": 1, "to": 3},
        },
        prepare=_warehouse,
        grows={"position": 3},
    ),
    "PUT /warehouse-positions/{id}": _BLOCKED_POSITION,
    "PATCH /warehouse-positions/{id}": _BLOCKED_POSITION,
    "DELETE /warehouse-positions/{id}": deletion(_position, "position"),
    "POST /pick-faces": Example(201, body=PICK_FACE, prepare=_master_data, grows={"pick_face": 1}),
    "DELETE /pick-faces/{id}": deletion(_pick_face, "pick_face"),
    "POST /clients": Example(201, body=BUILDER, grows={"client": 1}),
    "PUT /clients/{id}": _RENUMBERED_CLIENT,
    "PATCH /clients/{id}": _RENUMBERED_CLIENT,
    "DELETE /clients/{id}": deletion(_client, "client"),
    "POST /providers": Example(201, body=CABLE_WORKS, grows={"provider": 1}),
    "PUT /providers/{id}": _RENAMED_PROVIDER,
    "PATCH /providers/{id}": _RENAMED_PROVIDER,
    "DELETE /providers/{id}": deletion(_provider, "provider"),
    "POST /entry-documents": _new_document(PURCHASE, "entry"),
    "PATCH /entry-documents/{id}": Example(
        200,
        body={"lines": [{"line_num": 1, "qty": 0}, {"item_code": "BOLT-M8", "qty": 3}]},
        prepare=_purchase,
        events=["stock.updated"],
    ),
    "POST /entry-documents/{id}/close": Example(200, prepare=_purchase, events=["stock.updated"]),
    "POST /receipts": Example(
        201,
        body={"document_id": 1},
        prepare=_purchase,
        grows={"receipt": 1},
        events=["receipt.created"],
    ),
    "POST /receipts/{id}/start": Example(200, prepare=_receipt),
    "POST /receipts/{id}/lines": Example(
        200,
        body={"lines": [{**ARRIVAL, "qty": 5}, {**ARRIVAL, "qty": 2}, {**ARRIVAL, "qty": 1}]},
        prepare=_receiving,
        grows={"stock": 1, "movement": 3},
        events=["stock.updated"] * 3,
    ),
    "POST /receipts/{id}/lines/undo": Example(
        200,
        body={**ARRIVAL, "qty": 15},
        prepare=_received,
        grows={"movement": 1},
        events=["stock.updated"],
    ),
    "POST /receipts/{id}/finalize": Example(200, prepare=_received, events=["receipt.completed"]),
    "POST /receipts/{id}/synchronize": Example(200, prepare=_receipt_ended),
    "POST /receipts/{id}/cancel": Example(
        200, prepare=_received, grows={"movement": 1}, events=["stock.updated"]
    ),
    "POST /receipts/{id}/revert": Example(
        200, prepare=_long_receipt_ended, grows={"movement": 2}, events=["stock.updated"]
    ),
    "POST /approvals/{id}/grant": _DECISION,
    "POST /approvals/{id}/deny": _DECISION,
    "POST /holds": Example(
        201, body=HOLD, prepare=_found, grows={"hold": 1}, events=["stock.updated"]
    ),
    "POST /holds/{id}/extend": Example(
        200, body={"ttl_seconds": 900}, prepare=_hold, events=["stock.updated"]
    ),
    "POST /holds/{id}/release": Example(200, prepare=_hold, events=["stock.updated"]),
    "POST /replenishments": Example(
        201,
        body={"warehouse_code": "NORTH", "all": True},
        prepare=_low,
        grows={"transfer": 1},
        events=["transfer.created"],
        status_afterwards=422,  # it needs the parameter warehouse
    ),
    "POST /counts": Example(
        201, body=COUNT, prepare=_found, grows={"stock_count": 1, "count_line": 1}
    ),
    "POST /counts/{id}/lines": Example(200, body=COUNTED, prepare=_count, status_afterwards=405),
    "POST /counts/{id}/finish": Example(200, prepare=_counted),
    "POST /counts/{id}/recount": Example(200, body={"lines": [1]}, prepare=_count_finished),
    "POST /counts/{id}/post": Example(
        200,
        prepare=_count_finished,
        grows={"movement": 1, "audit": 1},
        events=["stock.updated"],
    ),
    "POST /counts/{id}/cancel": Example(200, prepare=_counted),
    "POST /exit-documents": _new_document(SALE, "exit"),
    "PATCH /exit-documents/{id}": Example(
        # The priority of the picking changes, too.
        200,
        body={"priority": "Baja", "comments": "Later"},
        prepare=_picking,
    ),
    "POST /exit-documents/{id}/close": Example(200, prepare=_sale, events=["stock.updated"]),
    **transfer_examples(_two_warehouses, MOVE),
    "POST /reconciliations": Example(201, body=RECONCILIATION, prepare=_master_data),
    "POST /stock-adjustments": Example(
        201,
        body={
            "lines": [
                {**FOUND, "reason": None, "expected_qty": 0},
                {**FOUND, "inventory_status": "damaged", "increase": 2},
                {**FOUND, "inventory_status": "blocked", "increase": None, "counted_qty": 1},
            ],
            "reason": "Yearly count",
        },
        prepare=_master_data,
        grows={"stock": 3, "level": 1, "level_total": 1, "movement": 3, "audit": 3},
        events=["stock.updated"] * 3,
        status_afterwards=405,
    ),
    "POST /pickings": Example(
        201,
        body={"document_id": 1},
        prepare=_sale_with_stock,
        grows={"picking": 1},
        events=["picking.created", "stock.updated"],
    ),
    "POST /pickings/{id}/start": Example(200, prepare=_picking),
    "POST /pickings/{id}/allocate": Example(200, prepare=_unallocated, events=["stock.updated"]),
    "POST /pickings/{id}/picks": Example(
        200,
        body={"lines": [PICK, {**PICK, "qty": 1}, {**PICK, "qty": 2}]},
        prepare=_started,
        grows={"stock": 1, "movement": 3},
    ),
    "POST /pickings/{id}/picks/undo": Example(
        200, body={**PICK, "qty": 2}, prepare=_partly_picked, grows={"movement": 1}
    ),
    "POST /pickings/{id}/finalize": Example(
        200, body=SHORT, prepare=_partly_picked, events=["picking.completed", "stock.updated"]
    ),
    "POST /pickings/{id}/cancel": Example(
        # The allocation is released in one step, and the pick is undone in another.
        200,
        prepare=_partly_picked,
        grows={"movement": 1},
        events=["stock.updated"],
    ),
    "POST /pickings/{id}/revert": Example(
        200, prepare=_finalized, grows={"movement": 1}, events=["stock.updated"]
    ),
    "POST /pickings/{id}/synchronize": Example(200, prepare=_finalized),
    **packing_examples(_finalized),
    **return_examples(_finalized),
    **wave_examples(_sale_with_stock),
    **import_examples(),
    **webhook_examples(),
    **settings_examples(),
    **user_examples(),
}
"""`METHOD /path` → its example."""
