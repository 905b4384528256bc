"""Examples of the write routes of transfers and transfer orders."""

from collections.abc import Mapping
from typing import Any

from tests.integration.route_example import Example, Prepare, creation, prepared_once, step

_FOUND = {
    "item_code": "BOLT-M8",
    "warehouse": "NORTH",
    "bin_code": "A-01-1",
    "increase": 100,
    "reason": "Found at the yearly count",
}
_SHELF = {"whs_code": "SOUTH", "bin_code": "S-01", "type": "storage"}
_TRANSFER = {
    "from_warehouse": "NORTH",
    "to_warehouse": "SOUTH",
    "reason": "Replenish",
    "lines": [{"item_code": "BOLT-M8", "qty": 30, "from_bin": "A-01-1", "to_bin": "S-01"}],
}
_PICKER = {"picker_id": 7}
_PICK = {"item_code": "BOLT-M8", "qty": 5, "bin_code": "A-01-1"}
_SOME = {"lines": [{"item_code": "BOLT-M8", "qty": 10, "bin_code": "S-01"}], "final": True}
_STOCK = "stock.updated"


def transfer_examples(two_warehouses: Prepare, order: Mapping[str, Any]) -> Mapping[str, Example]:
    """Return `METHOD /path` → example.

    `two_warehouses` creates NORTH and SOUTH. `order` is the body of a transfer order with two lines
    of bolts, 42.5 in total, that is released immediately.
    """

    shelf = creation("/warehouse-positions", _SHELF, after=two_warehouses)
    stocked = prepared_once(step("/stock-adjustments", _FOUND, after=shelf, status=201))
    pending = creation("/transfers", {**_TRANSFER, "execute": False}, after=stocked)
    transferred = creation("/transfers", _TRANSFER, after=stocked)
    draft = prepared_once(creation("/transfer-orders", {**order, "release": False}, after=stocked))
    released = prepared_once(step("/transfer-orders/{id}/release", _PICKER, after=draft))
    partly_picked = step("/transfer-orders/{id}/picks", _PICK, after=released)
    short = step("/transfer-orders/{id}/finish-picking", {}, after=partly_picked)
    picked = prepared_once(
        step("/transfer-orders/{id}/picks", {**_PICK, "qty": 42.5}, after=released)
    )
    underway = prepared_once(step("/transfer-orders/{id}/dispatch", {}, after=picked))
    received_short = step("/transfer-orders/{id}/receive", _SOME, after=underway)
    moved = {"stock": 1, "level": 1, "movement": 1}
    orders = "POST /transfer-orders"
    return {
        "POST /transfers": Example(
            201,
            body=_TRANSFER,
            prepare=stocked,
            grows={"transfer": 1, **moved},
            events=["transfer.created", "transfer.completed", _STOCK, _STOCK],
        ),
        "DELETE /transfers/{id}": Example(
            200, prepare=pending, grows={"transfer": -1}, status_afterwards=410
        ),
        "POST /transfers/{id}/execute": Example(
            200, prepare=pending, grows=moved, events=["transfer.completed", _STOCK, _STOCK]
        ),
        "POST /transfers/{id}/acknowledge": Example(
            200, body={"sap_status": "sent", "doc_entry": 80123}, prepare=transferred
        ),
        orders: Example(
            201,
            body=order,
            prepare=stocked,
            grows={"transfer_order": 1, "picking": 1, "level": 1},
            events=["transfer.created", "picking.created", _STOCK, _STOCK],
        ),
        f"{orders}/{{id}}/release": Example(
            200,
            body=_PICKER,
            prepare=draft,
            grows={"picking": 1, "level": 1},
            events=["picking.created", _STOCK, _STOCK],
        ),
        f"{orders}/{{id}}/picks": Example(
            200,
            body={"lines": [_PICK, {**_PICK, "qty": 1}]},
            prepare=released,
            grows={"stock": 1, "movement": 2},
            events=[_STOCK] * 2,
        ),
        f"{orders}/{{id}}/picks/undo": Example(
            200,
            body={**_PICK, "qty": 2},
            prepare=short,
            grows={"movement": 1},
            events=[_STOCK, _STOCK],
        ),
        f"{orders}/{{id}}/finish-picking": Example(
            200, prepare=partly_picked, events=["picking.completed", _STOCK, _STOCK]
        ),
        f"{orders}/{{id}}/dispatch": Example(
            200,
            body={"seal_number": "SEAL-9"},
            prepare=picked,
            grows={"stock": 1, "movement": 2},
            events=["transfer.dispatched", _STOCK, _STOCK],
        ),
        f"{orders}/{{id}}/receive": Example(
            200,
            body=_SOME,
            prepare=underway,
            grows={"stock": 1, "movement": 1},
            events=["transfer.received", _STOCK],
        ),
        f"{orders}/{{id}}/close": Example(
            200,
            body={"reason": "Lost"},
            prepare=received_short,
            grows={"movement": 2},
            events=["transfer.completed", _STOCK],
        ),
        f"{orders}/{{id}}/cancel": Example(
            # A step raises what is incoming at the destination, the last one takes it off.
            200,
            prepare=partly_picked,
            grows={"movement": 1},
            events=[_STOCK] * 3,
        ),
    }
