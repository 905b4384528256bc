"""Stock adjustments."""

from collections.abc import Callable

import pytest

from shared.warehouse.picking import holders
from tests.cases import each_case
from tests.clock import Clock
from tests.gateway import Response
from tests.stack import Stack
from tests.warehouse_scenario import WarehouseScenario

pytestmark = pytest.mark.usefixtures("consistent_stock")

type Adjust = Callable[..., Response]


@pytest.fixture
def adjust(yard: WarehouseScenario) -> Adjust:
    """Return a function that adjusts stock, by default of BRICK at A-01 in YARD."""
    return yard.adjust


def test_count_creates_stock(yard: WarehouseScenario, adjust: Adjust, stack: Stack) -> None:
    answer = adjust(counted_qty=12.5)

    assert answer.status == 201
    made = answer.data
    assert (made["qty_before"], made["qty_after"], made["reason"]) == (0, 12.5, "Found")
    [row] = yard.erp.get("/stocks").data
    assert row == {
        "id": 1,
        "product_id": 1,
        "product_name": "Brick",
        "item_code": "BRICK",
        "whs_code": "YARD",
        "qty": 12.5,
        "status": "in",
        "serial_number": None,
        "batch_num": None,
        "position": {
            "id": row["position"]["id"],
            "bin_code": "A-01",
            "whs_code": "YARD",
            "warehouse_id": row["position"]["warehouse_id"],
            "warehouse_name": "Yard",
        },
        "expiry_date": None,
        "inventory_status": "available",
        "created_at": made["created_at"],
        "updated_at": made["created_at"],
    }
    [level] = yard.erp.get("/stock-levels").data
    assert level == {
        "product_id": 1,
        "item_code": "BRICK",
        "whs_code": "YARD",
        "on_hand": 12.5,
        "allocated": 0,
        "available": 12.5,
        "in_transit": 0,
        "quarantine": 0,
        "committed": 0,
        "incoming": 0,
        "held": 0,
        "sellable": 12.5,
        "updated_at": made["created_at"],
    }
    [total] = yard.erp.get("/stock-levels", query={"totals": "true"}).data
    assert total == level | {"whs_code": None}
    movement = yard.erp.get(answer.headers["Location"].partition("/api/v1")[2]).data
    assert movement == {
        "id": made["movement_id"],
        "type": "adjustment",
        "product_id": 1,
        "item_code": "BRICK",
        "qty": 12.5,
        "from": None,
        "to": {"whs_code": "YARD", "bin_code": "A-01", "inventory_status": "available"},
        "batch_num": None,
        "serial_number": None,
        "document": None,
        "user_id": None,
        "client_id": "erp",
        "reason": "Found",
        "created_at": made["created_at"],
    }
    assert [event["type"]["S"] for event in stack.events()][-1:] == ["stock.updated"]


def test_adjustments_of_stock_that_is_there_show_their_own_time(
    yard: WarehouseScenario, adjust: Adjust, clock: Clock
) -> None:
    first = adjust(increase=10).data["created_at"]
    clock.advance(60)
    line = {"item_code": "BRICK", "warehouse": "YARD", "bin_code": "A-01", "decrease": 1}
    single = adjust(increase=1).data
    clock.advance(60)
    [of_many] = yard.erp.post("/stock-adjustments", {"lines": [line], "reason": "Broken"}).data[
        "lines"
    ]

    moved = yard.erp.walk("/stock-movements", sort="created_at")
    assert [one["created_at"] for one in moved] == [
        first, single["created_at"], of_many["created_at"],
    ]  # fmt: skip


def test_adjustments_add_up_in_the_ledger(yard: WarehouseScenario, adjust: Adjust) -> None:
    adjust(increase=10)
    adjust(decrease=4)
    adjust(counted_qty=7)
    assert adjust(counted_qty=7).status == 200
    adjust(counted_qty=0)
    adjust(increase=2, item_code="CEMENT", batch="L1", expiry_date="2030-01-31")
    adjust(increase=1, warehouse="SHOP")

    rows = yard.erp.get("/stocks").data
    assert [(row["item_code"], row["qty"], row["status"]) for row in rows] == [
        ("BRICK", 0, "out"), ("CEMENT", 2, "in"), ("BRICK", 1, "in"),
    ]  # fmt: skip
    moved = yard.erp.walk(
        "/stock-movements", sort="created_at", item_code="BRICK", warehouse="YARD"
    )
    signed = [(one["qty"], one["to"] is not None) for one in moved]
    assert signed == [(10, True), (4, False), (1, True), (7, False)]
    assert [row["on_hand"] for row in yard.erp.get("/stock-levels").data] == [0, 1, 2]


def test_change_of_status_reduces_available_stock(yard: WarehouseScenario, adjust: Adjust) -> None:
    adjust(increase=10)
    adjust(to_status="quarantine", qty=3)
    answer = adjust(to_status="damaged", inventory_status="quarantine")

    assert (answer.data["qty_before"], answer.data["qty_after"]) == (3, 0)
    adjust(to_status="quarantine", qty=2)
    [level] = yard.erp.get("/stock-levels").data
    assert (level["on_hand"], level["available"], level["quarantine"]) == (10, 5, 2)


def test_serial_in_stock_is_refused_elsewhere(yard: WarehouseScenario, adjust: Adjust) -> None:
    assert adjust(item_code="DRILL", serial="S-1", increase=1).status == 201

    for changes in ({"increase": 1}, {"decrease": 1}, {"to_status": "damaged"}):
        elsewhere = adjust(item_code="DRILL", serial="S-1", bin_code="B-01", **changes)
        assert (elsewhere.status, elsewhere.code) == (409, "conflict")
        assert elsewhere.json()["message"] == (
            "The stock cannot be adjusted: serial S-1 is already in stock at YARD A-01."
        )
    assert adjust(item_code="DRILL", serial="S-1", decrease=1).status == 201
    assert adjust(item_code="DRILL", serial="S-1", increase=1, bin_code="B-01").status == 201
    [row] = yard.erp.get("/stocks", query={"serial": "S-1"}).data
    assert (row["qty"], row["position"]["bin_code"]) == (1, "B-01")


@each_case(
    ("changes", "field"),
    [
        ({}, "counted_qty"),
        ({"increase": 1, "decrease": 1}, "decrease"),
        ({"increase": 1, "item_code": "NONE"}, "item_code"),
        ({"increase": 1, "item_code": "HAULAGE"}, "item_code"),
        ({"increase": 1, "warehouse": "NONE"}, "warehouse"),
        ({"increase": 1, "bin_code": "NONE"}, "bin_code"),
        ({"increase": 1, "batch": "L1"}, "batch"),
        ({"increase": 1, "serial": "S1"}, "serial"),
        ({"increase": 1, "item_code": "CEMENT"}, "batch"),
        ({"increase": 1, "item_code": "DRILL"}, "serial"),
        ({"increase": 2, "item_code": "DRILL", "serial": "S1"}, "increase"),
        ({"to_status": "staged"}, "to_status"),
        ({"to_status": "available"}, "to_status"),
        ({"increase": 1, "qty": 1}, "qty"),
        ({"increase": 1, "inventory_status": "in_transit"}, "inventory_status"),
    ],
)
def test_invalid_field_is_named(
    adjust: Adjust, stack: Stack, changes: dict[str, object], field: str
) -> None:
    before = len(stack.items())
    answer = adjust(**changes)

    assert (answer.status, answer.json()["error"]["field"]) == (422, field)
    assert len(stack.items()) == before


def test_invalid_quantity_is_not_reported_as_missing(adjust: Adjust) -> None:
    assert adjust(counted_qty=-1).problems == {"counted_qty": "must be at least 0"}
    assert adjust(to_status="staged", qty=1).invalid_fields == ["to_status"]
    assert adjust(increase="1", decrease=1).problems == {
        "increase": "must be a number",
        "decrease": "exactly one of counted_qty, increase, decrease, to_status is required;"
        " 2 given",
    }
    assert adjust(increase=2, item_code="DRILL", serial="S1").problems == {
        "increase": "must be 1 for a serial; 2 given"
    }


def test_decrease_below_zero_is_refused(adjust: Adjust) -> None:
    adjust(increase=5)

    for changes in (
        {"decrease": 6},
        {"decrease": 1, "bin_code": "B-01"},
        {"to_status": "damaged", "qty": 6},
    ):
        assert adjust(**changes).code == "conflict"


def test_refused_adjustment_names_the_pickings_that_hold_the_stock(
    yard: WarehouseScenario, adjust: Adjust
) -> None:
    adjust(increase=5)
    yard.stock("CEMENT", 2, batch="L1")
    other = yard.picking(yard.order(("CEMENT", 2)))["id"]
    held = yard.picking(yard.order(("BRICK", 2)), yard.order(("BRICK", 1), ("CEMENT", 1)))["id"]
    started = yard.started(yard.order(("BRICK", 1)))
    ended = yard.started(yard.order(("BRICK", 1)))
    yard.act(ended, "cancel").ok()

    holders = f"4 allocated to PKG-{held} (3), PKG-{started} (1)"
    for changes, refused in (
        ({"counted_qty": 3}, "3 counted, 4 allocated of BRICK at A-01"),
        ({"decrease": 2}, "2 requested, 1 available of BRICK at A-01"),
        ({"to_status": "damaged", "qty": 5}, "5 requested, 1 available of BRICK at A-01"),
    ):
        answer = adjust(**changes)
        assert (answer.status, answer.code) == (409, "conflict")
        message = f"The stock cannot be adjusted: {refused}; {holders}."
        assert answer.json()["message"] == message
    assert f"PKG-{other}" not in adjust(counted_qty=0).text
    assert adjust(counted_qty=4).status == 201


def test_refused_adjustment_names_few_of_many_pickings(
    yard: WarehouseScenario, adjust: Adjust, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holders, "_SHOWN", 1)
    adjust(increase=3)
    first, *_ = [yard.picking(yard.order(("BRICK", 1)))["id"] for _ in range(3)]

    assert f"; 3 allocated to PKG-{first} (1) and 2 more." in adjust(counted_qty=0).text

    monkeypatch.setattr(holders, "_MOST_READ", 1)
    assert f"; 3 allocated to PKG-{first} (1) and others." in adjust(counted_qty=0).text


def test_refused_adjustment_names_the_transfer_order_that_holds_the_stock(
    yard: WarehouseScenario, adjust: Adjust
) -> None:
    adjust(increase=3)
    order = {
        "from_warehouse": "YARD", "to_warehouse": "SHOP", "release": True,
        "picker_id": 7,
        "lines": [{"item_code": "BRICK", "qty": 2}],
    }  # fmt: skip
    code = yard.erp.post("/transfer-orders", order).data["code"]

    assert f"; 2 allocated to {code} (2)." in adjust(counted_qty=0).text
