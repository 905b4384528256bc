"""Where goods can be put: pick faces, the same goods, empty positions."""

from typing import Any

import pytest

from tests.faults import AwsFaults
from tests.integration.call_faults import at_calls
from tests.replenishment_scenario import ReplenishmentScenario


@pytest.fixture
def yard(replenishment: ReplenishmentScenario) -> ReplenishmentScenario:
    return replenishment


def _suggested(yard: ReplenishmentScenario, **more: Any) -> list[tuple[object, ...]]:
    """Return position, reason, quantity and room of each suggestion."""
    query = {"warehouse": "YARD", "item_code": "BRICK", "qty": 30, **more}
    response = yard.erp.get("/putaway-suggestions", query=query)
    assert response.status == 200, response.text
    return [(one["bin_code"], one["reason"], one["qty"], one["room"]) for one in response.data]


def _change(yard: ReplenishmentScenario, bin_code: str, **values: Any) -> None:
    yard.erp.patch(f"/warehouse-positions/{yard.position(bin_code)}", values).ok()


def test_pick_face_comes_before_the_same_goods_and_empty_positions(
    yard: ReplenishmentScenario,
) -> None:
    yard.yard.stock("BRICK", 25, "F-01")
    yard.yard.stock("BRICK", 5, "B-01")
    _change(yard, "B-01", capacity_units=20)
    assert _suggested(yard) == [
        ("F-01", "pick_face", 25, 25),
        ("B-01", "same_goods", 15, 15),
        ("A-01", "empty", 30, None),
        ("R-01", "empty", 30, None),
    ]


def test_full_pick_face_and_full_position_are_not_suggested(yard: ReplenishmentScenario) -> None:
    yard.yard.stock("BRICK", 50, "F-01")
    yard.yard.stock("BRICK", 20, "B-01")
    yard.yard.stock("CEMENT", 20, "R-01", batch="L1")
    _change(yard, "B-01", capacity_units=20)
    assert _suggested(yard) == [("A-01", "empty", 30, None)]


def test_capacity_limits_a_pick_face_and_an_empty_position(yard: ReplenishmentScenario) -> None:
    yard.erp.put("/products/1/packaging", {"weight_kg": 2.5}).ok()
    _change(yard, "F-01", capacity_weight_kg=20)
    _change(yard, "A-01", capacity_units=12)
    _change(yard, "R-01", disabled=True)
    assert _suggested(yard) == [
        ("F-01", "pick_face", 8, 8), ("B-01", "empty", 30, None), ("A-01", "empty", 12, 12)
    ]  # fmt: skip


def test_same_goods_are_those_of_the_batch(yard: ReplenishmentScenario) -> None:
    yard.yard.stock("CEMENT", 5, "A-01", batch="L1")
    yard.yard.stock("CEMENT", 5, "R-01", batch="L2")
    found = _suggested(yard, item_code="CEMENT", batch="L2")
    assert [one[:2] for one in found] == [("R-01", "same_goods"), ("B-01", "empty")]
    found = _suggested(yard, item_code="CEMENT")
    assert [one[:2] for one in found][:2] == [("A-01", "same_goods"), ("R-01", "same_goods")]


def test_blocked_positions_and_pick_faces_of_others_are_not_suggested(
    yard: ReplenishmentScenario,
) -> None:
    yard.face("CEMENT", "B-01", None, 10)
    yard.yard.stock("BRICK", 5, "B-01")
    yard.yard.stock("BRICK", 5, "A-01")
    _change(yard, "A-01", is_blocked=True)
    _change(yard, "F-01", disabled=True)
    assert [one[:2] for one in _suggested(yard)] == [("R-01", "empty")]


def test_empty_positions_come_in_the_order_of_the_pick_sequence(
    yard: ReplenishmentScenario,
) -> None:
    _change(yard, "R-01", pick_sequence=5)
    _change(yard, "A-01", pick_sequence=7)
    assert [one[0] for one in _suggested(yard)] == ["F-01", "R-01", "A-01", "B-01"]


def test_empty_position_far_from_the_first_is_found(
    yard: ReplenishmentScenario, monkeypatch: pytest.MonkeyPatch, aws_faults: AwsFaults
) -> None:
    monkeypatch.setattr("shared.warehouse.putaway.service._WINDOW", 2)
    monkeypatch.setattr("shared.warehouse.putaway.service._UNORDERED", 1)
    monkeypatch.setattr("shared.warehouse.putaway.service._SAMPLE", 2)
    for at, bin_code in enumerate(("A-01", "B-01", "R-01"), start=1):
        yard.yard.stock("CEMENT", 1, bin_code, batch="L1")
        _change(yard, bin_code, pick_sequence=at)
    mask = {
        "whs_code": "YARD", "naming_mask": "Z-{slot}", "slots": {"from": 1, "to": 40},
        "type": "storage", "pick_sequence_start": 10,
    }  # fmt: skip
    yard.erp.post("/warehouse-positions/bulk", mask).ok(201)
    assert len(_suggested(yard)) == 5  # and fill the caches
    with aws_faults.recorded() as seen:
        found = _suggested(yard)
    assert [one[:2] for one in found][:2] == [("F-01", "pick_face"), ("Z-1", "empty")]
    assert seen.round_trips <= 4


def test_reserve_without_sequence_is_found_behind_a_hundred_empty_pick_faces(
    yard: ReplenishmentScenario, aws_faults: AwsFaults
) -> None:
    for type_, sequence in (("pick_face", 1), ("reserve", None)):
        mask = {
            "whs_code": "YARD", "naming_mask": f"{type_}-{{slot}}", "slots": {"from": 1, "to": 120},
            "type": type_, "pick_sequence_start": sequence,
        }  # fmt: skip
        yard.erp.post("/warehouse-positions/bulk", mask).ok(201)
    for bin_code in ("A-01", "B-01", "R-01"):
        yard.yard.stock("CEMENT", 1, bin_code, batch="L1")
    assert len(_suggested(yard)) == 5  # and fill the caches

    with aws_faults.recorded() as seen:
        found = _suggested(yard)

    assert [one[0] for one in found] == ["F-01", *(f"reserve-{at}" for at in (1, 10, 11, 12))]
    assert seen.round_trips <= 4


def test_invalid_parameters_are_named_together(yard: ReplenishmentScenario) -> None:
    query: dict[str, Any] = {"warehouse": "NONE", "item_code": "NONE"}
    assert yard.erp.get("/putaway-suggestions", query=query).problems == {
        "warehouse": "no warehouse has the code NONE", "item_code": "no product has the code NONE"
    }  # fmt: skip
    query = {"warehouse": "YARD", "item_code": "HAULAGE"}
    assert yard.erp.get("/putaway-suggestions", query=query).problems == {
        "item_code": "product HAULAGE is not kept in stock"
    }
    query = {"warehouse": "YARD", "qty": "0"}
    answer = yard.erp.get("/putaway-suggestions", query=query)
    assert answer.invalid_fields == ["item_code", "qty"]


def test_position_that_is_renamed_meanwhile_is_left_out(
    yard: ReplenishmentScenario, aws_faults: AwsFaults
) -> None:
    position = yard.position("A-01")

    def rename() -> None:
        yard.erp.patch(f"/warehouse-positions/{position}", {"bin_code": "A-09"}).ok()

    _suggested(yard)
    with aws_faults.faulty(at_calls("BatchGetItem", {2}, before=rename)):
        found = _suggested(yard)

    assert {one[0] for one in found} >= {"B-01", "R-01"}


def test_pick_face_without_a_maximum_takes_its_minimum_or_the_same_goods(
    yard: ReplenishmentScenario,
) -> None:
    yard.face("BRICK", "F-01", 10, None)
    yard.face("BRICK", "F-02", None, None)
    assert [one[:2] for one in _suggested(yard)][:2] == [("F-01", "pick_face"), ("A-01", "empty")]
    yard.yard.stock("BRICK", 4, "F-01")
    yard.yard.stock("BRICK", 4, "F-02")
    found = _suggested(yard)
    assert found[:2] == [("F-01", "pick_face", 6, 6), ("F-02", "same_goods", 30, None)]
    yard.yard.stock("BRICK", 6, "F-01")
    assert [one[:2] for one in _suggested(yard)][:2] == [
        ("F-01", "same_goods"), ("F-02", "same_goods")
    ]  # fmt: skip


def test_pick_face_with_another_batch_has_not_the_same_goods(yard: ReplenishmentScenario) -> None:
    yard.face("CEMENT", "F-02", None, None)
    yard.yard.stock("CEMENT", 5, "F-02", batch="L1")
    query = {"item_code": "CEMENT", "batch": "L2"}
    assert {one[1] for one in _suggested(yard, **query)} == {"empty"}
    assert _suggested(yard, **{**query, "batch": "L1"})[0][:2] == ("F-02", "same_goods")


def test_rows_of_the_same_code_in_other_warehouses_hide_nothing(
    yard: ReplenishmentScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.warehouse.stock.service._LISTED", 1)
    yard.erp.post("/warehouses", {"whs_code": "SHOP", "name": "Shop"}).ok(201)
    yard.erp.post("/warehouse-positions", {"whs_code": "SHOP", "bin_code": "F-01"}).ok(201)
    yard.yard.stock("BRICK", 20, "F-01")
    for batch in ("L1", "L2"):
        yard.yard.stock("CEMENT", 1, "F-01", batch=batch, warehouse="SHOP")
    assert _suggested(yard)[0] == ("F-01", "pick_face", 30, 30)
