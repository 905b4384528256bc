"""Examples of the write routes of transfers and transfer orders."""

from collections.abc import Mapping
from typing import Any

from tests.gateway import Erp
from tests.integration.route_example import Example, Prepare, Values, prepared_once

_FOUND = {
    "item_code": "BOLT-M8",
    "warehouse": "NORTH",
    "bin_code": "A-01-1",
    "increase": 100,
    "reason": "Found at the yearly count",
}
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


def _act(erp: Erp, number: object, what: str, body: Mapping[str, Any]) -> Values:
    erp.post(f"/transfer-orders/{number}/{what}", body).ok()
    return {"id": number}


def transfer_examples(two_warehouses: Prepare, order: Mapping[str, Any]) -> Mapping[str, Example]:
    """Return `METHOD /path` → example.

    `two_warehouses` creates NORTH and SOUTH. `order` is the body of a transfer order with two lines
    of bolts, 42.5 in total, that is released immediately.
    """

    @prepared_once
    def stocked(erp: Erp) -> Values:
        two_warehouses(erp)
        shelf = {"whs_code": "SOUTH", "bin_code": "S-01", "type": "storage"}
        assert erp.post("/warehouse-positions", shelf).status == 201
        assert erp.post("/stock-adjustments", _FOUND).status == 201
        return {}

    def pending(erp: Erp) -> Values:
        stocked(erp)
        return {"id": erp.post("/transfers", {**_TRANSFER, "execute": False}).data["id"]}

    def transferred(erp: Erp) -> Values:
        stocked(erp)
        return {"id": erp.post("/transfers", _TRANSFER).data["id"]}

    @prepared_once
    def draft(erp: Erp) -> Values:
        stocked(erp)
        return {"id": erp.post("/transfer-orders", {**order, "release": False}).data["id"]}

    @prepared_once
    def released(erp: Erp) -> Values:
        return _act(erp, draft(erp)["id"], "release", _PICKER)

    def partly_picked(erp: Erp) -> Values:
        return _act(erp, released(erp)["id"], "picks", _PICK)

    @prepared_once
    def picked(erp: Erp) -> Values:
        return _act(erp, released(erp)["id"], "picks", {**_PICK, "qty": 42.5})

    @prepared_once
    def underway(erp: Erp) -> Values:
        return _act(erp, picked(erp)["id"], "dispatch", {})

    def received_short(erp: Erp) -> Values:
        return _act(erp, underway(erp)["id"], "receive", _SOME)

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
            grows={"transfer_order": 1, "picking": 1},
            events=["transfer.created", "picking.created", _STOCK],
        ),
        f"{orders}/{{id}}/release": Example(
            200,
            body=_PICKER,
            prepare=draft,
            grows={"picking": 1},
            events=["picking.created", _STOCK],
        ),
        f"{orders}/{{id}}/picks": Example(
            200, body=_PICK, prepare=released, grows={"stock": 1, "movement": 1}
        ),
        f"{orders}/{{id}}/finish-picking": Example(
            200, prepare=partly_picked, events=["picking.completed", _STOCK]
        ),
        f"{orders}/{{id}}/dispatch": Example(
            200,
            body={"seal_number": "SEAL-9"},
            prepare=picked,
            grows={"stock": 1, "level": 1, "movement": 2},
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
            200, prepare=partly_picked, grows={"movement": 1}, events=[_STOCK]
        ),
    }
