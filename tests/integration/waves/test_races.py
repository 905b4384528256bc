"""Concurrent actions on waves and their pickings."""

from collections import Counter
from functools import partial

import pytest

from shared.kernel.db import steps
from tests.concurrency import at_once
from tests.faults import AwsFaults
from tests.integration.stored_entities import assert_counters_match, read_stored_entities
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.warehouse_scenario import WarehouseScenario
from tests.wave_scenario import WaveScenario


@pytest.fixture
def wave_scenario(yard: WarehouseScenario, aws_faults: AwsFaults) -> WaveScenario:
    """Eight pickings of bricks in stock; AWS calls are delayed, so that requests overlap."""
    wave_scenario = WaveScenario.with_pickings(yard, 8)
    aws_faults.latency = 0.005
    return wave_scenario


def _assert_consistent(stack: Stack) -> None:
    assert_counters_match(stack, read_stored_entities(stack))
    assert_invariants(stack.store())


def test_concurrent_large_waves_do_not_share_pickings(
    wave_scenario: WaveScenario, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "STEP_ACTIONS", 1)

    answers = at_once(
        lambda: wave_scenario.create([1, 2, 3, 4, 5]),
        lambda: wave_scenario.create([8, 7, 6, 5, 4]),
        lambda: wave_scenario.create([5, 8, 1]),
    )

    states = Counter(answer.status for answer in answers)
    assert states[201] == 1
    assert states[409] + states[503] == 2
    assert len(wave_scenario.erp.walk("/waves")) == 1
    _assert_consistent(stack)


def test_concurrent_rules_share_the_pickings(wave_scenario: WaveScenario, stack: Stack) -> None:
    answers = at_once(*[lambda: wave_scenario.create(rule={"max_orders": 3})] * 3)

    made = [answer.data for answer in answers if answer.status == 201]
    taken = [order["picking_id"] for wave in made for order in wave["orders"]]
    assert [answer.status for answer in answers] == [201] * 3
    assert sorted(taken) == list(range(1, 9))
    _assert_consistent(stack)


def test_wave_counts_all_concurrent_changes_of_its_pickings(
    wave_scenario: WaveScenario, stack: Stack
) -> None:
    number = wave_scenario.wave(range(1, 9), "plan", "release")

    started = at_once(*(partial(wave_scenario.yard.act, one, "start") for one in range(1, 9)))
    assert {answer.status for answer in started} == {200}
    assert wave_scenario.status(number) == "in_progress"
    ended = at_once(*(partial(wave_scenario.yard.act, one, "cancel") for one in range(1, 9)))

    assert {answer.status for answer in ended} == {200}
    shown = wave_scenario.shown(number)
    assert (shown["status"], shown["metrics"]["orders"]) == ("picked", 0)
    _assert_consistent(stack)


def test_cancel_racing_with_release_ends_cancelled(
    wave_scenario: WaveScenario, stack: Stack
) -> None:
    number = wave_scenario.wave(range(1, 9), "plan")

    released, cancelled = at_once(
        lambda: wave_scenario.act(number, "release"),
        lambda: wave_scenario.act(number, "cancel"),
    )

    # The wave is cancelled before the release, which is then refused, or after it.
    assert cancelled.status == 200
    assert released.status in {200, 409}
    assert wave_scenario.status(number) == "cancelled"
    assert wave_scenario.create(range(1, 9)).status == 201
    _assert_consistent(stack)
