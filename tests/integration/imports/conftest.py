import pytest

from tests.clock import Clock
from tests.import_scenario import ImportScenario
from tests.stack import Stack
from tests.warehouse_scenario import WarehouseScenario


@pytest.fixture(autouse=True)
def few_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use two shards: moto is slow, and only deletions and counts write and read all shards."""
    monkeypatch.setattr("shared.kernel.db.counters.SHARDS", 2)


@pytest.fixture
def scenario(stack: Stack, clock: Clock) -> ImportScenario:
    """Imports of acme. Time passes only when the test advances the clock or the service waits."""
    del clock
    return ImportScenario(stack)


@pytest.fixture
def yard(scenario: ImportScenario) -> WarehouseScenario:
    """The master data of acme, with the warehouses YARD and SHOP."""
    return WarehouseScenario.with_master_data(scenario.erp, "YARD", "SHOP")
