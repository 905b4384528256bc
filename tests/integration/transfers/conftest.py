import pytest

from tests.gateway import Erp
from tests.stack import prepare_once
from tests.warehouse_scenario import WarehouseScenario


@pytest.fixture
def stocked_yard(erp: Erp) -> WarehouseScenario:
    """The warehouses YARD and SHOP with bricks, cement and drills at A-01 of YARD."""
    prepare_once(
        erp,
        "stocked yard",
        lambda: _stock(WarehouseScenario.with_master_data(erp, "YARD", "SHOP")),
    )
    return WarehouseScenario(erp)


def _stock(yard: WarehouseScenario) -> None:
    yard.stock("BRICK", 10)
    yard.stock("CEMENT", 5, batch="L1", expiry_date="2030-01-31")
    yard.stock_serials("S1", "S2", "S3")
