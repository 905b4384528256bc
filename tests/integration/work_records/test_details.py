"""Details of receipts, pickings, transfers and waves with every field of the interface."""

import pytest

from tests.gateway import Erp
from tests.integration.entity_factories import ORDER, SALE, picking, receipt, transfer, wave
from tests.stack import Stack

BEGUN = "2026-03-01T09:30:00.000Z"
STARTED = "2026-03-01T09:35:00.120Z"
DONE = "2026-03-01T10:05:00.000Z"
UUID = "7f6cb3a2-58f4-4d2c-9a0b-2c1f6f3f9e11"
ANA = {"id": 7, "name": "Ana Ruiz"}
HEAD = {
    "uuid": UUID,
    "concept": "Container 17",
    "status": "finalized",
    "comments": "One box opened.\nCounted twice.",
    "user_id": 7,
    "operator": ANA,
    "started_at": STARTED,
    "finalized_at": DONE,
    "created_at": BEGUN,
    "updated_at": DONE,
}
SALE_2 = {**SALE, "id": 4, "external_ref": "SO-10"}


def test_receipt_with_all_fields_is_shown(stack: Stack, erp: Erp) -> None:
    drills = {"product_id": 2, "item_code": "DRILL", "qty": 2, "serials": ["S1", "S2"]}
    place = {"bin_code": "A-01-1", "expiry_date": "2027-01-31"}
    fill = {"document_id": ORDER["id"], "line_num": 1, "external_ref": "10", "qty": 12.5}
    cement = {"product_id": 3, "item_code": "CEMENT", "qty": 12.5, "batch_num": "B7"}
    internal_fields = {
        "document_lines": {"1": 12.5},
        "position_id": 5,
        "inventory_status": "quarantine",
        "stock_ids": [11, 12],
    }
    number = receipt(
        stack.store(),
        **HEAD,
        document=ORDER,
        external_refs={"1": "10"},
        lines=[drills, {**cement, **place, **internal_fields}],
    )

    shown = erp.get(f"/receipts/{number}").data
    assert shown == {
        "id": number,
        **HEAD,
        "document": ORDER,
        "lines": [
            {**drills, "batch_num": None, "bin_code": None, "expiry_date": None, "fills": []},
            {**cement, **place, "serials": [], "fills": [fill]},
        ],
        "differences": [],
        "approvals": [],
        "actions": ["synchronize", "revert"],
    }
    del shown["lines"], shown["differences"], shown["approvals"], shown["actions"]
    assert erp.get("/receipts").data == [shown]


def test_picking_with_all_fields_is_shown(stack: Stack, erp: Erp) -> None:
    drills = {
        "product_id": 2,
        "item_code": "DRILL",
        "qty": 2,
        "picked_qty": 1,
        "bin_code": "A-01-1",
        "batch_num": None,
        "serials": ["S2", "S1"],
        "status": "partial",
    }
    cement = {
        **drills,
        "item_code": "CEMENT",
        "qty": 7.25,
        "picked_qty": 0,
        "bin_code": None,
        "batch_num": "B7",
        "serials": [],
        "status": "open",
    }
    place = {"position_id": 5, "bin_code": "A-01-1", "qty": 1}
    allocated = {**place, "stock_id": 11, "serial": "S1"}
    taken = {**place, "staged_id": 21, "serial": "S2", "dispatched": True}
    internal_fields = {
        "document_id": 3,
        "document_line": 1,
        "external_ref": "10",
        "allocations": [allocated],
        "picks": [taken],
    }
    number = picking(
        stack.store(),
        **HEAD,
        priority=1,
        has_shortage=True,
        shortage_reason="damaged",
        documents=[SALE, SALE_2],
        whs_code="CEN",
        wave_id=2,
        carrier_code="DHL",
        lines=[{**drills, **internal_fields}, {**cement, "document_id": 4, "document_line": 1}],
    )

    shown = erp.get(f"/pickings/{number}").data
    assert shown == {
        "id": number,
        **HEAD,
        "document": SALE,
        "code": f"PKG-{number}",
        "priority": 1,
        "has_shortage": True,
        "carrier_code": "DHL",
        "lines": [
            {
                **drills,
                "fills": [{"document_id": 3, "line_num": 1, "external_ref": "10", "qty": 1}],
            },
            {**cement, "fills": []},
        ],
        "actions": ["synchronize"],
    }
    del shown["lines"], shown["carrier_code"], shown["actions"]
    assert erp.get("/pickings").data == [shown]


@pytest.mark.parametrize("doc_entry", [80123, "80123", None])
def test_transfer_with_the_answer_of_the_erp_is_shown(
    stack: Stack, erp: Erp, doc_entry: object
) -> None:
    facts = {
        "status": "error",
        "sap_status": "rejected",
        "from_whs_code": "CEN",
        "to_whs_code": "DUB",
        "doc_entry": doc_entry,
        "message": "Period 03 is closed",
        "user_id": 7,
        "operator": ANA,
        "created_at": BEGUN,
        "updated_at": DONE,
    }
    line = {
        "product_id": 3,
        "item_code": "CEMENT",
        "qty": 0.000001,
        "batch_num": "B7",
        "serials": [],
        "from_bin": "A-01-1",
        "to_bin": "REC-01",
        "inventory_status": "damaged",
    }
    number = transfer(stack.store(), **facts, reason="Replenish", lines=[line])

    shown = erp.get(f"/transfers/{number}").data
    assert shown.pop("actions") == ["execute"]
    assert shown == {"id": number, **facts, "wms_status": "error", "lines": [line]}
    del shown["lines"]
    assert erp.get("/transfers").data == [shown]


def test_wave_is_shown_with_its_pickings(stack: Stack, erp: Erp) -> None:
    started = picking(stack.store(), status="started", started_at=BEGUN)
    pending = picking(stack.store())
    ended = picking(stack.store(), status="cancelled")
    facts = {
        "warehouse_code": "CEN",
        "strategy": "pick_and_pass",
        "status": "in_progress",
        "carrier_code": "DHL",
        "cutoff_at": "2026-03-01T15:00:00.000Z",
        "released_at": "2026-03-01T09:45:00.000Z",
        "metrics": {
            "orders": 3,
            "lines": 7,
            "units": 31.5,
            "trips": 1,
            "standard_minutes": 18.25,
            "ended_orders": 1,
            "allocated_units": 30,
            "short_units": 1.5,
        },
        "created_at": BEGUN,
        "updated_at": "2026-03-01T09:50:00.000Z",
    }
    number = wave(
        stack.store(),
        **facts,
        picking_ids=[pending, ended, started],
        open_ids=[pending, started],
        begun=True,
    )

    shown = erp.get(f"/waves/{number}")
    head = {"id": number, "code": f"WV-{number}", **facts}
    assert shown.data == {
        **head,
        "orders": [
            {"picking_id": pending, "status": "pending"},
            {"picking_id": ended, "status": "cancelled"},
            {"picking_id": started, "status": "started"},
        ],
        "actions": ["cancel"],
    }
    assert erp.get("/waves").data == [head]
    again = erp.get(f"/waves/{number}", headers={"If-None-Match": shown.headers["ETag"]})
    assert (again.status, again.text) == (304, "")
