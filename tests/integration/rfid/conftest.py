import pytest

from tests.gateway import Erp
from tests.rfid_scenario import RfidScenario


@pytest.fixture
def gate(erp: Erp) -> RfidScenario:
    """The warehouse YARD, without stock, whose BRICK and DRILL have tags."""
    return RfidScenario(erp)
