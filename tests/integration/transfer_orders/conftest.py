import pytest

from tests.gateway import Erp
from tests.transfer_scenario import TransferScenario


@pytest.fixture
def transfer_scenario(erp: Erp) -> TransferScenario:
    """The warehouses YARD and SHOP, with master data and without stock."""
    return TransferScenario(erp)
