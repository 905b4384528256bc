"""The life cycle of waves, from draft to closed or cancelled."""

from decimal import Decimal
from typing import Any

import pytest

from operations.verify import verify_tenant
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.warehouse_scenario import WarehouseScenario
from tests.wave_scenario import WaveScenario


@pytest.fixture
def wave_scenario(yard: WarehouseScenario) -> WaveScenario:
    """Ten bricks in stock, nothing of it allocated."""
    yard.stock("BRICK", 10)
    return WaveScenario(yard)


def _wave_events(stack: Stack) -> list[str]:
    kinds = [event["type"]["S"] for event in stack.events()]
    return [kind for kind in kinds if kind.startswith("wave.")]


def test_ten_orders_are_picked_in_one_wave(wave_scenario: WaveScenario, stack: Stack) -> None:
    wave_scenario.yard.change_settings(
        minutes_per_unit=Decimal("0.25"), minutes_per_trip=Decimal(6)
    )
    ids = wave_scenario.pickings(10)

    created = wave_scenario.create(
        ids, strategy="cluster", carrier_code="DHL", cutoff_at="2026-03-02T16:00:00+01:00"
    )

    number = created.data["id"]
    assert created.status == 201
    assert created.headers["Location"].endswith(f"/api/v1/waves/{number}")
    assert created.data == wave_scenario.erp.get(f"/waves/{number}").data
    facts = ("code", "warehouse_code", "strategy", "status", "carrier_code", "cutoff_at")
    assert [created.data[name] for name in facts] == [
        f"WV-{number}", "YARD", "cluster", "draft", "DHL", "2026-03-02T15:00:00.000Z",
    ]  # fmt: skip
    assert created.data["released_at"] is None
    size = {
        "orders": 10, "lines": 10, "units": 10, "trips": 2, "standard_minutes": 14.5,
        "ended_orders": 0,
    }  # fmt: skip
    unknown = {"allocated_units": None, "short_units": None}
    assert created.data["metrics"] == size | unknown
    assert created.data["orders"] == [{"picking_id": one, "status": "pending"} for one in ids]
    assert wave_scenario.act(number, "plan").data["status"] == "planned"
    assert wave_scenario.yard.level("BRICK") == (10, 0, 10)

    released = wave_scenario.act(number, "release").data

    assert (released["status"], released["released_at"]) == ("released", released["updated_at"])
    assert released["metrics"] == size | {"allocated_units": 10, "short_units": 0}
    assert wave_scenario.yard.level("BRICK") == (10, 10, 0)
    started = wave_scenario.yard.act(ids[3], "start").data
    begun = wave_scenario.shown(number)
    assert (begun["status"], begun["updated_at"]) == ("in_progress", started["started_at"])
    assert [order["status"] for order in begun["orders"]] == [
        "started" if one == ids[3] else "pending" for one in ids
    ]
    wave_scenario.yard.act(ids[3], "cancel")
    for one in ids[:3] + ids[4:9]:
        wave_scenario.work(one)
    almost = wave_scenario.shown(number)
    assert (almost["status"], almost["metrics"]["ended_orders"]) == ("in_progress", 8)
    assert wave_scenario.act(number, "complete").code == "conflict"
    wave_scenario.work(ids[9])
    assert wave_scenario.status(number) == "picked"
    wave_scenario.yard.act(ids[0], "synchronize")
    wave_scenario.yard.act(ids[1], "revert")
    states = [order["status"] for order in wave_scenario.shown(number)["orders"]]
    assert states == ["synchronized", "reverted", "finalized", "cancelled"] + ["finalized"] * 6
    assert wave_scenario.act(number, "complete").data["status"] == "completed"
    assert wave_scenario.status(number) == "completed"
    assert wave_scenario.act(number, "close").data["status"] == "closed"
    assert wave_scenario.status(number) == "closed"
    assert _wave_events(stack) == ["wave.planned", "wave.released", "wave.completed"]
    assert_invariants(stack.store())


def test_most_urgent_picking_gets_stock_and_shortage_is_reported(
    wave_scenario: WaveScenario, stack: Stack
) -> None:
    late, soon = wave_scenario.pickings(6, priority=3), wave_scenario.pickings(6, priority=1)
    number = wave_scenario.wave(late + soon, "plan")

    metrics = wave_scenario.act(number, "release").data["metrics"]

    assert (metrics["allocated_units"], metrics["short_units"]) == (10, 2)
    places = {
        one: wave_scenario.erp.get(f"/pickings/{one}").data["lines"][0]["bin_code"] for one in late
    }
    assert places == {one: "A-01" if at < 4 else None for at, one in enumerate(late)}
    assert_invariants(stack.store())


def test_release_keeps_existing_allocations(wave_scenario: WaveScenario, stack: Stack) -> None:
    ids = wave_scenario.pickings(3, allocate=True)
    number = wave_scenario.wave(ids, "plan")
    seen = len(stack.events())

    metrics = wave_scenario.act(number, "release").data["metrics"]

    assert (metrics["allocated_units"], metrics["short_units"]) == (3, 0)
    assert [event["type"]["S"] for event in stack.events()[seen:]] == ["wave.released"]


def test_pickings_started_or_ended_before_release_count(wave_scenario: WaveScenario) -> None:
    ids = wave_scenario.pickings(4)
    wave_scenario.yard.act(ids[0], "start")
    begun = wave_scenario.wave(ids[:2])
    assert wave_scenario.status(begun) == "draft"
    wave_scenario.act(begun, "plan")
    assert wave_scenario.act(begun, "release").data["status"] == "in_progress"

    ended = wave_scenario.wave(ids[2:], "plan")
    for one in ids[2:]:
        wave_scenario.yard.act(one, "cancel")
    assert wave_scenario.shown(ended)["metrics"]["ended_orders"] == 0
    assert wave_scenario.act(ended, "release").data["status"] == "picked"
    assert wave_scenario.status(ended) == "picked"


@pytest.mark.usefixtures("clock")
def test_cancelled_pickings_leave_the_metrics_of_their_wave(
    wave_scenario: WaveScenario, stack: Stack
) -> None:
    yard = wave_scenario.yard
    yard.stock("BRICK", 12)
    orders = [yard.order(("BRICK", qty)) for qty in (1, 2, 4)]
    other = yard.order(("BRICK", 5), head={"partner_code": "C-2"})
    ids = [yard.picking(order)["id"] for order in (*orders, other)]
    number = wave_scenario.wave(ids, "plan", "release", strategy="by_customer")
    before = wave_scenario.shown(number)["metrics"]
    assert before == {
        "orders": 4, "lines": 4, "units": 12, "trips": 2, "standard_minutes": 16,
        "ended_orders": 0, "allocated_units": 12, "short_units": 0,
    }  # fmt: skip

    yard.act(ids[1], "cancel").ok()

    shown = wave_scenario.shown(number)
    left = {"orders": 3, "lines": 3, "units": 10, "standard_minutes": 15}
    assert shown["metrics"] == before | left
    assert {"picking_id": ids[1], "status": "cancelled"} in shown["orders"]
    yard.change_settings(minutes_per_unit=Decimal(1), minutes_per_trip=Decimal(2))
    yard.act(ids[3], "cancel").ok()
    left = {"orders": 2, "lines": 2, "units": 5, "trips": 1, "standard_minutes": 7}
    assert wave_scenario.shown(number)["metrics"] == before | left
    for one in (ids[0], ids[2]):
        yard.act(one, "start").ok()
    yard.act(ids[0], "finalize", shortage_reason="other").ok()
    yard.act(ids[2], "cancel").ok()
    left = {"orders": 1, "lines": 1, "units": 1, "standard_minutes": 3, "ended_orders": 1}
    shown = wave_scenario.shown(number)
    assert (shown["status"], shown["metrics"]) == ("picked", before | {"trips": 1} | left)
    drifts = verify_tenant("acme").listed
    assert not [one for one in drifts if one.kind.startswith("wave")]
    assert_invariants(stack.store())


@pytest.mark.parametrize("acts", [(), ("plan",), ("plan", "release"), ("plan", "release", "start")])
def test_pickings_of_a_cancelled_wave_can_join_another(
    wave_scenario: WaveScenario, stack: Stack, acts: tuple[str, ...]
) -> None:
    ids = wave_scenario.pickings(3)
    number = wave_scenario.wave(ids, *(act for act in acts if act != "start"))
    if "start" in acts:
        wave_scenario.yard.act(ids[0], "start")

    cancelled = wave_scenario.act(number, "cancel")

    assert (cancelled.status, cancelled.data["status"]) == (200, "cancelled")
    assert _wave_events(stack)[-1] == "wave.cancelled"
    named = wave_scenario.wave(ids)
    assert wave_scenario.erp.get(f"/waves/{named}").data["metrics"]["orders"] == 3
    wave_scenario.act(named, "cancel")
    by_rule = wave_scenario.create(rule={})
    expected = ids[1:] if "start" in acts else ids
    assert [order["picking_id"] for order in by_rule.data["orders"]] == expected
    for one in ids:
        assert wave_scenario.yard.act(one, "cancel").status == 200
    assert wave_scenario.status(number) == "cancelled"
    assert wave_scenario.shown(number)["metrics"]["ended_orders"] == 0
    assert_invariants(stack.store())


def _due(wave_scenario: WaveScenario, day: str | None, **more: Any) -> int:
    order = wave_scenario.yard.order(("BRICK", 1), head={"due_date": day})
    number: int = wave_scenario.yard.picking(order, allocate=False, **more)["id"]
    return number


def test_rule_finds_pending_pickings_of_the_warehouse(wave_scenario: WaveScenario) -> None:
    in_wave, started, cancelled = wave_scenario.pickings(3)
    wave_scenario.wave([in_wave])
    wave_scenario.yard.act(started, "start")
    wave_scenario.yard.act(cancelled, "cancel")
    normal = _due(wave_scenario, "2026-03-02")
    urgent = _due(wave_scenario, None, priority=1)
    later = _due(wave_scenario, "2026-03-04")
    for_ups = _due(wave_scenario, "2026-03-01", carrier_code="UPS")
    for_dhl = _due(wave_scenario, "2026-03-01", carrier_code="DHL", priority=3)

    def taken(**rule: object) -> list[int]:
        answer = wave_scenario.create(rule=rule).ok(201)
        wave_scenario.act(answer["id"], "cancel")
        return [order["picking_id"] for order in answer["orders"]]

    assert taken() == [urgent, normal, later, for_ups, for_dhl]
    assert taken(max_orders=2) == [urgent, normal]
    assert taken(priority=1) == [urgent]
    assert taken(priority="Normal") == [urgent, normal, later, for_ups]
    assert taken(carrier="DHL") == [urgent, normal, later, for_dhl]
    assert taken(cutoff="2026-03-02T15:00:00Z", carrier="DHL") == [urgent, normal, for_dhl]

    of_rule = wave_scenario.create(rule={"cutoff": "2026-03-02T15:00:00Z", "carrier": "DHL"}).data
    assert (of_rule["carrier_code"], of_rule["cutoff_at"]) == ("DHL", "2026-03-02T15:00:00.000Z")
    rest = wave_scenario.create(rule={"carrier": "UPS"}, carrier_code="DPD").data
    assert [order["picking_id"] for order in rest["orders"]] == [later, for_ups]
    assert rest["carrier_code"] == "DPD"
    nothing = wave_scenario.create(rule={})
    assert (nothing.status, nothing.json()["error"]["field"]) == (422, "rule")
