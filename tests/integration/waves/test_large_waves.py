"""Waves of more pickings than one transaction holds are created completely or not at all."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from shared.kernel.db import steps
from tests.clock import Clock
from tests.faults import AwsFaults, Fault, Killed
from tests.integration.call_faults import at_calls, die
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.warehouse_scenario import WarehouseScenario
from tests.wave_scenario import WaveScenario

_PENDING_TIMEOUT = 61
_PENDING_PREFIX = "pending_wave#"
ALL = [5, 1, 7, 3, 2, 6, 4]


@pytest.fixture
def wave_scenario(yard: WarehouseScenario, monkeypatch: pytest.MonkeyPatch) -> WaveScenario:
    """Seven pickings, of which a step assigns two."""
    monkeypatch.setattr(steps, "STEP_ACTIONS", 3)
    return WaveScenario.with_pickings(yard, 7)


def _pending_waves(stack: Stack) -> list[str]:
    return [
        item["PK"]["S"] for item in stack.items() if item["PK"]["S"].startswith(_PENDING_PREFIX)
    ]


def before_transaction(number: int, what: Callable[[], object]) -> Fault:
    """Return a fault that calls `what` before a transaction; the first one has number 1."""
    return at_calls("TransactWriteItems", [number - 1], before=what)


# Transactions of a wave of seven: the pending wave, four steps, and the wave.
_INSERT_PENDING, _SECOND_STEP, _COMPLETE = 1, 3, 6


def test_large_wave_is_created_and_worked(wave_scenario: WaveScenario, stack: Stack) -> None:
    number = wave_scenario.wave(ALL, "plan", "release")

    shown = wave_scenario.shown(number)
    assert [order["picking_id"] for order in shown["orders"]] == ALL
    assert shown["metrics"]["allocated_units"] == 7
    assert _pending_waves(stack) == []
    for one in ALL:
        wave_scenario.work(one)
    assert wave_scenario.status(number) == "picked"
    assert_invariants(stack.store())


def test_rule_finds_more_pickings_than_one_transaction_holds(wave_scenario: WaveScenario) -> None:
    orders = wave_scenario.create(rule={}).data["orders"]
    assert [order["picking_id"] for order in orders] == sorted(ALL)


@pytest.mark.parametrize("at", range(_INSERT_PENDING, _COMPLETE + 1))
def test_interrupted_creation_leaves_no_wave_and_expires(
    wave_scenario: WaveScenario, stack: Stack, aws_faults: AwsFaults, clock: Clock, at: int
) -> None:
    with suppress(Killed), aws_faults.faulty(before_transaction(at, die)):
        wave_scenario.create(ALL)

    assert wave_scenario.erp.walk("/waves") == []
    assert wave_scenario.erp.get("/waves/1").code == "not_found"
    assert wave_scenario.yard.act(7, "start").status == 200
    clock.advance(_PENDING_TIMEOUT)
    number = wave_scenario.wave(ALL)
    assert len(_pending_waves(stack)) <= 1, "a pending wave without pickings may be left"
    assert wave_scenario.create([7]).code == "order_in_wave"
    assert wave_scenario.act(number, "plan").status == 200


def test_request_for_pickings_of_a_pending_wave_gets_retry_after(
    wave_scenario: WaveScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    assert clock
    with suppress(Killed), aws_faults.faulty(before_transaction(_COMPLETE, die)):
        wave_scenario.create(ALL)

    for ids in ([4], ALL):
        refused = wave_scenario.create(ids)
        assert (refused.status, refused.code) == (503, "service_unavailable")
        assert 1 <= int(refused.headers["Retry-After"]) <= 31


@pytest.mark.parametrize(
    ("what", "at"),
    [
        ("start", _SECOND_STEP),
        ("start", _COMPLETE),
        ("cancel", _SECOND_STEP),
        ("cancel", _COMPLETE - 1),
    ],
)
def test_picking_changed_while_the_wave_is_pending_is_counted(
    wave_scenario: WaveScenario, stack: Stack, aws_faults: AwsFaults, at: int, what: str
) -> None:
    # The first step has assigned picking 1.
    fault = before_transaction(at, lambda: wave_scenario.yard.act(1, what))
    with aws_faults.faulty(fault):
        created = wave_scenario.create(ALL)

    assert created.status == 201
    number = created.data["id"]
    state = {"start": "started", "cancel": "cancelled"}[what]
    assert {"picking_id": 1, "status": state} in wave_scenario.shown(number)["orders"]
    metrics = wave_scenario.shown(number)["metrics"]
    orders = len(ALL) - (what == "cancel")
    assert (metrics["orders"], metrics["ended_orders"]) == (orders, 0)
    wave_scenario.act(number, "plan")
    released = wave_scenario.act(number, "release").data["status"]
    assert released == {"start": "in_progress", "cancel": "released"}[what]
    assert _pending_waves(stack) == []
    assert_invariants(stack.store())


def test_picking_that_ends_while_the_wave_is_pending_refuses_it(
    wave_scenario: WaveScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    end = before_transaction(_COMPLETE, lambda: wave_scenario.yard.act(1, "cancel"))
    with aws_faults.faulty(end):
        refused = wave_scenario.create(ALL)

    assert (refused.status, refused.code) == (409, "stale_state")
    assert "PKG-1 is cancelled" in refused.json()["message"]
    assert wave_scenario.erp.walk("/waves") == []
    clock.advance(_PENDING_TIMEOUT)
    assert wave_scenario.create([2, 3, 4, 5, 6, 7]).status == 201


def test_picking_assigned_elsewhere_meanwhile_refuses_the_wave(
    wave_scenario: WaveScenario, stack: Stack, aws_faults: AwsFaults
) -> None:
    take = before_transaction(_SECOND_STEP, lambda: wave_scenario.wave([7]))
    with aws_faults.faulty(take):
        refused = wave_scenario.create(ALL)

    assert (refused.status, refused.code) == (409, "order_in_wave")
    assert "PKG-7" in refused.json()["message"]
    assert _pending_waves(stack) == []
    assert wave_scenario.create([1, 2, 3, 4, 5, 6]).status == 201


def test_expired_attempt_finds_its_pickings_assigned(
    wave_scenario: WaveScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    def overtake() -> None:
        clock.advance(_PENDING_TIMEOUT)
        wave_scenario.wave([1, 7])

    with aws_faults.faulty(before_transaction(_COMPLETE, overtake)):
        refused = wave_scenario.create(ALL)

    assert refused.status in {409, 503}
    assert [wave["metrics"]["orders"] for wave in wave_scenario.erp.walk("/waves")] == [2]
    clock.advance(_PENDING_TIMEOUT)
    assert wave_scenario.create([2, 3, 4, 5, 6]).status == 201
    assert wave_scenario.create([7]).code == "order_in_wave"
