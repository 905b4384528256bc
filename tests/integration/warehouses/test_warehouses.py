"""Create, read, change and delete warehouses."""

import pytest

from tests.gateway import Erp
from tests.integration.warehouses.conftest import Make, codes
from tests.stack import Stack

ADDRESS = {
    "street": "Tyburn Road 84",
    "block": "Unit 3",
    "city": "Birmingham",
    "state": "West Midlands",
    "zip_code": "B24 9NE",
    "country": "United Kingdom",
}


def test_warehouse_has_all_its_fields(erp: Erp, stack: Stack) -> None:
    body = {
        "whs_code": "CEN",
        "name": "Central",
        "site_code": "BHX",
        "is_virtual": True,
        "timezone": "Europe/London",
        **ADDRESS,
    }

    answer = erp.post("/warehouses", body)

    created = answer.ok(201)
    assert answer.headers["Location"] == f"{stack.tenant().base_url}/warehouses/1"
    times = {name: created[name] for name in ("created_at", "updated_at")}
    assert times["created_at"] == times["updated_at"]
    assert created == {**body, "id": 1, "metadata": {}, "positions_count": 0, **times}
    assert erp.get("/warehouses/1").data == {**created, "positions": []}
    assert erp.walk("/warehouses") == [created]


def test_fields_that_are_not_sent_have_defaults(create_warehouse: Make) -> None:
    created = create_warehouse()

    assert created["is_virtual"] is False
    assert {name for name, value in created.items() if value is None} == {
        "site_code",
        "timezone",
        *ADDRESS,
    }


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_only_the_fields_sent_change(erp: Erp, create_warehouse: Make, method: str) -> None:
    before = create_warehouse("CEN", timezone="Europe/London", is_virtual=True, **ADDRESS)

    after = erp.send(
        method, "/warehouses/1", {"is_virtual": None, "street": None, "city": "Bham"}
    ).ok()
    assert after["updated_at"] >= before["updated_at"]
    changed = {"is_virtual": False, "street": None, "city": "Bham"}
    assert after == {**before, **changed, "updated_at": after["updated_at"]}
    assert erp.walk("/warehouses", is_virtual="false") == [after]


def test_name_and_code_cannot_be_reset(erp: Erp, create_warehouse: Make) -> None:
    create_warehouse()

    answer = erp.patch("/warehouses/1", {"name": None, "whs_code": None})

    assert set(answer.problems) == {"name", "whs_code"}


def test_warehouse_can_be_sent_its_own_code(central: Erp, create_position: Make) -> None:
    create_position("A-01")

    answer = central.patch("/warehouses/1", {"whs_code": "CEN", "name": "Central"}).ok()

    assert answer["positions_count"] == 1


def test_code_of_an_empty_warehouse_can_change(
    erp: Erp, create_warehouse: Make, create_position: Make
) -> None:
    create_warehouse("CEN")
    create_warehouse("DUB")

    assert erp.patch("/warehouses/1", {"whs_code": "DUB"}).problems == {
        "whs_code": "is already taken by another warehouse"
    }
    assert erp.patch("/warehouses/1", {"whs_code": "BHX"}).data["whs_code"] == "BHX"

    create_position("A-01", whs_code="BHX")
    create_warehouse("CEN")
    assert codes(erp.walk("/warehouses")) == ["BHX", "CEN", "DUB"]


def test_warehouse_with_positions_cannot_be_renamed_or_deleted(
    central: Erp, create_position: Make
) -> None:
    create_position("A-01")

    for answer in (
        central.patch("/warehouses/1", {"whs_code": "BHX"}),
        central.delete("/warehouses/1"),
    ):
        assert (answer.status, answer.code) == (409, "conflict")
        assert "has 1 position and" in answer.json()["message"]
    # A refusal removes its mark, so that the warehouse stays usable.
    create_position("A-02")
    assert central.get("/warehouses/1").data["positions_count"] == 2


def test_code_of_a_deleted_warehouse_can_be_used_again(erp: Erp, create_warehouse: Make) -> None:
    created = create_warehouse("CEN")

    assert erp.delete("/warehouses/1").data == created

    for method in ("GET", "DELETE", "PATCH"):
        body = {"name": "x"} if method == "PATCH" else None
        answer = erp.send(method, "/warehouses/1", body)
        assert (answer.status, answer.code) == (410, "gone")
    assert erp.walk("/warehouses") == []
    assert create_warehouse("CEN")["id"] == 2


def test_new_name_of_a_warehouse_is_shown_in_its_positions(
    erp: Erp, create_warehouse: Make, create_position: Make
) -> None:
    create_warehouse("CEN", name="Central")
    made = create_position("A-01")
    assert made["warehouse"] == {"id": 1, "whs_code": "CEN", "name": "Central"}

    erp.patch("/warehouses/1", {"name": "Midlands"})

    renamed = {"id": 1, "whs_code": "CEN", "name": "Midlands"}
    assert erp.get("/warehouse-positions/1").data["warehouse"] == renamed
    assert erp.walk("/warehouse-positions")[0]["warehouse"] == renamed
    assert erp.get("/warehouses/1").data["positions"][0]["warehouse"] == renamed


def test_detail_has_the_first_2000_positions(
    erp: Erp, create_warehouse: Make, create_position: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.warehouse.warehouses.service._IN_DETAIL", 2)
    create_warehouse("CEN")
    create_warehouse("DUB")
    for bin_code in ("B", "C", "A"):
        create_position(bin_code)
    create_position("0", whs_code="DUB")

    detail = erp.get("/warehouses/1").data

    assert (detail["positions_count"], codes(detail["positions"])) == (3, ["A", "B"])
    assert detail["positions"][0] == erp.get("/warehouse-positions/3").data
