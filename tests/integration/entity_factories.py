"""Creates one entity of each collection, by a route or directly in the table.

A list whose rows no route creates needs an entry in `ENTITY_FACTORIES`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from shared.identity.audit import service as audit
from shared.integration.exports.repository import EXPORTS
from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import PAIR_DIGITS, pair_id
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.fields import Stored
from shared.warehouse.approvals.repository import APPROVALS
from shared.warehouse.counts.repository import COUNTS
from shared.warehouse.holds.repository import HOLDS
from shared.warehouse.packing.repository import PACKING_ORDERS, UNITS
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.receiving.repository import RECEIPTS
from shared.warehouse.returns.repository import RETURNS
from shared.warehouse.rfid.repository import VALIDATIONS
from shared.warehouse.stock.repository import LEVELS, MOVEMENTS, STOCK
from shared.warehouse.transfers.repository import TRANSFERS
from shared.warehouse.waves.repository import WAVES
from tests.gateway import Erp
from tests.integration.write_routes import EXAMPLES

type EntityFactory = Callable[..., int]
"""`(store, **changes)` → id: writes one entity, with the fields in `changes` replaced."""

ORDER = {
    "id": 12,
    "type": "purchase_order",
    "doc_num": "EN-12",
    "card_code": "P-100",
    "external_ref": "PO-4711",
}
SALE = {
    "id": 3,
    "type": "sale_order",
    "doc_num": "EX-3",
    "card_code": "C-7",
    "external_ref": "SO-9",
}
RECEIPT: Mapping[str, Any] = {
    "uuid": "0b9d5c52-7d1e-4a7b-9b0f-6a4a5f3f0c11",
    "status": "pending",
    "document": ORDER,
    "whs_code": "CEN",
    "announced": False,
    "lines": [{"product_id": 1, "item_code": "BOLT-M8", "qty": 250}],
}
PICKING: Mapping[str, Any] = {
    "uuid": "5c1f9d0e-3c5b-4f0a-8f43-0f6f2d1b7a90",
    "status": "pending",
    "documents": [SALE],
    "whs_code": "CEN",
    "warehouse_id": 1,
    "lines": [
        {
            "document_id": 3,
            "document_line": 1,
            "product_id": 1,
            "item_code": "BOLT-M8",
            "qty": 12,
            "picked_qty": 0,
            "status": "open",
        }
    ],
}
TRANSFER: Mapping[str, Any] = {
    "status": "pending",
    "from_whs_code": "CEN",
    "to_whs_code": "DUB",
    "lines": [{"product_id": 1, "item_code": "BOLT-M8", "qty": 40}],
}
WAVE: Mapping[str, Any] = {
    "warehouse_code": "CEN",
    "strategy": "batch",
    "status": "draft",
    "picking_ids": [9],
}
APPROVAL: Mapping[str, Any] = {
    "stage": "pending",
    "code": "over_receipt",
    "message": "280 of BOLT-M8 would be received, 250 ordered",
    "resource": {"object": "receipt", "id": 1},
    "method": "POST",
    "path": "/receipts/1/lines",
    "body_json": '{"item_code":"BOLT-M8","qty":280}',
    "digest": "0" * 64,
    "requested_by": {"user_id": None, "client_id": "erp"},
    "expires_at": "2099-01-01T00:00:00.000Z",
}
COUNT: Mapping[str, Any] = {
    "status": "open",
    "warehouse_id": 1,
    "whs_code": "CEN",
    "blind": True,
}
EXPORT: Mapping[str, Any] = {
    "status": "pending",
    "objects": ["product"],
    "format": "jsonl",
    "language": "en",
    "position": 7,
    "epoch": 1,
    "last_ids": {"product": 3},
    "author": {
        "subject": "erp",
        "kind": "client",
        "client_id": "erp",
        "scopes": [],
        "permissions": [],
    },
    "expires_at": "2099-01-01T00:00:00.000Z",
}

HOLD: Mapping[str, Any] = {
    "stage": "active",
    "warehouse_id": 1,
    "whs_code": "CEN",
    "lines": [{"product_id": 1, "item_code": "BOLT-M8", "qty": 4}],
    "expires_at": "2099-01-01T00:00:00.000Z",
}

RETURN: Mapping[str, Any] = {
    "status": "expected",
    "card_code": "C-7",
    "warehouse_id": 1,
    "whs_code": "CEN",
    "source": "api",
    "lines": [{"id": 1, "line_num": 1, "product_id": 1, "item_code": "BOLT-M8", "qty": 4}],
}
_SHIPPING = {
    "sender": "Central warehouse",
    "recipient": "Brindley Electrical",
    "ship_to": "7 Quay Street\nBristol",
    "external_ref": "SO-9",
}
PACKING_ORDER: Mapping[str, Any] = {
    "status": "in_progress",
    "exit_document_id": 3,
    "shipping": _SHIPPING,
    "whs_code": "CEN",
    "picking_ids": [9],
    "lines": [
        {
            "product_id": 1,
            "item_code": "BOLT-M8",
            "product_name": "Bolt M8",
            "qty": 12,
            "packed_qty": 5,
        }
    ],
}
UNIT: Mapping[str, Any] = {
    "sscc": "340063810000000018",
    "type": "carton",
    "status": "closed",
    "packing_order_id": 1,
    "exit_document_id": 3,
    "shipping": _SHIPPING,
    "whs_code": "CEN",
    "contents": [{"product_id": 1, "item_code": "BOLT-M8", "product_name": "Bolt M8", "qty": 5}],
    "inside": [],
}
VALIDATION: Mapping[str, Any] = {
    "result": "passed",
    "subject_kind": "packing_order",
    "subject_id": 1,
    "read": 12,
    "unique": 12,
    "expected": 12,
    "matched": 12,
}
STOCK_ROW: Mapping[str, Any] = {
    "product_id": 1,
    "product_name": "Bolt M8",
    "item_code": "BOLT-M8",
    "qty": 480,
    "status": "in",
    "warehouse_id": 1,
    "whs_code": "CEN",
    "position_id": 1,
    "bin_code": "A-01-1",
    "inventory_status": "available",
    "received_at": "2026-03-02T08:14:09.120Z",
}
LEVEL: Mapping[str, Any] = {
    "event_id": 1,
    "product_id": 1,
    "item_code": "BOLT-M8",
    "whs_code": "CEN",
    "on_hand": 480,
}
MOVEMENT: Mapping[str, Any] = {
    "type": "adjustment",
    "product_id": 1,
    "item_code": "BOLT-M8",
    "qty": 480,
    "from": None,
    "to": {"whs_code": "CEN", "bin_code": "A-01-1", "inventory_status": "available"},
    "batch_num": None,
    "serial_number": None,
    "document": None,
    "user_id": None,
    "client_id": "erp",
    "reason": "Counted",
}


def insert_entity[E: Stored](
    store: Store, collection: Collection[E], fields: Mapping[str, Any]
) -> int:
    """Write an entity and return its id; the times default to the current time."""

    def use_case(tx: Transaction) -> int:
        number = tx.next_id(collection.kind)
        if collection.id_digits == PAIR_DIGITS:
            number = pair_id(number, 1)
        times = {"created_at": tx.now, "updated_at": tx.now}
        entity = collection.model.model_validate({"id": number, **times, **fields})
        return collection.insert(tx, number, entity).id

    return run_transaction(store, use_case)


def receipt(store: Store, **changes: Any) -> int:
    """Insert a receipt; `changes` replaces fields."""
    return insert_entity(store, RECEIPTS, {**RECEIPT, **changes})


def picking(store: Store, **changes: Any) -> int:
    """Insert a picking; `changes` replaces fields."""
    return insert_entity(store, PICKINGS, {**PICKING, **changes})


def transfer(store: Store, **changes: Any) -> int:
    """Insert a transfer; `changes` replaces fields."""
    return insert_entity(store, TRANSFERS, {**TRANSFER, **changes})


def wave(store: Store, **changes: Any) -> int:
    """Insert a wave; `changes` replaces fields."""
    return insert_entity(store, WAVES, {**WAVE, **changes})


def _approval(store: Store) -> int:
    return insert_entity(store, APPROVALS, APPROVAL)


def _count(store: Store) -> int:
    return insert_entity(store, COUNTS, COUNT)


def _export(store: Store) -> int:
    return insert_entity(store, EXPORTS, EXPORT)


def _hold(store: Store) -> int:
    return insert_entity(store, HOLDS, HOLD)


def _return(store: Store) -> int:
    return insert_entity(store, RETURNS, RETURN)


def _packing_order(store: Store) -> int:
    entry = {"id": insert_entity(store, UNITS, UNIT), "status": "closed", "contents": 1}
    return insert_entity(store, PACKING_ORDERS, {**PACKING_ORDER, "units": [entry]})


def _handling_unit(store: Store) -> int:
    """Create a unit of the packing order 1, which is created with the first one."""
    unit = insert_entity(store, UNITS, UNIT)
    if unit == UNIT["packing_order_id"]:
        _packing_order(store)
    return unit


def _validation(store: Store) -> int:
    return insert_entity(store, VALIDATIONS, VALIDATION)


def _stock_row(store: Store) -> int:
    return insert_entity(store, STOCK, STOCK_ROW)


def _level(store: Store) -> int:
    return insert_entity(store, LEVELS, LEVEL)


def _movement(store: Store) -> int:
    return insert_entity(store, MOVEMENTS, MOVEMENT)


def _audit_entry(store: Store) -> int:
    run_transaction(store, lambda tx: audit.record(tx, "client.rotated", "client", "stw_acme_1"))
    return 1


PLANTED: Mapping[str, EntityFactory] = {
    "/receipts": receipt,
    "/pickings": picking,
    "/transfers": transfer,
    "/waves": wave,
    "/approvals": _approval,
    "/counts": _count,
    "/exports": _export,
    "/holds": _hold,
    "/returns": _return,
    "/packing-orders": _packing_order,
    "/handling-units": _handling_unit,
    "/rfid-validations": _validation,
    "/stocks": _stock_row,
    "/stock-levels": _level,
    "/stock-movements": _movement,
    "/audit-log": _audit_entry,
}
"""Path of a list → the factory of its rows."""


def create_entity(collection: str, erp: Erp, store: Store) -> int | str:
    """Create one entity of the list at the path `collection`; return its id."""
    if collection in PLANTED:
        return PLANTED[collection](store)
    example = EXAMPLES[f"POST {collection}"]
    example.prepared(erp)
    created: int | str = erp.post(collection, example.body, key=f"created{collection}").data["id"]
    return created


REQUIRED_QUERY = {
    "/replenishments": "?warehouse=NORTH",
    "/putaway-suggestions": "?warehouse=NORTH&item_code=BOLT-M8",
}
"""Path of a read whose query has required parameters → the query."""


def address_of(path: str, erp: Erp, store: Store) -> str:
    """Create the resource that a read route returns; return the path with its ids."""
    if path.startswith("/webhooks/{id}/deliveries"):
        example = EXAMPLES["POST /webhooks/{id}/deliveries/{delivery}/redeliver"]
        return path.format(**example.prepared(erp))
    if path == "/receipts/{id}/goods":
        return path.format(**EXAMPLES["POST /receipts/{id}/lines"].prepared(erp))
    if path in REQUIRED_QUERY:
        EXAMPLES["POST /replenishments"].prepared(erp)
        return path + REQUIRED_QUERY[path]
    if "{kind}" in path or path in {"/settings", "/changes", "/changes/latest", "/request-log"}:
        return path.format(kind="products")
    if path.endswith("/labels"):
        return f"{path}?ids={create_entity(path.removesuffix('/labels'), erp, store)}"
    number = create_entity(path.partition("/{")[0], erp, store)
    published = EXAMPLES.get(f"PUT {path.removesuffix('.svg')}")
    if published and not path.endswith("{id}"):  # a part of the resource
        part = path.removesuffix(".svg").format(id=number)
        assert erp.put(part, published.body).status == published.status
    return path.format(id=number)
