import pytest

from tests.gateway import Erp
from tests.return_scenario import ReturnScenario


@pytest.fixture
def scenario(erp: Erp) -> ReturnScenario:
    """The warehouses YARD and SHOP, and an exit document of YARD that was dispatched."""
    return ReturnScenario(erp)
