"""Create, read, change and delete positions."""

import pytest

from tests.gateway import Erp
from tests.integration.warehouses.conftest import Make, codes
from tests.stack import Stack

SHELF = {
    "bin_code": "A-01-2-03",
    "description": "Upper shelf",
    "type": "reserve",
    "zone_id": 7,
    "aisle": "A",
    "rack": "01",
    "level": "2",
    "slot": "03",
    "pick_sequence": 120,
    "is_pickable": False,
    "is_blocked": True,
    "is_crossdock": True,
    "disabled": True,
    "capacity_units": 40,
    "capacity_weight_kg": 1250.5,
    "capacity_volume_m3": 0,
}


def test_position_has_all_its_fields(central: Erp, stack: Stack) -> None:
    answer = central.post("/warehouse-positions", {"warehouse_id": 1, "whs_code": "CEN", **SHELF})

    created = answer.ok(201)
    assert answer.headers["Location"] == f"{stack.tenant().base_url}/warehouse-positions/1"
    times = {name: created[name] for name in ("created_at", "updated_at")}
    assert created == {
        **SHELF,
        **times,
        "id": 1,
        "warehouse_id": 1,
        "whs_code": "CEN",
        "warehouse": {"id": 1, "whs_code": "CEN", "name": "Depot CEN"},
    }
    assert len(created) == 22
    assert '"capacity_weight_kg":1250.5' in answer.text
    assert '"capacity_volume_m3":0,' in answer.text
    assert central.get("/warehouse-positions/1").data == created
    assert central.walk("/warehouse-positions") == [created]
    assert central.get("/warehouses/1").data["positions"] == [created]


def test_code_and_warehouse_are_required(central: Erp) -> None:
    created = central.post("/warehouse-positions", {"warehouse_id": 1, "bin_code": "A"}).data

    assert created["whs_code"] == "CEN"
    assert created["is_pickable"] is True
    assert not any(created[flag] for flag in ("is_blocked", "is_crossdock", "disabled"))
    assert central.post("/warehouse-positions", {"whs_code": None}).problems == {
        "bin_code": "is required",
        "whs_code": "is required unless warehouse_id is given",
    }


def test_code_is_unique_in_its_warehouse(
    erp: Erp, create_warehouse: Make, create_position: Make
) -> None:
    create_warehouse("CEN")
    create_warehouse("DUB")
    create_position("A-01", whs_code="CEN")

    create_position("A-01", whs_code="DUB")

    answer = erp.post("/warehouse-positions", {"whs_code": "DUB", "bin_code": " A-01 "})
    assert answer.problems == {"bin_code": "is already taken by another position of DUB"}


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_only_the_fields_sent_change(central: Erp, create_position: Make, method: str) -> None:
    before = create_position(**SHELF)
    change = {
        "whs_code": "CEN",
        "warehouse_id": 1,
        "is_pickable": None,
        "disabled": False,
        "pick_sequence": None,
        "capacity_units": 0.5,
    }

    after = central.send(method, "/warehouse-positions/1", change).data

    assert after == {
        **before,
        **change,
        "is_pickable": True,
        "updated_at": after["updated_at"],
    }
    assert central.get("/warehouse-positions/1").data == after


def test_warehouse_of_a_position_cannot_change(
    erp: Erp, create_warehouse: Make, create_position: Make
) -> None:
    create_warehouse("CEN")
    create_warehouse("DUB")
    create_position("A-01")

    answer = erp.patch(
        "/warehouse-positions/1", {"warehouse_id": 2, "whs_code": "DUB", "bin_code": ""}
    )

    assert answer.problems == {
        "bin_code": "must not be empty",
        "warehouse_id": "must be 1; the warehouse of a position cannot change",
        "whs_code": "must be CEN; the warehouse of a position cannot change",
    }


def test_code_of_a_position_can_change(central: Erp, create_position: Make) -> None:
    create_position("A-01")
    create_position("A-02")

    assert central.patch("/warehouse-positions/1", {"bin_code": "A-02"}).problems == {
        "bin_code": "is already taken by another position of CEN"
    }
    assert central.patch("/warehouse-positions/1", {"bin_code": "A-09"}).status == 200

    assert create_position("A-01")["id"] == 3
    assert codes(central.walk("/warehouse-positions")) == ["A-01", "A-02", "A-09"]
    assert central.patch("/warehouse-positions/1", {"bin_code": "A-09", "slot": "9"}).status == 200


def test_code_of_a_deleted_position_can_be_used_again(central: Erp, create_position: Make) -> None:
    made = create_position("A-01")

    assert central.delete("/warehouse-positions/1").data == made

    assert central.get("/warehouse-positions/1").code == "gone"
    assert central.patch("/warehouse-positions/1", {"slot": "1"}).code == "gone"
    assert central.delete("/warehouse-positions/1").code == "gone"
    assert central.walk("/warehouse-positions") == []
    assert create_position("A-01")["id"] == 2
