"""Refused waves: all problems are reported, and nothing changes."""

import pytest

from operations.provisioning import switch_modules
from tests.cases import each_case
from tests.integration.entity_factories import picking
from tests.stack import Stack
from tests.tenant_cache import apply_now
from tests.warehouse_scenario import WarehouseScenario
from tests.wave_scenario import WaveScenario


@pytest.fixture
def wave_scenario(yard: WarehouseScenario) -> WaveScenario:
    """Pickings 1 to 3 of the warehouse YARD."""
    wave_scenario = WaveScenario(yard)
    wave_scenario.pickings(3)
    return wave_scenario


@each_case(
    ("body", "fields"),
    [
        ({}, ["picking_ids"]),
        ({"picking_ids": [1], "rule": {}}, ["picking_ids"]),
        ({"picking_ids": []}, ["picking_ids"]),
        ({"picking_ids": [1, 99, 2, 98]}, ["picking_ids.1", "picking_ids.3"]),
        ({"picking_ids": [0, "x", 99]}, ["picking_ids.0", "picking_ids.1", "picking_ids.2"]),
        ({"picking_ids": [1], "warehouse_code": "SHOP"}, ["picking_ids.0"]),
        ({"picking_ids": [1], "warehouse_code": "MOON"}, ["warehouse_code"]),
        ({"rule": {"priority": "urgent"}}, ["rule.priority"]),
        ({"rule": {}, "warehouse_code": "SHOP"}, ["rule"]),
        (
            {"picking_ids": [99], "strategy": "none", "warehouse_code": "MOON"},
            ["picking_ids.0", "strategy", "warehouse_code"],
        ),
    ],
)
def test_invalid_field_is_named(
    wave_scenario: WaveScenario, stack: Stack, body: dict[str, object], fields: list[str]
) -> None:
    with stack.unchanged():
        answer = wave_scenario.erp.post(
            "/waves", {"warehouse_code": "YARD", "strategy": "batch", **body}
        )

    assert sorted(answer.invalid_fields) == fields


def test_duplicate_picking_ids_count_once(wave_scenario: WaveScenario) -> None:
    created = wave_scenario.create([2, 1, 2]).data
    assert [order["picking_id"] for order in created["orders"]] == [2, 1]
    assert created["metrics"]["orders"] == 2


def test_picking_in_an_active_wave_is_refused(wave_scenario: WaveScenario, stack: Stack) -> None:
    first = wave_scenario.wave([1, 2])
    with stack.unchanged():
        second = wave_scenario.create([3, 2, 1])

    assert (second.status, second.code) == (409, "order_in_wave")
    for name in (f"PKG-2 is in WV-{first}", f"PKG-1 is in WV-{first}"):
        assert name in second.json()["message"]
    assert "PKG-3" not in second.json()["message"]
    wave_scenario.act(first, "cancel")
    again = wave_scenario.wave([3, 2, 1])
    assert wave_scenario.create([1]).json()["message"].startswith(f"PKG-1 is in WV-{again}")


def test_ended_picking_is_refused(wave_scenario: WaveScenario, stack: Stack) -> None:
    wave_scenario.yard.act(2, "cancel")
    with stack.unchanged():
        answer = wave_scenario.create([1, 2])

    assert (answer.status, answer.code) == (409, "stale_state")
    assert "PKG-2 is cancelled" in answer.json()["message"]


def test_picking_of_a_transfer_order_is_refused(wave_scenario: WaveScenario, stack: Stack) -> None:
    transfer = {
        "id": 5, "type": "transfer_order", "doc_num": "TO-5", "card_code": None,
        "external_ref": None,
    }  # fmt: skip
    number = picking(stack.store(), documents=[transfer], whs_code="YARD")

    answer = wave_scenario.create([1, number])

    assert (answer.status, answer.json()["error"]["field"]) == (422, "picking_ids.1")
    assert "TO-5" in answer.json()["message"]
    taken = wave_scenario.create(rule={}).data["orders"]
    assert [order["picking_id"] for order in taken] == [1, 2, 3]


def test_pickings_of_a_wave_need_no_module(wave_scenario: WaveScenario) -> None:
    wave_scenario.wave([1])
    apply_now(switch_modules, "acme", off=["waves"])
    assert wave_scenario.yard.act(1, "start").status == 200
