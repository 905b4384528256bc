"""More pickings than one transaction takes: a wave comes about as a whole, or not at all."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from shared.kernel.db import steps
from tests.clock import Clock
from tests.faults import Answer, AwsFaults, Call, Fault, Forward, Killed
from tests.stack import Stack
from tests.stock_invariants import prove
from tests.warehouse_scenario import WarehouseScenario
from tests.wave_scenario import WaveScenario

_A_DEATH_AGO = 61
_FORMING = "forming_wave#"
ALL = [5, 1, 7, 3, 2, 6, 4]


@pytest.fixture
def wave_scenario(yard: WarehouseScenario, monkeypatch: pytest.MonkeyPatch) -> WaveScenario:
    """Seven pickings, of which one transaction takes two."""
    monkeypatch.setattr(steps, "STEP_ACTIONS", 3)
    yard.stock("BRICK", 7)
    wave_scenario = WaveScenario(yard)
    wave_scenario.pickings(7)
    return wave_scenario


def _forming(stack: Stack) -> list[str]:
    return [item["PK"]["S"] for item in stack.items() if item["PK"]["S"].startswith(_FORMING)]


def before_transaction(number: int, what: Callable[[], object]) -> Fault:
    """Let something happen before a transaction, the first one being 1, and go on."""
    count = 0

    def fault(call: Call, forward: Forward) -> Answer:
        nonlocal count
        if call.operation == "TransactWriteItems":
            count += 1
            if count == number:
                what()
        return forward()

    return fault


# Transactions of a wave of seven: its beginning, four steps, its end.
_BEGIN, _SECOND_STEP, _END = 1, 3, 6


def _die() -> None:
    raise Killed


def test_it_comes_about_as_a_whole(wave_scenario: WaveScenario, stack: Stack) -> None:
    number = wave_scenario.wave(ALL, "plan", "release")

    shown = wave_scenario.shown(number)
    assert [order["picking_id"] for order in shown["orders"]] == ALL
    assert shown["metrics"]["allocated_units"] == 7
    assert _forming(stack) == []
    for one in ALL:
        wave_scenario.work(one)
    assert wave_scenario.status(number) == "picked"
    prove(stack.store())


def test_a_rule_may_find_as_many(wave_scenario: WaveScenario) -> None:
    orders = wave_scenario.create(rule={}).data["orders"]
    assert [order["picking_id"] for order in orders] == sorted(ALL)


@pytest.mark.parametrize("at", range(_BEGIN, _END + 1))
def test_whoever_dies_on_the_way_leaves_no_wave_and_holds_nothing_for_long(
    wave_scenario: WaveScenario, stack: Stack, aws_faults: AwsFaults, clock: Clock, at: int
) -> None:
    with suppress(Killed), aws_faults.faulty(before_transaction(at, _die)):
        wave_scenario.create(ALL)

    assert wave_scenario.erp.walk("/waves") == []
    assert wave_scenario.erp.get("/waves/1").code == "not_found"
    assert wave_scenario.yard.act(7, "start").status == 200
    clock.advance(_A_DEATH_AGO)
    number = wave_scenario.wave(ALL)
    assert len(_forming(stack)) <= 1, "only one whose pickings nobody has taken yet may be left"
    assert wave_scenario.create([7]).code == "order_in_wave"
    assert wave_scenario.act(number, "plan").status == 200


def test_who_wants_the_same_meanwhile_is_told_to_come_back(
    wave_scenario: WaveScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    assert clock
    with suppress(Killed), aws_faults.faulty(before_transaction(_END, _die)):
        wave_scenario.create(ALL)

    for ids in ([4], ALL):
        refused = wave_scenario.create(ids)
        assert (refused.status, refused.code) == (503, "service_unavailable")
        assert 1 <= int(refused.headers["Retry-After"]) <= 31


@pytest.mark.parametrize(
    ("what", "at"),
    [("start", _SECOND_STEP), ("start", _END), ("cancel", _SECOND_STEP), ("cancel", _END - 1)],
)
def test_a_picking_that_goes_on_meanwhile_is_not_missed(
    wave_scenario: WaveScenario, stack: Stack, aws_faults: AwsFaults, at: int, what: str
) -> None:
    # Picking 1 has been taken by the first step.
    go_on = before_transaction(
        at, lambda: _quietly(aws_faults, lambda: wave_scenario.yard.act(1, what))
    )
    with aws_faults.faulty(go_on):
        created = wave_scenario.create(ALL)

    assert created.status == 201
    number = created.data["id"]
    state = {"start": "started", "cancel": "cancelled"}[what]
    assert {"picking_id": 1, "status": state} in wave_scenario.shown(number)["orders"]
    assert wave_scenario.shown(number)["metrics"]["ended_orders"] == (what == "cancel")
    wave_scenario.act(number, "plan")
    released = wave_scenario.act(number, "release").data["status"]
    assert released == {"start": "in_progress", "cancel": "released"}[what]
    assert _forming(stack) == []
    prove(stack.store())


def test_a_picking_that_ends_before_there_is_a_wave_is_in_none(
    wave_scenario: WaveScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    end = before_transaction(
        _END, lambda: _quietly(aws_faults, lambda: wave_scenario.yard.act(1, "cancel"))
    )
    with aws_faults.faulty(end):
        refused = wave_scenario.create(ALL)

    assert (refused.status, refused.code) == (409, "conflict")
    assert "PKG-1 is cancelled" in refused.json()["message"]
    assert wave_scenario.erp.walk("/waves") == []
    clock.advance(_A_DEATH_AGO)
    assert wave_scenario.create([2, 3, 4, 5, 6, 7]).status == 201


def test_what_another_takes_meanwhile_ends_it_and_frees_the_rest(
    wave_scenario: WaveScenario, stack: Stack, aws_faults: AwsFaults
) -> None:
    take = before_transaction(
        _SECOND_STEP, lambda: _quietly(aws_faults, lambda: wave_scenario.wave([7]))
    )
    with aws_faults.faulty(take):
        refused = wave_scenario.create(ALL)

    assert (refused.status, refused.code) == (409, "order_in_wave")
    assert "PKG-7" in refused.json()["message"]
    assert _forming(stack) == []
    assert wave_scenario.create([1, 2, 3, 4, 5, 6]).status == 201


def test_who_was_thought_dead_finds_the_pickings_taken(
    wave_scenario: WaveScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    def overtake() -> None:
        clock.advance(_A_DEATH_AGO)
        _quietly(aws_faults, lambda: wave_scenario.wave([1, 7]))

    with aws_faults.faulty(before_transaction(_END, overtake)):
        refused = wave_scenario.create(ALL)

    assert refused.status in {409, 503}
    assert [wave["metrics"]["orders"] for wave in wave_scenario.erp.walk("/waves")] == [2]
    clock.advance(_A_DEATH_AGO)
    assert wave_scenario.create([2, 3, 4, 5, 6]).status == 201
    assert wave_scenario.create([7]).code == "order_in_wave"


def _quietly(aws_faults: AwsFaults, what: Callable[[], object]) -> None:
    """Do something else, whose own calls nothing happens to."""
    with aws_faults.faulty(lambda _call, forward: forward()):
        what()
