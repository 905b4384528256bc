import pytest

from tests.gateway import Erp
from tests.receiving_scenario import ReceivingScenario


@pytest.fixture
def receiving_scenario(erp: Erp) -> ReceivingScenario:
    """The warehouses YARD and SHOP, with master data and without stock; YARD receives."""
    return ReceivingScenario(erp)
