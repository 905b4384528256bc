import pytest

from tests.gateway import Erp
from tests.packing_scenario import PackingScenario


@pytest.fixture
def packing(erp: Erp) -> PackingScenario:
    """The warehouse YARD, with master data and without stock."""
    return PackingScenario(erp)
