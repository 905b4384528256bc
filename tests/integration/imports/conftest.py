import pytest

from tests.clock import Clock
from tests.import_scenario import ImportDesk
from tests.stack import Stack
from tests.warehouse_scenario import WarehouseScenario


@pytest.fixture(autouse=True)
def few_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """moto is slow, and only deletions and counts write and read all shards."""
    monkeypatch.setattr("shared.kernel.db.counters.SHARDS", 2)
    monkeypatch.setattr("shared.kernel.db.transaction.SHARDS", 2)


@pytest.fixture
def desk(stack: Stack, clock: Clock) -> ImportDesk:
    """acme's imports; time passes only when the test says so, or while the service waits."""
    del clock
    return ImportDesk(stack)


@pytest.fixture
def yard(desk: ImportDesk) -> WarehouseScenario:
    """The floor of acme, furnished: the warehouses YARD and SHOP."""
    return WarehouseScenario.furnished(desk.erp, "YARD", "SHOP")
