from collections.abc import Callable
from typing import Any

import pytest

from tests.gateway import Erp
from tests.stack import prepare_once


@pytest.fixture
def yard(erp: Erp) -> Erp:
    """A builders' yard with two warehouses, four positions and five products."""
    prepare_once(erp, "builders' yard", lambda: _furnish(erp))
    return erp


def _furnish(erp: Erp) -> None:
    erp.post("/warehouses", {"whs_code": "YARD", "name": "Yard"})
    erp.post("/warehouses", {"whs_code": "SHOP", "name": "Shop"})
    for bin_code, more in {
        "A-01": {},
        "A-02": {"is_blocked": True},
        "A-03": {"disabled": True},
    }.items():
        answer = erp.post(
            "/warehouse-positions", {"whs_code": "YARD", "bin_code": bin_code, **more}
        )
        assert answer.status == 201, answer.text
    erp.post("/warehouse-positions", {"whs_code": "SHOP", "bin_code": "S-01"})
    for item_code, more in {
        "BRICK": {},
        "CEMENT": {"man_btch_num": True},
        "DRILL": {"man_ser_num": True},
        "HAULAGE": {"inventory_item": False},
        "SAND": {},
    }.items():
        answer = erp.post("/products", {"item_code": item_code, "name": item_code.title(), **more})
        assert answer.status == 201, answer.text


@pytest.fixture
def document_body() -> Callable[..., dict[str, Any]]:
    """Return a function that returns the body of an entry document; keywords replace fields."""

    def write(reference: str = "PO-1", **more: Any) -> dict[str, Any]:
        return {
            "external_ref": reference,
            "type": "purchase_order",
            "doc_date": "2026-03-01",
            "partner_code": "V-1",
            "warehouse_code": "YARD",
            "lines": [{"item_code": "BRICK", "qty": 100}],
            **more,
        }

    return write
