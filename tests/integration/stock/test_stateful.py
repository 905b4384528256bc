"""Thousands of things that happen on the floor, in any order, and the books are right each time."""

import os

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.clock import Clock
from tests.stack import Stack
from tests.stateful import WAREHOUSES, WarehouseMachine
from tests.warehouse_scenario import WarehouseScenario

_RUN = 50
"""Steps of one run, each of which begins on the same floor."""
_PARTS = 2
"""Tests that share the steps, so that two processors are busy."""


@pytest.mark.parametrize("part", range(_PARTS))
def test_whatever_happens_the_books_are_right(
    part: int, stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SOAK_STEPS is how many steps, SOAK_SEED where they begin."""
    assert clock
    for module in ("counters", "transaction"):
        monkeypatch.setattr(f"shared.kernel.db.{module}.SHARDS", 2)
    steps = int(os.environ.get("SOAK_STEPS", "300")) // _PARTS
    first = int(os.environ.get("SOAK_SEED", "0")) * _PARTS + part
    erp = stack.erp()
    WarehouseScenario.furnished(erp, *WAREHOUSES)
    WarehouseMachine.prepare(stack, erp)

    run_state_machine_as_test(
        seed(first)(WarehouseMachine),
        settings=settings(
            max_examples=-(-steps // _RUN),
            stateful_step_count=_RUN,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            print_blob=False,
        ),
    )

    assert WarehouseMachine.steps > steps / 3, "too often there was nothing to do"
