import pytest

from tests.gateway import Erp
from tests.replenishment_scenario import ReplenishmentScenario


@pytest.fixture
def replenishment(erp: Erp) -> ReplenishmentScenario:
    return ReplenishmentScenario.with_pick_faces(erp)
