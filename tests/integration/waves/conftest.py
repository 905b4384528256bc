import pytest

from tests.gateway import Erp
from tests.warehouse_scenario import WarehouseScenario


@pytest.fixture
def yard(erp: Erp) -> WarehouseScenario:
    """The warehouses YARD and SHOP, furnished and empty."""
    return WarehouseScenario.furnished(erp, "YARD", "SHOP")
