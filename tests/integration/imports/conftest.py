import pytest

from tests.clock import Clock
from tests.import_scenario import ImportScenario
from tests.stack import Stack
from tests.warehouse_scenario import WarehouseScenario


@pytest.fixture
def scenario(stack: Stack, clock: Clock) -> ImportScenario:
    """Imports of acme. Time passes only when the test advances the clock or the service waits."""
    del clock
    return ImportScenario(stack)


@pytest.fixture
def yard_with_returns(scenario: ImportScenario) -> WarehouseScenario:
    """The master data of acme, with the warehouses YARD and SHOP; it allows blind returns."""
    yard = WarehouseScenario.with_master_data(scenario.erp, "YARD", "SHOP")
    yard.change_settings(blind_returns=True)
    return yard
