"""Fixtures of stock: two warehouses with positions and products, and stock adjustments."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.gateway import Erp
from tests.stack import prepare_once
from tests.warehouse_scenario import PRODUCTS


@pytest.fixture
def yard_erp(erp: Erp) -> Erp:
    """An ERP whose tenant has the warehouses YARD and SHOP with three positions each."""
    prepare_once(erp, "stock fixtures", lambda: _create_master_data(erp))
    return erp


def _create_master_data(erp: Erp) -> None:
    for code in ("YARD", "SHOP"):
        assert erp.post("/warehouses", {"whs_code": code, "name": code.title()}).status == 201
        for bin_code in ("A-01", "A-02", "B-01"):
            body = {"whs_code": code, "bin_code": bin_code, "type": "storage"}
            assert erp.post("/warehouse-positions", body).status == 201
    for product in PRODUCTS:
        assert erp.post("/products", product).status == 201


@pytest.fixture
def adjust(yard_erp: Erp) -> Callable[..., Any]:
    """Return a function that adjusts stock, by default of BRICK at A-01 in YARD."""

    def adjusted(**changes: object) -> Any:
        body = {
            "item_code": "BRICK", "warehouse": "YARD", "bin_code": "A-01", "reason": "Counted",
        }  # fmt: skip
        return yard_erp.post("/stock-adjustments", body | changes)

    return adjusted
