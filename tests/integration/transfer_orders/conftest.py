from collections.abc import Callable
from typing import Any

import pytest

from tests.gateway import Erp
from tests.people import add_user, tenant_of
from tests.stack import prepare_once
from tests.transfer_scenario import TransferScenario


@pytest.fixture
def three_warehouses(erp: Erp) -> Erp:
    """A central warehouse, one in Dublin, one in Cork, and four products."""
    prepare_once(erp, "three warehouses", lambda: _furnish(erp))
    return erp


def _furnish(erp: Erp) -> None:
    for code, name in {"CEN": "Central", "DUB": "Dublin", "CORK": "Cork"}.items():
        assert erp.post("/warehouses", {"whs_code": code, "name": name}).status == 201
    for item_code, more in {
        "BRICK": {},
        "CEMENT": {"man_btch_num": True},
        "DRILL": {"man_ser_num": True},
        "HAULAGE": {"inventory_item": False},
    }.items():
        answer = erp.post("/products", {"item_code": item_code, "name": item_code.title(), **more})
        assert answer.status == 201, answer.text
    add_user(tenant=tenant_of(erp))


@pytest.fixture
def order() -> Callable[..., dict[str, Any]]:
    """Return a function that makes the body of a transfer order; keywords replace fields."""

    def write(reference: str | None = "MOVE-1", **more: Any) -> dict[str, Any]:
        return {
            "external_ref": reference,
            "from_warehouse": "CEN",
            "to_warehouse": "DUB",
            "lines": [{"item_code": "BRICK", "qty": 100}],
            **more,
        }

    return write


@pytest.fixture
def transfer_scenario(erp: Erp) -> TransferScenario:
    """The warehouses YARD and SHOP, with master data and without stock."""
    return TransferScenario(erp)
