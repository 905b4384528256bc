from collections.abc import Callable
from typing import Any

import pytest

from tests.gateway import Erp

type Make = Callable[..., dict[str, Any]]


def codes(rows: list[dict[str, Any]]) -> list[str]:
    """Return the codes of positions or warehouses."""
    return [row.get("bin_code", row["whs_code"]) for row in rows]


@pytest.fixture
def create_warehouse(erp: Erp) -> Make:
    """Return a function that creates a warehouse; keywords are its fields."""

    def make(code: str = "CEN", **more: object) -> dict[str, Any]:
        return erp.post("/warehouses", {"whs_code": code, "name": f"Depot {code}", **more}).ok(201)

    return make


@pytest.fixture
def create_position(erp: Erp) -> Make:
    """Return a function that creates a position; keywords are its fields."""

    def make(bin_code: str, whs_code: str = "CEN", **more: object) -> dict[str, Any]:
        body = {"whs_code": whs_code, "bin_code": bin_code, **more}
        return erp.post("/warehouse-positions", body).ok(201)

    return make


@pytest.fixture
def central(erp: Erp, create_warehouse: Make) -> Erp:
    """The ERP of a company with one warehouse, CEN."""
    create_warehouse("CEN")
    return erp
