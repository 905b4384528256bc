"""Random sequences of warehouse operations keep the stored state equal to the model."""

import os

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.clock import Clock
from tests.sampling import is_complete
from tests.stack import Stack
from tests.stateful import WAREHOUSES, WarehouseMachine
from tests.stateful.machine import GTINS, PIECE
from tests.warehouse_scenario import WarehouseScenario

_RUN = 50
"""Steps of one run; every run starts from the same state."""
_PARTS = 2
"""Number of tests that the steps are split into, so that they run in parallel."""


@pytest.mark.parametrize("part", range(_PARTS))
def test_stored_state_matches_the_model_after_every_operation(
    part: int, stack: Stack, clock: Clock
) -> None:
    """Run RANDOM_STEPS steps (by default 200, in a complete run 300) from the seed RANDOM_SEED."""
    assert clock
    steps = int(os.environ.get("RANDOM_STEPS", "300" if is_complete() else "200")) // _PARTS
    first = int(os.environ.get("RANDOM_SEED", "0")) * _PARTS + part
    erp = stack.erp()
    WarehouseScenario.with_master_data(erp, *WAREHOUSES)
    for number, (gtin, units) in enumerate(GTINS.values(), 1):
        body = {"gtins": [{"gtin": gtin, "units": units}, *([{"gtin": PIECE}] * (number == 1))]}
        assert erp.put(f"/products/{number}/packaging", body).status == 200
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

    assert WarehouseMachine.steps > steps / 3, "most steps had no effect"
