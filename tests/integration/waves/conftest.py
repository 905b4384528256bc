import pytest

from tests.gateway import Erp
from tests.warehouse_scenario import WarehouseScenario


@pytest.fixture
def yard(erp: Erp) -> WarehouseScenario:
    """The warehouses YARD and SHOP, with master data and without stock."""
    return WarehouseScenario.with_master_data(erp, "YARD", "SHOP")
