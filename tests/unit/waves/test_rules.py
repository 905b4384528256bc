"""Rules of waves: matching pickings, metrics and progress."""

from decimal import Decimal
from typing import Any

import pytest

from shared.kernel.validation import check, ensure_valid
from shared.warehouse.picking.models import PendingPicking, StoredPicking
from shared.warehouse.settings.values import Settings
from shared.warehouse.waves import rules
from shared.warehouse.waves.models import StoredWave, Strategy, WaveRule, WaveStatus
from shared.warehouse.work.models import WorkStatus
from tests.cases import each_case

AT = "2026-03-01T09:30:00.000Z"


def pending(number: int = 1, **facts: Any) -> PendingPicking:
    known = {"priority": None, "due_date": None, "carrier_code": None, "wave_id": None}
    return PendingPicking(id=number, **{**known, **facts})


def document(card_code: str, number: int) -> dict[str, Any]:
    return {
        "id": number, "type": "sale_order", "doc_num": f"EX-{number}", "card_code": card_code,
        "external_ref": None,
    }  # fmt: skip


def picking(number: int, qty: str = "2", **facts: Any) -> StoredPicking:
    line = {
        "document_id": number, "document_line": 1, "product_id": 1, "item_code": "BRICK",
        "qty": Decimal(qty), "picked_qty": 0, "status": "open",
    }  # fmt: skip
    head = {
        "id": number, "uuid": "u", "status": "pending", "whs_code": "CEN", "warehouse_id": 1,
        "documents": [document("C-1", number)], "lines": [line], "created_at": AT, "updated_at": AT,
    }  # fmt: skip
    return StoredPicking.model_validate({**head, **facts})


def wave(**facts: Any) -> StoredWave:
    head = {
        "id": 1, "strategy": "batch", "status": "released", "created_at": AT, "updated_at": AT,
        "picking_ids": [7, 8], "open_ids": [7, 8],
    }  # fmt: skip
    return StoredWave.model_validate({**head, **facts})


@each_case(
    ("rule", "facts", "taken"),
    [
        ({}, {}, True),
        ({"priority": 2}, {"priority": 1}, True),
        ({"priority": 2}, {"priority": 2}, True),
        ({"priority": 2}, {"priority": 3}, False),
        ({"priority": "Alta"}, {"priority": 1}, True),
        ({"priority": "high"}, {"priority": 2}, False),
        ({"priority": 2}, {"priority": None}, True),
        ({"priority": 1}, {"priority": None}, False),
        ({"carrier": "DHL"}, {"carrier_code": "DHL"}, True),
        ({"carrier": "DHL"}, {"carrier_code": "UPS"}, False),
        ({"carrier": "DHL"}, {"carrier_code": None}, True),
        ({"cutoff": "2026-03-02T15:00:00Z"}, {"due_date": "2026-03-01"}, True),
        ({"cutoff": "2026-03-02T15:00:00Z"}, {"due_date": "2026-03-02"}, True),
        ({"cutoff": "2026-03-02T15:00:00Z"}, {"due_date": "2026-03-03"}, False),
        ({"cutoff": "2026-03-02T23:30:00Z"}, {"due_date": "2026-03-03"}, True),
        ({"cutoff": "2026-03-02T15:00:00Z"}, {"due_date": None}, True),
        ({"priority": 2, "carrier": "DHL"}, {"priority": 1, "carrier_code": "UPS"}, False),
    ],
)
def test_rule_matches_pickings_that_match_all_of_its_fields(
    rule: dict[str, object], facts: dict[str, Any], *, taken: bool
) -> None:
    parsed = ensure_valid(check(WaveRule, rule))
    assert rules.matches(parsed, pending(**facts), "Europe/Madrid") is taken


def test_pickings_are_sorted_by_priority_and_age() -> None:
    found = [
        pending(1, priority=3),
        pending(2),
        pending(3, priority=1),
        pending(4, priority=2),
        pending(5, priority=1),
    ]
    assert [one.id for one in rules.by_priority(found)] == [3, 5, 2, 4, 1]
    pickings = [picking(1, priority=3), picking(2), picking(3, priority=1)]
    assert [one.id for one in rules.by_priority(pickings)] == [3, 2, 1]


@pytest.mark.parametrize(
    ("strategy", "pickings", "trips"),
    [
        ("discrete", 21, 21),
        ("cluster", 8, 1),
        ("cluster", 9, 2),
        ("pick_and_pass", 17, 3),
        ("batch", 20, 1),
        ("batch", 21, 2),
        ("zone", 41, 3),
        ("by_customer", 21, 1),
    ],
)
def test_number_of_trips_depends_on_the_strategy(
    strategy: Strategy, pickings: int, trips: int
) -> None:
    found = [picking(number, "0.5") for number in range(1, pickings + 1)]
    settings = Settings(minutes_per_unit=Decimal(3), minutes_per_trip=Decimal(7))

    metrics = rules.metrics_of(strategy, found, settings)

    units = Decimal(pickings) / 2
    assert metrics.orders == metrics.lines == pickings
    assert metrics.units == units
    assert metrics.trips == trips
    assert metrics.standard_minutes == 3 * units + 7 * trips


def test_picking_for_several_customers_is_a_trip_of_its_own() -> None:
    found = [
        picking(1, documents=[document("C-1", 1)]),
        picking(2, documents=[document("C-1", 2), document("C-1", 3)]),
        picking(3, documents=[document("C-2", 4)]),
        picking(4, documents=[document("C-1", 5), document("C-2", 6)]),
        picking(5, documents=[document("C-1", 7), document("C-2", 8)]),
    ]
    assert rules.metrics_of("by_customer", found, Settings()).trips == 4


def test_metrics_count_units_with_and_without_stock() -> None:
    allocation = {"stock_id": 1, "position_id": 1, "bin_code": "A", "qty": 3}
    line = picking(1, "5").lines[0].model_dump()
    half = picking(1, lines=[{**line, "allocations": [allocation]}])
    picked = picking(2, lines=[{**line, "picked_qty": 4}], status="finalized")

    metrics = rules.with_allocation(wave().metrics, [half, picked, picking(3, "6")])

    assert metrics.allocated_units == 7
    assert metrics.short_units == 8


@pytest.mark.parametrize(
    ("before", "number", "status", "expected"),
    [
        ("released", 7, "started", ("in_progress", [7, 8], True, 0)),
        ("released", 7, "cancelled", ("released", [8], False, 1)),
        ("in_progress", 7, "finalized", ("in_progress", [8], True, 1)),
        ("draft", 7, "started", ("draft", [7, 8], True, 0)),
        ("planned", 8, "cancelled", ("planned", [7], False, 1)),
        ("cancelled", 7, "started", None),
        ("cancelled", 7, "finalized", None),
        ("released", 9, "cancelled", None),
    ],
)
def test_status_of_a_wave_follows_its_pickings(
    before: WaveStatus,
    number: int,
    status: WorkStatus,
    expected: tuple[WaveStatus, list[int], bool, int] | None,
) -> None:
    found = wave(status=before, begun=before == "in_progress")

    after = rules.with_picking_status(found, number, status)

    if expected is None:
        assert after == found
    else:
        ended = int(after.metrics.ended_orders)
        assert (after.status, after.open_ids, after.begun, ended) == expected


@pytest.mark.parametrize("begun", [False, True])
def test_wave_is_picked_when_its_last_picking_ends(*, begun: bool) -> None:
    found = wave(open_ids=[8], begun=begun, status="in_progress" if begun else "released")
    assert rules.with_picking_status(found, 8, "cancelled").status == "picked"
    early = wave(open_ids=[8], status="planned")
    assert rules.with_picking_status(early, 8, "cancelled").status == "planned"
    assert rules.status_from_pickings(rules.with_picking_status(early, 8, "cancelled")) == "picked"


def test_second_started_picking_changes_nothing() -> None:
    found = wave(status="in_progress", begun=True)
    assert rules.with_picking_status(found, 8, "started") is found


def test_wave_and_pickings_read_at_different_times_are_inconsistent() -> None:
    started = picking(7, status="started", started_at=AT)
    ended = picking(8, status="finalized", started_at=AT)
    assert rules.is_consistent(wave(), [picking(7), picking(8)])
    assert not rules.is_consistent(wave(), [started, picking(8)])
    one_ended = wave(status="in_progress", begun=True, metrics={"ended_orders": 1})
    assert rules.is_consistent(one_ended, [started, ended])
    assert not rules.is_consistent(one_ended, [ended, ended])
    assert rules.is_consistent(wave(status="cancelled"), [ended, ended])
